"""Many answers from a JSON Lines file, a report for each, and what they add up to; killed, it goes on where it was.

    python examples/batch/batch.py examples/evaluation/responses.jsonl reports              # offline engine
    MODEL=openai:gpt-4o-mini python examples/batch/batch.py answers.jsonl reports           # judged by a model

`factloop eval FILE --run-dir reports` is the same as a command; this is for programs that want each report as it comes.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from factloop import FactChecker
from factloop.evaluation.datasets.responses import load_responses
from factloop.evaluation.running.run import NewRecord
from factloop.evaluation.runs.items import response_items
from factloop.evaluation.runs.records import RunSummary
from factloop.evaluation.runs.run import astream_run

SOURCES = Path(__file__).parents[1] / "lighthouse" / "sources"


async def main(answers: str, reports: str) -> None:
    items = response_items(load_responses(answers))
    async with FactChecker(os.environ.get("MODEL"), docs=SOURCES) as checker:
        async for event in astream_run(checker, items, data=Path(answers).name, run_dir=reports):
            if isinstance(event, NewRecord):
                counts = event.record.report.counts
                print(f"{event.record.id}: {counts.supported} of {counts.scored} supported, {counts.unscored} unscored")  # noqa: T201
            elif isinstance(event, RunSummary):
                for system in event.scores.systems:
                    print(f"{system.system}: precision {system.precision.value:.2f}, n = {system.precision.n}")  # noqa: T201


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:3]))
