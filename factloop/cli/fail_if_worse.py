"""`--fail-if-worse` of `factloop experiment` and `factloop compare`: what was demanded, and the exit code."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from factloop.cli.exits import BELOW_THRESHOLD, DONE
from factloop.evaluation.comparing.demands import FLAG
from factloop.evaluation.comparing.records import DemandResult
from factloop.reports.visible import visible


def demands_exit_code(demands: Sequence[DemandResult], messages: Console) -> int:
    """1 where a demand is not met; each of those is said on the console."""
    missed = [one for one in demands if not one.is_met]
    for one in missed:
        messages.print(f"factloop: {visible(one.words)} ({FLAG})", soft_wrap=True)
    return BELOW_THRESHOLD if missed else DONE
