"""``assent warm`` does its jobs in other processes and says what it took."""

from click.testing import CliRunner

from assent.cli import main
from assent.warm_up import jobs
from assent.warm_up.jobs import SOLVERS, all_jobs, do
from assent.warm_up.small_models import MODELS


def test_kernels_are_compiled_by_other_processes(monkeypatch):
    monkeypatch.setattr(jobs, "all_jobs", lambda: ["examples assent.trace", "solver Nobody"])
    run = CliRunner().invoke(main, ["warm"])
    assert run.exit_code == 0
    assert "Kernels are ready after" in run.output
    assert "not done: solver Nobody: AttributeError" in run.output
    quiet = CliRunner().invoke(main, ["warm", "--quiet"])
    assert (
        quiet.output == "not done: solver Nobody: AttributeError: " + quiet.output.split(": ", 3)[3]
    )


def test_every_kind_and_solver_is_gone_through():
    from assent.cli.solvers import SOLVERS as known
    from assent.factors import KINDS

    assert set(SOLVERS) == set(known.values())
    written = {type(h.factor).__name__ for model in MODELS for h in model().handles}
    hidden = {"Exactly", "Soft", "SoftCount"}  # what they stand for is written
    assert {kind.__name__ for kind in KINDS} - written <= hidden
    assert {f"questions {model.__name__}" for model in MODELS} < set(all_jobs())


def test_a_job_tells_what_went_wrong():
    assert do("example nowhere.py").trouble.startswith("FileNotFoundError")
