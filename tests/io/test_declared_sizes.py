"""A few bytes that declare large sizes are refused before anything of that size is allocated."""

from __future__ import annotations

import gzip
import lzma
import re
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assent.io import FormatError, declared_sizes, load_models
from assent.io import text as text_files
from tests.io.test_fg import EXAMPLE as FG
from tests.io.test_other_formats import LIBDAI, LOGS, WCSP
from tests.io.test_uai import EXAMPLE as UAI
from tests.logic.test_rules_file import EXAMPLE as RULES

SEVENTY = " ".join(map(str, range(70)))
# Files, and what is said of each.
GREEDY = {
    "uai: variables": ("a.uai", "MARKOV 99999999999999 2 0", "cardinalities .* of 99999999999999"),
    "uai: one variable": ("a.uai", "MARKOV 1 2147483647 0", "line 1: expected up to 1048576"),
    "uai: three": ("a.uai", "MARKOV 3 300000000 300000000 300000000 0", "found '300000000'"),
    "uai: beyond 64 bits": ("a.LG", "MARKOV 1 99999999999999999999 0", "up to 1048576 states"),
    "uai: many": ("a.uai", "MARKOV 3 400000 400000 400000 0", "up to 1048576 states in all"),
    "uai: a table": ("a.uai", "BAYES 2 900000 90000 1 2 0 1 1", "entries of factor 0's table"),
    "wcsp: states": ("a.wcsp", f"a 1 {10**12} 0 9\n{10**12}", "line 2: expected up to 1048576"),
    "wcsp: a table": ("a.wcsp", "a 2 8192 1 9\n8192 8192\n2 0 1 5 0\n", "8192 × 8192 entries"),
    "wcsp: tables": (
        "a.wcsp",
        "a 2 4096 9 9\n4096 4096\n" + "2 0 1 5 0\n" * 9,
        "factor 1 has a table of 4096 × 4096 entries; tables of up to 16777216 entries in all",
    ),
    "wcsp: an axis each": (
        "a.wcsp",
        f"a 70 1 1 9\n{'1 ' * 70}\n70 {SEVENTY} 5 0\n",
        "factor 0 has 70 variables; tables over up to 64 are read",
    ),
    "libdai: states": ("a.fg", "1\n\n1\n5\n2147483647\n0\n", "line 5: expected up to 1048576"),
    "libdai: a table": ("a.fg", "1\n\n2\n0 1\n5000 5000\n0\n", "5000 × 5000 entries"),
    "libdai: an axis each": ("a.fg", f"1\n\n70\n{SEVENTY}\n{'1 ' * 70}\n0\n", "70 variables"),
    "ad3: variables": ("a.fg", "999999999999 1\nXOR 1 1", "of 999999999999 variables"),
    "ad3: a table": ("a.fg", "2 1\n0.0\n0.0\nDENSE 2 1 2 1 2 5", "the 2 scores"),
    "rules: a range": ("a.rules", "domain d = 1..10000000\n", "a domain of 10,000,000 members"),
    "rules: tuples": ("a.rules", "domain d = 1..9999\nunknown p(d, d)\n", "99,980,001 tuples"),
    "rules: in all": (
        "a.rules",
        "domain d = 1..3000\nunknown p(d, d)\nunknown q(d, d)\n",
        "line 3: 9,000,000 tuples are more than limit=10,000,000 .with 9,000,000 declared before",
    ),
    "rules: many axes": (
        "a.rules", f"domain d = 1..100\nunknown p({', '.join(['d'] * 200)})\n", "tuples are more"
    ),
}  # fmt: skip

# With half a gigabyte for numbers, text and whatever it takes to say no.
IN_LITTLE_MEMORY = """
import resource, sys
from assent.io import FormatError, load_models
with open("/proc/self/statm") as file:
    now = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (1 << 29),) * 2)
for path in sys.argv[1:]:
    try:
        load_models(path)
        raise SystemExit(f"{path} was read")
    except FormatError as error:
        assert "memory" not in str(error), error
"""


@pytest.mark.parametrize("name", GREEDY)
def test_what_a_file_cannot_hold_is_refused(tmp_path, name):
    file, content, message = GREEDY[name]
    (tmp_path / file).write_text(content)
    with pytest.raises(FormatError, match=message):
        load_models(tmp_path / file)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory as on Linux")
def test_it_is_refused_in_little_memory(tmp_path):
    paths = []
    for number, (file, content, _) in enumerate(GREEDY.values()):
        (tmp_path / str(number)).mkdir()
        paths.append(tmp_path / str(number) / file)
        paths[-1].write_text(content)
    command = [sys.executable, "-c", IN_LITTLE_MEMORY, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_long_files_may_declare_more(tmp_path, monkeypatch):
    path = tmp_path / "a.uai"
    path.write_text("MARKOV 2 3 4 1 2 0 1 12 " + "1 " * 12)
    monkeypatch.setattr(declared_sizes, "MOST_STATES", 1)
    assert load_models(path)[0].graph.size == 7


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_packed_files_do_not_unpack_without_end(tmp_path, monkeypatch, pack):
    monkeypatch.setattr(text_files, "MOST_UNPACKED", 10**6)
    path = tmp_path / "a.uai"
    path.write_bytes(pack(b"MARKOV 0 0" + b" " * (10**6 - 10)))
    assert load_models(path)[0].graph.size == 0
    path.write_bytes(pack(b"MARKOV 0 0" + b" " * 10**7))
    with pytest.raises(FormatError, match="holds more than 1000000 bytes"):
        load_models(path)


def test_columns_of_data_take_no_more_than_their_values(tmp_path):
    (tmp_path / "long.csv").write_text("name\n" + "x\n" * 5000 + "y" * 100_000 + "\n")
    (tmp_path / "a.rules").write_text("domain d from long\nunknown p(d)\n")
    code = IN_LITTLE_MEMORY.replace('raise SystemExit(f"{path} was read")', "pass")
    command = [sys.executable, "-c", code, str(tmp_path / "a.rules")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_what_no_graph_holds_is_told_with_the_file(tmp_path):
    path = tmp_path / "a.LG"
    path.write_text("MARKOV 1 3 1 1 0 3 1.0 2.0 1e308")
    with pytest.raises(FormatError, match=r"a\.LG.*1e\+308"):
        load_models(path)


EXAMPLES = {
    "a.uai": UAI, "a.LG": LOGS, "a.fg": FG, "b.fg": LIBDAI, "a.wcsp": WCSP, "a.rules": RULES,
}  # fmt: skip
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
NUMBERS = [*map(str, (0, 1, 65, 9999, 10**6, 2**24, 2**31, 2**63, 10**30)), "1" + "0" * 400,
           "-1", "1e308", "1e400", "nan", "-inf", "1.5"]  # fmt: skip


@pytest.mark.parametrize("file", EXAMPLES)
@settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_other_numbers_are_read_or_refused(tmp_path, file, data):
    content = EXAMPLES[file]
    for _ in range(data.draw(st.integers(1, 3))):
        places = [match.span() for match in NUMBER.finditer(content)]
        begin, end = data.draw(st.sampled_from(places))
        content = content[:begin] + data.draw(st.sampled_from(NUMBERS)) + content[end:]
    (tmp_path / file).write_text(content)
    try:
        models = load_models(tmp_path / file)
    except FormatError as error:
        assert file in str(error)
    else:
        assert all(model.graph.size <= 10**7 for model in models)
