"""The same run over processes or machines, with Ray: `pip install 'factloop[ray]'`.

    python examples/ray/spread.py examples/evaluation/responses.jsonl reports            # two workers on this machine
    RAY_ADDRESS=HOST:6379 python examples/ray/spread.py answers.jsonl reports            # on your cluster

`factloop eval FILE --workers 2` is the same as a command. One process keeps hundreds of model calls in
flight: Ray pays where the work between the calls keeps a core busy, or one machine is full.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path

from factloop import CheckSettings, FactChecker
from factloop.evaluation.datasets.responses import load_responses
from factloop.evaluation.runs.items import RunItem, response_items
from factloop.evaluation.runs.records import JudgedResponse
from factloop.evaluation.runs.run import arun, judge_on_ray

SOURCES = Path(__file__).parents[1] / "lighthouse" / "sources"


async def main(answers: str, reports: str) -> None:
    items = response_items(load_responses(answers))
    settings = CheckSettings(model=os.environ.get("MODEL"), docs=(str(SOURCES),))

    def workers(items: Iterable[RunItem], directory: Path | None) -> AsyncGenerator[JudgedResponse, None]:
        return judge_on_ray(settings, items, directory=directory, workers=2, address=os.environ.get("RAY_ADDRESS"))

    async with FactChecker(settings=settings) as checker:
        summary = await arun(checker, items, data=Path(answers).name, run_dir=reports, engine=workers)
    for system in summary.scores.systems:
        print(f"{system.system}: precision {system.precision.value:.2f}, n = {system.precision.n}")  # noqa: T201


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:3]))
