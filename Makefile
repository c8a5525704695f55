# Every target builds what it needs: a virtual environment in .venv with all that pyproject.toml
# declares. Only Python 3.11 (or later) and make have to be there beforehand.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DOCS_STAMP := $(VENV)/.installed-docs

# Tests run in several processes, each with files of its own: kernels are compiled once per file's
# needs.  One more than two cores, as one waits now and then for what another one is compiling.
SEVERAL := --numprocesses 3 --dist loadfile
# Linear algebra in one thread each: on cores that others use too, its threads spend a hundred times
# as long waiting for each other as a small product takes.
unit sweep: export OPENBLAS_NUM_THREADS := 1
unit sweep: export OMP_NUM_THREADS := 1

# Python's byte code is kept, whatever the environment says: tests start many processes.
unexport PYTHONDONTWRITEBYTECODE

# Real data sets are optional. Tests that need one skip, saying so, when this is unset.
DATA := $(abspath ../shared/data)
ifeq ($(origin ASSENT_DATA),undefined)
ifneq ($(wildcard $(DATA)),)
export ASSENT_DATA := $(DATA)
endif
endif

.PHONY: help demo warm wheel test lint types unit docs bench sweep clean

help:
	@echo "make demo   a short tour: decode three problems, save pictures"
	@echo "make warm   compile all kernels now, on all cores"
	@echo "make wheel  a wheel in dist/ that carries compiled kernels"
	@echo "make test   lint, types and the test suite (a seeded sixteenth of the random sweeps)"
	@echo "make lint   style checks only"
	@echo "make docs   guide and API reference as a site, in site/; warnings are errors"
	@echo "make sweep  the long randomized sweeps against the oracles"
	@echo "make bench  problems x solvers, peers side by side"
	@echo "make clean  remove the environment and caches"

# Byte code is made of what is imported, when it is: of all packages it takes a quarter of a minute.
$(STAMP): pyproject.toml
	@echo "preparing $(VENV), once: this takes a minute or two"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile \
		--editable ".[plot,dev]"
	touch $(STAMP)

demo: $(STAMP)
	$(BIN)/python -m assent.demo

warm: $(STAMP)
	$(BIN)/assent warm

wheel: $(STAMP)
	$(BIN)/python build_wheel.py

# Types are checked beside the tests: their checker has use for one core.
test: lint
	$(MAKE) --jobs 2 types unit

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

unit: $(STAMP)
	$(BIN)/python -m pytest $(SEVERAL)

sweep: $(STAMP)
	ASSENT_SWEEP=full $(BIN)/python -m pytest $(SEVERAL)

# Tools for the site are installed when it is first built: tests do without them.
$(DOCS_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[docs]"
	touch $(DOCS_STAMP)

docs: $(DOCS_STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "open site/index.html; for its search box: python3 -m http.server --directory site"

bench: $(STAMP)
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist site src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
