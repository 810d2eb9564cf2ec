"""`python -m benchmarks.disputed`: are claims on which the sources disagree found, and no others? With the simulator.

Of the true facts of some responses, three in ten get another document that gives another value. All documents of ten
responses lie in one set, so that most of them are not shown.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterable

import typer
from langchain_core.documents import Document

from factloop import FactChecker
from factloop.core.records import FactualityReport, Plan, UnscoredReason
from factloop.setup.sources import Sources
from factloop.tools.calls.together import together
from factloop.tools.search.given import GivenDocuments
from tests.simulator import MODEL, Simulator
from tests.simulator.building import build_world
from tests.simulator.grammar import Clause, read_claim
from tests.simulator.world import Response

Place = tuple[str, str, str]
"""Subject, relation and key: what a claim gives a value for."""


def place_of(claim: str) -> tuple[Place, Clause] | None:
    read = read_claim(claim)
    return None if read is None else ((read[0], read[1].relation.noun, read[1].key), read[1])


def disputes(responses: Iterable[Response], share: float, rng: random.Random) -> dict[Place, Document]:
    """A document that gives another value, for this share of the true facts."""
    read = [(fact, found) for one in responses for fact in one.facts if (found := place_of(fact.self_contained))]
    values: defaultdict[str, set[str]] = defaultdict(set)
    for _, (place, clause) in read:
        values[place[1]].add(clause.value)
    made: dict[Place, Document] = {}
    for fact, (place, clause) in read:
        others = sorted(values[place[1]] - {clause.value})
        if fact.is_true and others and place not in made and rng.random() < share:
            subject, source = (
                place[0],
                {"title": f"{place[0]} - Open Almanac", "source": f"https://other.example/{place}"},
            )
            text = f"{subject} {Clause(clause.relation, clause.key, rng.choice(others)).said}."
            made[place] = Document(text, metadata=source)
    return made


def main(
    world: int = 20, seed: int = 3, checked: int = 6, pooled: int = 10, share: float = 0.3, plan: Plan = "grounded"
) -> None:
    """Print the outcomes of claims on which sources disagree, and of the others."""
    responses, rng = build_world(world).twenty_responses, random.Random(seed)
    other_side = disputes(responses[:checked], share, rng)
    documents = [
        Document(one.text, metadata={"title": one.title, "source": one.url})
        for response in responses[:pooled]
        for one in response.passages
    ]
    documents += other_side.values()
    rng.shuffle(documents)

    async def reports(url: str) -> list[FactualityReport]:
        sources = Sources((GivenDocuments(documents),))
        async with FactChecker(model=MODEL, base_url=url, plan=plan, cache=False, concurrency=0) as checker:
            checks = (checker.acheck(one.text, question=one.prompt, sources=sources) for one in responses[:checked])
            return await together(checks)

    with Simulator() as simulator:
        os.environ.update(simulator.environment)
        found = asyncio.run(reports(simulator.base_url))
    outcomes = Counter[tuple[str, str]]()
    for claim in (claim for report in found for claim in report.claims):
        read = place_of(claim.self_contained)
        kind = "disputed" if read and read[0] in other_side else "other"
        outcomes[kind, str(claim.judgement.verdict or claim.judgement.unscored_reason)] += 1
    for kind in ("disputed", "other"):
        own = {outcome: n for (of, outcome), n in sorted(outcomes.items()) if of == kind}
        typer.echo(f"{kind} claims, {sum(own.values())}: {', '.join(f'{n} {outcome}' for outcome, n in own.items())}")
    calls = sum(report.usage.calls for report in found) / sum(len(report.claims) for report in found)
    typer.echo(f"{len(documents)} documents; {calls:.2f} calls a claim")
    raise typer.Exit(1 if outcomes["other", UnscoredReason.DISPUTED] else 0)


if __name__ == "__main__":
    typer.run(main)
