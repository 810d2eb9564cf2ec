"""Makes distractors for MixedQA's responses offline, without embeddings: `python -m benchmarks.distractors`.

Prints, for each system, how many responses get enough distractors and checks, which sources and levels give them, how
often one says what a reference answer says (the method itself looks at no reference), and how long 1,000 responses take
on one core once the tables are loaded. With a file, 60 questions at random go there with their options, to be judged by
hand: `python -m benchmarks.distractors sample.txt 31`, by seed. Data from the folder in `FACTLOOP_DATA`. Ends with 1
where a target is missed.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

from rich.console import Console

from benchmarks.rows import Row, compared, data_folder, table
from factloop.agents.trustscore.choices import DISTRACTORS_A_CHECK, plan_checks
from factloop.agents.trustscore.distractors.base import SubstituteSource
from factloop.agents.trustscore.distractors.generate import generate_distractors, normalised
from factloop.agents.trustscore.distractors.sources import (
    KnowledgeBaseSource,
    MadeUpSource,
    QuantitySource,
    SameClassSource,
)
from factloop.agents.trustscore.records import DistractorSet, Source, SubstitutionLevel
from factloop.evaluation.datasets.mixedqa import load_mixedqa
from factloop.tools.names.built_in import BuiltInKnowledgeBase

WANTED = 30
"""Three for each of ten checks."""
ENOUGH = (3, 9, 30)
LEAST_SHARE = 0.75
HELD_TO_IT = ("llama-7b", "gpt-3.5-turbo")
MOST_SECONDS = 120.0
SEED = 0


@dataclass(frozen=True)
class ResponseDistractors:
    """Distractors for one response, and the answers that its question has."""

    distractors: DistractorSet
    references: tuple[str, ...]

    @property
    def says_a_reference(self) -> int:
        """How many distractors hold a reference answer where they differ from the response."""
        wanted = {normalised(reference) for reference in self.references}
        return sum(normalised(one.by) in wanted for one in self.distractors.distractors)


def built_in_sources() -> tuple[SubstituteSource, ...]:
    names = KnowledgeBaseSource(BuiltInKnowledgeBase(), Source.BUILT_IN)
    return (names, QuantitySource(), SameClassSource(), MadeUpSource(names))


async def make(path: Path) -> tuple[dict[str, list[ResponseDistractors]], dict[str, float]]:
    """Everything by system, and the wall seconds that each system's responses took."""
    items, sources = list(load_mixedqa(path)), built_in_sources()
    await _distractors("Who was it?", "It was Tom Hanks in Paris in 1983.", sources)  # loads the tables
    made: dict[str, list[ResponseDistractors]] = {}
    seconds: Counter[str] = Counter()
    for item in items:
        for response in item.responses:
            began = perf_counter()
            found = await _distractors(item.question, response.text, sources)
            seconds[response.system] += perf_counter() - began  # type: ignore[assignment]  # a Counter sums floats, too
            made.setdefault(response.system, []).append(ResponseDistractors(found, item.reference_answers))
    return made, dict(seconds)


async def _distractors(question: str, response: str, sources: Sequence[SubstituteSource]) -> DistractorSet:
    return await generate_distractors(question, response, wanted=WANTED, sources=sources, seed=SEED)


def share_rows(system: str, made: Sequence[ResponseDistractors]) -> list[Row]:
    counts = [len(one.distractors.distractors) for one in made]
    rows = []
    for least in ENOUGH:
        share = sum(count >= least for count in counts) / len(counts)
        name = f"responses with {least} or more"
        if least == DISTRACTORS_A_CHECK and system in HELD_TO_IT:
            rows.append(compared(system, name, share, "at least", LEAST_SHARE, "{:.1%}"))
        else:
            rows.append(Row(system, name, "", f"{share:.1%}", None))
    checks = sum(min(count, WANTED) // DISTRACTORS_A_CHECK for count in counts) / len(counts)
    return [*rows, Row(system, "checks a response, of ten", "", f"{checks:.2f}", None)]


def origin_rows(system: str, made: Sequence[ResponseDistractors]) -> list[Row]:
    found = [one for each in made for one in each.distractors.distractors]
    sources, levels = Counter(one.source for one in found), Counter(one.level for one in found)
    rows = [
        Row(system, f"from {source.value.replace('_', ' ')}", "", f"{sources[source] / len(found):.1%}", None)
        for source in Source
        if sources[source]
    ]
    rows.extend(
        Row(system, f"level: {level.value.replace('_', ' ')}", "", f"{levels[level] / len(found):.1%}", None)
        for level in SubstitutionLevel
        if levels[level]
    )
    return rows


def gold_rows(system: str, made: Sequence[ResponseDistractors]) -> list[Row]:
    n_found = sum(len(one.distractors.distractors) for one in made)
    hits = [one.says_a_reference for one in made]
    return [
        Row(system, "distractors that say a reference answer", "", f"{sum(hits) / n_found:.2%}", None),
        Row(system, "responses with such a one", "", f"{sum(map(bool, hits)) / len(made):.1%}", None),
    ]


def write_sample(made: Sequence[ResponseDistractors], path: Path, seed: int) -> None:
    """Sixty questions as they would be asked, the response marked by a star."""
    rng, lines = random.Random(seed), list[str]()
    for one in rng.sample(made, 60):
        found = one.distractors
        checks = plan_checks(found.response, [each.text for each in found.distractors], max_checks=10, rng=rng)
        lines += [f"## {found.question}", f"   {len(checks)} checks"]
        for option in rng.choice(checks)[:-1] if checks else ():
            lines.append(f"   {'*' if option.distractor is None else ' '} {option.text[:200]}")
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")


def main() -> int:
    console = Console()
    path = data_folder() / "mixedqa.jsonl"
    if not path.exists():
        console.print(f"skipped: {path} is absent (set FACTLOOP_DATA)")
        return 0
    cpu = process_time()
    made, seconds = asyncio.run(make(path))
    cpu = process_time() - cpu
    if len(sys.argv) > 2:
        write_sample([one for each in made.values() for one in each], Path(sys.argv[1]), int(sys.argv[2]))
    rows: list[Row] = []
    for system, responses in made.items():
        rows += share_rows(system, responses) + origin_rows(system, responses) + gold_rows(system, responses)
        per_thousand = seconds[system] * 1_000 / len(responses)
        rows.append(compared(system, "seconds for 1,000 responses", per_thousand, "at most", MOST_SECONDS, "{:.1f}"))
    rows.append(Row("all", "responses", "", f"{sum(map(len, made.values())):,}", None))
    rows.append(compared("all", "seconds", sum(seconds.values()), "at most", MOST_SECONDS, "{:.1f}"))
    rows.append(Row("all", "CPU seconds, tables and file included", "", f"{cpu:.1f}", None))
    console.print(table("Distractors for MixedQA, offline, without embeddings", rows))
    return 0 if all(row.is_met is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
