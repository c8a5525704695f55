"""Chapter: a timetable under rules, its certificate, and an infeasible wish."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import assent as at
from assent.demo import pictures
from assent.model.variables import Categorical

DAYS = ("Mon", "Tue", "Wed")
HOURS = ("9", "11", "14")
SLOTS = tuple(f"{day} {hour}" for day in DAYS for hour in HOURS)
ROOMS = 2
PATIENCE = 30.0  # seconds, which are not needed
# lesson: (teacher, class, the hour it likes best)
LESSONS = {
    "algebra": ("Ada", "red", "9"),
    "geometry": ("Ada", "blue", "9"),
    "logic": ("Ada", "red", "11"),
    "statistics": ("Ada", "blue", "11"),
    "poetry": ("Ben", "red", "14"),
    "drama": ("Ben", "blue", "14"),
    "history": ("Ben", "red", "11"),
    "chemistry": ("Cleo", "blue", "9"),
    "physics": ("Cleo", "red", "9"),
    "botany": ("Cleo", "blue", "14"),
}
NAMES = tuple(LESSONS)


def wishes(seed: int = 3) -> np.ndarray:
    """Scores ``[lesson, slot]``: a lesson's favourite hour, and small tastes of its own."""
    liked = [[float(slot.endswith(f" {hour}")) for slot in SLOTS] for *_, hour in LESSONS.values()]
    tastes = np.random.default_rng(seed).integers(0, 5, (len(LESSONS), len(SLOTS)))
    return 2.0 * np.array(liked) + 0.2 * tastes


def model() -> tuple[at.FactorGraph, Categorical]:
    """The school's rules; every lesson takes one slot."""
    graph = at.FactorGraph()
    slot = graph.categorical(len(LESSONS), states=SLOTS, scores=wishes(), name="slot")
    graph.add(at.AtMost(ROOMS, slot.indicators, axis=0), name=f"{ROOMS} rooms")
    for who in ("Ada", "Ben", "Cleo", "red", "blue"):
        own = [i for i, lesson in enumerate(LESSONS.values()) if who in lesson]
        graph.add(at.AtMostOne(slot[own].indicators, axis=0), name=f"{who} is in one place")
    lab, theory = slot[NAMES.index("chemistry")], slot[NAMES.index("physics")]
    for day in DAYS:
        same_day = [lab == f"{day} {hour}" for hour in HOURS]
        theory_then = [theory == f"{day} {hour}" for hour in HOURS]
        graph.add(at.AtMostOne([*same_day, *theory_then]), name=f"one lab on {day}")
    graph.fix(slot[NAMES.index("poetry")], "Wed 14")
    return graph, slot


def ask_too_much(graph: at.FactorGraph, slot: Categorical) -> None:
    """Ada, who has four lessons, wishes for at most one on each of three days."""
    ada = [i for i, (teacher, *_) in enumerate(LESSONS.values()) if teacher == "Ada"]
    for d, day in enumerate(DAYS):
        of_day = slot[ada].indicators[:, d * len(HOURS) : (d + 1) * len(HOURS)]
        graph.add(at.AtMostOne(of_day.ravel()), name=f"Ada's wish for {day}")


def cells(labels: np.ndarray) -> list[list[str]]:
    """Lessons by hour and day, ``[hour][day]``, as ``name (teacher)``."""
    found: dict[str, list[str]] = {slot: [] for slot in SLOTS}
    for name, label in zip(NAMES, labels, strict=True):
        found[str(label)].append(f"{name} ({LESSONS[name][0]})")
    return [["\n".join(found[f"{day} {hour}"]) for day in DAYS] for hour in HOURS]


def certificate_table(result: at.Result) -> Table:
    """The claims of a certificate and their meaning."""
    proof = result.certificate
    table = Table(title="Certificate", title_style="bold", box=None, header_style="dim")
    table.add_column("claim")
    table.add_column("", justify="right", style="green")
    table.add_column("meaning", style="dim")
    table.add_row("value", f"{proof.value:.4f}", "total score of this timetable")
    table.add_row("bound", f"{proof.bound:.4f}", "no timetable that obeys the rules scores more")
    table.add_row("relative gap", f"{proof.relative_gap:.0e}", "so this is how far it can be off")
    table.add_row("feasible", str(proof.feasible), "every rule and all evidence hold")
    table.add_row("verify()", str(proof.verify()), "recomputed from the rules, without the solver")
    return table


def conflict_names(result: at.Result) -> list[str]:
    """Names of the rules in a conflict, each once; the implied ones said in words."""
    # At a first run, without compiled kernels, finding few of them takes longer than usual.
    claim = replace(result.certificate, naming_seconds=PATIENCE)
    names = [rule.split(":", 1)[0] for rule in claim.conflict]
    words = ["every lesson gets a slot" if n.startswith("one state of") else n for n in names]
    return list(dict.fromkeys(words))


def tell(console: Console, number: int, folder: Path) -> list[Path]:
    """Show the chapter; returns the pictures saved."""
    console.rule(f"[bold]{number}. A timetable under rules[/]", align="left")
    graph, slot = model()
    result = at.decode(graph)
    console.print(
        f"{len(LESSONS)} lessons, {len(SLOTS)} slots, {ROOMS} rooms; nobody is in two places at "
        "once; poetry is settled for Wednesday at two."
    )
    week = cells(result.labels[slot])
    table = Table(header_style="bold")
    for heading in ("", *DAYS):
        table.add_column(heading)
    for hour, row in zip(HOURS, week, strict=True):
        table.add_row(f"[bold]{hour}[/]", *row, end_section=True)
    console.print(table)
    console.print(certificate_table(result))
    graph, slot = model()
    ask_too_much(graph, slot)
    refused = at.decode(graph)
    console.print(
        "\nNow Ada, who has four lessons, wishes for at most one on each of the three days: "
        f"[bold red]{refused.status.name}[/]. The proof names what clashes:"
    )
    for name in conflict_names(refused):
        console.print(f"  [red]•[/] {name}")
    return pictures.save_timetable(week, DAYS, HOURS, folder / "timetable.png")
