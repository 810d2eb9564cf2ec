"""`python -m benchmarks.whole_answers MODEL`: answers that others wrote, checked by the passages they cite.

Answers of ExpertQA's systems, with the passages that came with all their sentences as the documents. Experts said of
each sentence whether its passages support all of it. A sentence counts as supported here where all of its claims are.
Where a sentence that experts call supported is not, either none of its own passages was shown with it (a failure to
retrieve), or one was (a failure to judge, or a label too kind). Costs some calls an answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Annotated, Any

import typer
from langchain_core.documents import Document
from rich.console import Console
from rich.table import Table

from factloop import FactChecker
from factloop.core.records import FactualityReport, Verdict
from factloop.setup.sources import Sources
from factloop.tools.calls.together import together
from factloop.tools.search.given import GivenDocuments

Row = dict[str, Any]

FEWEST, MOST = 5, 14
"""Sentences of the answers that are drawn from."""
SUPPORTED, NOT = "Complete", ("Incomplete", "Missing", "Partial")


def answers(folder: Path, number: int, seed: int) -> list[list[Row]]:
    """The rows of each answer drawn: one a sentence, each with a label and at least one passage."""
    of_answer: defaultdict[str, list[Row]] = defaultdict(list)
    with (folder / "expertqa_dev_claims.jsonl").open(encoding="utf-8") as file:
        for row in map(json.loads, file):
            of_answer[row["answer_id"]].append(row)
    fit = [rows for rows in of_answer.values() if FEWEST <= len(rows) <= MOST and all(map(_is_fit, rows))]
    return random.Random(seed).sample(sorted(fit, key=lambda rows: str(rows[0]["answer_id"])), number)


def _is_fit(row: Row) -> bool:
    return row["support"] in (SUPPORTED, *NOT) and bool(_passages(row))


def _passages(row: Row) -> list[str]:
    return [one["passage"] for one in row["evidence"] if one["passage"]]


async def checked(
    rows: list[Row], model: str, tape: Path, **settings: Any
) -> tuple[FactualityReport, list[bool | None]]:
    """The report of an answer, and whether all claims of each sentence are supported; None without a verdict."""
    texts, spans, reached = [str(row["claim"]).strip() for row in rows], [], 0
    for text in texts:
        spans.append((reached, reached + len(text)))
        reached += len(text) + 1
    cited = {one["passage"]: one["url"] or "" for row in rows for one in row["evidence"] if one["passage"]}
    documents = [Document(passage, metadata={"source": url}) for passage, url in cited.items()]
    sources = Sources((GivenDocuments(documents),))
    async with FactChecker(model=model, cache=False, recording=tape, recording_mode="record", **settings) as checker:
        report = await checker.acheck(" ".join(texts), question=str(rows[0]["question"]), sources=sources)
    found: list[bool | None] = []
    for start, end in spans:
        own = [claim.judgement.verdict for claim in report.claims if start <= claim.span[0] < end]
        scored = [verdict for verdict in own if verdict is not None]
        found.append(all(verdict is Verdict.SUPPORTED for verdict in scored) if scored else None)
    return report, found


def main(
    model: str,
    base_url: str | None = None,
    plan: str = "grounded",
    number: Annotated[int, typer.Option(help="Answers.")] = 25,
    seed: int = 0,
    timeout_s: float = 60.0,
) -> None:
    """Check the answers, all at once, and hold the verdicts against the labels."""
    drawn = answers(Path(os.environ.get("FACTLOOP_DATA", "../shared/data")), number, seed)
    with tempfile.TemporaryDirectory() as kept:
        tapes = [Path(kept) / f"{place}.jsonl" for place in range(number)]

        async def all_checked() -> Any:
            settings: dict[str, Any] = {"base_url": base_url, "plan": plan, "timeout_s": timeout_s}
            return await together(checked(*one, **settings) for one in zip(drawn, [model] * number, tapes, strict=True))

        done = asyncio.run(all_checked())
        requests = [" ".join(tape.read_text(encoding="utf-8").split()) for tape in tapes]
    outcomes, missed, use = Counter[tuple[str, bool | None]](), Counter[str](), Counter[str]()
    for rows, (report, found), asked in zip(drawn, done, requests, strict=True):
        use.update(calls=report.usage.calls, prompt=report.usage.prompt_tokens, reply=report.usage.completion_tokens)
        use["claims"] += len(report.claims)
        for row, is_supported in zip(rows, found, strict=True):
            outcomes["supported" if row["support"] == SUPPORTED else "not supported", is_supported] += 1
            if row["support"] == SUPPORTED and is_supported is False:
                shown = any(" ".join(json.dumps(one)[1:81].split()) in asked for one in _passages(row))
                missed["shown" if shown else "not shown"] += 1
    table = Table("experts say", "all claims supported", "some not", "no verdict")
    for label in ("supported", "not supported"):
        table.add_row(label, *(str(outcomes[label, said]) for said in (True, False, None)))
    console = Console()
    console.print(table)
    console.print(f"true ones missed: {missed['shown']} by a passage shown, {missed['not shown']} by none shown")
    n = max(1, use["claims"])
    console.print(
        f"{n} claims: {use['calls'] / n:.2f} calls, {use['prompt'] / n:.0f} + {use['reply'] / n:.0f} tokens a claim"
    )


if __name__ == "__main__":
    typer.run(main)
