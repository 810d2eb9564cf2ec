"""`python -m benchmarks.retrieval`: does a search for a claim find a sentence that decides it? WiCE's development set.

All articles lie in one folder, each under its title. A claim counts where one of the sentences by which people judged
it is among the first passages.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import typer

from benchmarks.evidence import RESULTS, wice_article
from factloop.agents.safe.passages import MOST_PASSAGES
from factloop.tools.search.given import GivenDocuments
from factloop.tools.text.queries import search_query

SHORTEST = 25
"""Characters: a shorter line is no sentence, but a heading or a remnant."""


async def found_among(rows: list[dict[str, Any]], most: int) -> list[int | None]:
    """For each claim, the rank of the first passage that has a deciding sentence, from 1."""
    articles = dict.fromkeys(tuple(row["evidence"]) for row in rows)
    documents = GivenDocuments([wice_article(lines) for lines in articles])
    ranks: list[int | None] = []
    for row in rows:
        lines = {" ".join(row["evidence"][place].split()) for group in row["supporting_sentences"] for place in group}
        sentences = [line for line in lines if len(line) >= SHORTEST and not line.startswith("(meta")]
        if not sentences:
            continue
        hits = await documents.asearch(search_query(row["claim"]), most)
        texts = [" ".join(hit.passage.split()) for hit in hits]
        has_one = (rank for rank, text in enumerate(texts, 1) if any(line[:60] in text for line in sentences))
        ranks.append(next(has_one, None))
    return ranks


def main() -> None:
    """Print the share of the claims whose deciding sentence is found."""
    data = Path(os.environ.get("FACTLOOP_DATA", "../shared/data")) / "wice_dev.jsonl"
    rows = [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines()]
    ranks = asyncio.run(found_among(rows, MOST_PASSAGES))
    for most in (1, RESULTS, 2 * RESULTS, MOST_PASSAGES):
        n = sum(rank is not None and rank <= most for rank in ranks)
        typer.echo(f"among the first {most}: {n} of {len(ranks)}, {n / len(ranks):.3f}")


if __name__ == "__main__":
    typer.run(main)
