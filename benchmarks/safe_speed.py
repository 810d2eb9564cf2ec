"""`python -m benchmarks.safe_speed`: what `factloop check` costs against the simulator, and how it bears faults.

The simulator runs in a process of its own on the same machine: 300 ms a model call and 10 ms for each completion token,
100 ms a search, 15 % of the queries lose their top three hits. Ends with 1 where a target is missed.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from benchmarks.rows import Row, table
from benchmarks.safe_faults import fault_rows, hang_rows, limit_rows, outage_rows
from benchmarks.safe_plans import plan_rows
from benchmarks.safe_resume import resume_rows
from benchmarks.safe_runs import Plan
from benchmarks.startup import startup_rows
from tests.simulator import RunningSimulator, spawn
from tests.simulator.client import WORLD_SEED

PLANS: tuple[Plan, ...] = ("safe", "paper", "fused", "grounded")


class Section(StrEnum):
    """Groups of rows that can be asked for alone."""

    COST = "cost"
    FAULTS = "faults"
    LIMIT = "limit"
    HANG = "hang"
    OUTAGE = "outage"
    RESUME = "resume"
    STARTUP = "startup"


def main(
    only: Annotated[list[Section] | None, typer.Option(help="Sections to measure; all by default.")] = None,
    plan: Annotated[list[str] | None, typer.Option(help="safe, paper, fused, grounded; all by default.")] = None,
    seed: Annotated[int, typer.Option(help="Of the moments at which runs are killed.")] = 0,
    world: Annotated[list[int] | None, typer.Option(help="Seeds of the worlds that are told of.")] = None,
) -> None:
    """Measure factloop against the simulator and print targets beside measurements."""
    plans = [name for name in PLANS if name in (plan or PLANS)]
    if not plans:
        raise typer.BadParameter("safe, paper, fused or grounded", param_hint="--plan")
    console = Console()
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    rows: list[Row] = []
    with Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=1) as progress:
        task = progress.add_task("")
        for world_seed in world or [WORLD_SEED]:
            with spawn(world_seed=world_seed) as simulator:
                for section in only or list(Section):
                    for row in _rows(section, simulator, plans, seed):
                        rows.append(row)
                        progress.update(task, description=f"{section}: {row.group}, {row.name}: {row.measured}")
    console.print(table("factloop against the simulator", rows))
    n_missed = sum(row.is_met is False for row in rows)
    console.print(f"{n_missed} of {sum(row.is_met is not None for row in rows)} targets missed")
    raise typer.Exit(1 if n_missed else 0)


def _rows(section: Section, simulator: RunningSimulator, plans: list[Plan], seed: int) -> Iterator[Row]:
    if section is Section.STARTUP:
        yield from startup_rows()
        return
    for plan in plans:
        if plan == "safe" and section is not Section.COST:
            continue
        match section:
            case Section.COST:
                yield from plan_rows(simulator, plan)
            case Section.FAULTS:
                yield from fault_rows(simulator, plan)
            case Section.LIMIT:
                yield from limit_rows(simulator, plan)
            case Section.HANG:
                yield from hang_rows(simulator, plan)
            case Section.OUTAGE if plan != "grounded":  # which has nothing to search here
                yield from outage_rows(simulator, plan)
            case Section.RESUME if plan != "grounded":
                yield from resume_rows(simulator, plan, seed)


if __name__ == "__main__":
    typer.run(main)
