"""Checkpoints: a trainer's state and its record, as arrays and JSON in one file.

Nothing is pickled.
"""

from __future__ import annotations

import json
import re
from dataclasses import astuple, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from assent.errors import ModelError
from assent.io.array_files import open_arrays
from assent.io.whole_file import whole_file
from assent.kernels.problem import Float
from assent.learn.training_trace import LearningTrace, Record, Step

VERSION = 4
# The record's arrays; no state has fields of these names.
TRACE, BEST = "record_trace", "record_best"


def write_checkpoint(path: str | Path, trainer: Any, state: Any, record: Record) -> None:
    """Write a state and a record so that :func:`read_checkpoint` gives them back exactly.

    The file is replaced in one step: a crash while writing leaves the one before.
    """
    arrays: dict[str, Float] = {}
    plain: dict[str, Any] = {}
    for field in fields(state):
        _put(field.name, getattr(state, field.name), arrays, plain)
    about = {"version": VERSION, "trainer": repr(trainer), "state": plain,
             "score": record.score, "waited": record.waited}  # fmt: skip
    arrays[TRACE] = np.array([astuple(step) for step in record.trace.steps], np.float64)
    if record.best is not None:
        arrays[BEST] = record.best
    with whole_file(path) as file:
        np.savez(file, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]


def _put(name: str, value: Any, arrays: dict[str, Any], plain: dict[str, Any]) -> None:
    if isinstance(value, np.ndarray):
        arrays[name] = value
    elif isinstance(value, np.random.Generator):
        plain[name] = value.bit_generator.state
    elif isinstance(value, list):
        # Arrays of any shapes, concatenated: one entry of the file for the whole list.
        plain[name] = [np.shape(item) for item in value]
        arrays[name] = np.concatenate([np.ravel(item) for item in value] or [np.zeros(0)])
    else:
        plain[name] = value


def read_checkpoint(path: str | Path, trainer: Any, fresh: Any) -> tuple[Any, Record]:
    """State and record in a file; ``fresh`` is the state at the start, of the same shape."""
    with open_arrays(path, "a checkpoint") as file:
        if "about" not in file:
            raise ModelError(f"{path} is no checkpoint")
        about = json.loads(str(file["about"]))
        if about["version"] != VERSION:
            raise ModelError(
                f"{path} is a checkpoint of version {about['version']}, this is {VERSION}"
            )
        if _course(about["trainer"]) != _course(repr(trainer)):
            raise ModelError(f"{path} was written by {about['trainer']}, not by {trainer!r}")
        changes = {
            field.name: _take(field.name, getattr(fresh, field.name), file, about["state"])
            for field in fields(fresh)
        }
        for name, now in changes.items():
            before = getattr(fresh, name)
            if type(before) is not type(now) or _dtype(before) != _dtype(now):
                raise ModelError(f"{path} is damaged: {name} is no {type(before).__name__}")
            same = len(before) == len(now) if isinstance(before, list) else (
                np.shape(before) == np.shape(now))  # fmt: skip
            if not same:
                raise ModelError(f"{path} belongs to other data: {name} has another shape")
        return replace(fresh, **changes), _take_record(file, about)


def _course(settings: str) -> str:
    """A trainer's settings in words, but for those that only say when to end."""
    return re.sub(r"\b(max_iterations|gap_tolerance|tolerance)=[^,()]*", "", settings)


def _dtype(value: Any) -> Any:
    return value.dtype if isinstance(value, np.ndarray) else None


def _take_record(file: Any, about: dict[str, Any]) -> Record:
    names = [field.name for field in fields(Step)]
    steps = []
    for row in file[TRACE].tolist():
        numbers: dict[str, Any] = dict(zip(names, row, strict=True))
        counts = {name: int(numbers[name]) for name in ("iteration", "calls")}
        steps.append(Step(**(numbers | counts)))
    best = file.get(BEST)
    return Record(LearningTrace(steps), best, about["score"], about["waited"])


def _take(name: str, fresh: Any, file: Any, plain: dict[str, Any]) -> Any:
    if isinstance(fresh, np.ndarray):
        return file[name]
    if isinstance(fresh, np.random.Generator):
        generator = np.random.default_rng()
        generator.bit_generator.state = plain[name]
        return generator
    if isinstance(fresh, list):
        shapes = [tuple(shape) for shape in plain[name]]
        ends = np.cumsum([int(np.prod(shape, dtype=np.int64)) for shape in shapes])
        parts = np.split(file[name], ends)[:-1]
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
    return plain[name]
