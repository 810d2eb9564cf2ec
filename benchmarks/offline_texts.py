"""Prints how a whole offline check does on answers whose facts were judged by hand.

    python -m benchmarks.offline_texts                     # a line a text
    python -m benchmarks.offline_texts --claims            # and every claim, beside the facts that it holds
    python -m benchmarks.offline_texts --only development

The answers, their sources and the labels of their facts lie in `tests/offline_texts`; `development` was looked at while
rules were changed, `unseen` was not. Each fact goes to the claim of its sentence that has most of its words. A claim
that holds several facts is true only if all of them are.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from benchmarks.splitting.matching import joints
from factloop import FactChecker
from factloop.core.records import Claim, Verdict
from factloop.tools.linguistics.words import content_words

FOLDER = Path(__file__).parent.parent / "tests" / "offline_texts"
SETS = ("development", "unseen")
Label = Literal["supported", "contradicted", "not_mentioned"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of an answer with its label by hand."""

    text: str
    start: int
    end: int
    """The sentence it is a fact of, in the answer."""
    label: Label


@dataclass(frozen=True, slots=True)
class HandText:
    """An answer, its sources, and its facts in their order."""

    name: str
    question: str
    answer: str
    sources: Path
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class HeldClaim:
    """A claim of the engine and the facts that it holds; none where they all are closer to other claims."""

    claim: Claim
    facts: tuple[Fact, ...]

    @property
    def is_true(self) -> bool:
        return all(fact.label == "supported" for fact in self.facts)

    @property
    def verdict(self) -> Verdict | None:
        return self.claim.judgement.verdict


@dataclass(frozen=True, slots=True)
class Outcome:
    """A text as the engine judged it."""

    text: HandText
    held: tuple[HeldClaim, ...]
    missed: tuple[Fact, ...]
    """Facts of sentences without a claim."""

    @property
    def scored(self) -> list[HeldClaim]:
        return [one for one in self.held if one.facts and one.verdict is not None]

    @property
    def n_unscored(self) -> int:
        """Claims that hold facts and have no verdict."""
        return sum(bool(one.facts) and one.verdict is None for one in self.held)

    @property
    def n_whole(self) -> int:
        """Under-splitting: joints at which the facts are apart and the claims are not."""
        return sum(are_apart and not is_split for is_split, are_apart in self._joints())

    def _joints(self) -> Iterator[tuple[bool, bool]]:
        facts, claims = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
        for fact in self.text.facts:
            facts[self.text.answer[fact.start : fact.end]].append(fact.text)
        for sentence in facts:
            claims[sentence] = [one.claim.text for one in self.held if one.claim.sentence in sentence]
            yield from ((split, apart) for _, split, apart in joints(sentence, claims[sentence], facts[sentence]))


@dataclass(frozen=True, slots=True)
class Rates:
    """Shares of the scored claims: of the true ones called supported (TPR), of the others not (TNR)."""

    n_true: int
    n_supported_true: int
    n_false: int
    n_supported_false: int

    @property
    def tpr(self) -> float:
        return self.n_supported_true / self.n_true

    @property
    def tnr(self) -> float:
        return 1 - self.n_supported_false / self.n_false


def rates(outcomes: Iterable[Outcome]) -> Rates:
    """Over all texts together."""
    scored = [one for outcome in outcomes for one in outcome.scored]
    true = [one.verdict is Verdict.SUPPORTED for one in scored if one.is_true]
    false = [one.verdict is Verdict.SUPPORTED for one in scored if not one.is_true]
    return Rates(len(true), sum(true), len(false), sum(false))


def read_texts(name: str) -> list[HandText]:
    """The texts of a set, in the order of their names; empty where there is no such set."""
    return [_text(folder) for folder in sorted((FOLDER / name).glob("*/"))]


def _text(folder: Path) -> HandText:
    answer = (folder / "answer.md").read_text(encoding="utf-8")
    facts = []
    for line in (folder / "labels.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        start = answer.index(row["sentence"])
        facts.append(Fact(row["fact"], start, start + len(row["sentence"]), row["label"]))
    question = (folder / "question.txt").read_text(encoding="utf-8").strip()
    return HandText(folder.name, question, answer, folder / "sources", tuple(facts))


def check_text(text: HandText) -> Outcome:
    """The text through the whole offline engine."""
    with tempfile.TemporaryDirectory() as cache:
        report = FactChecker(docs=text.sources, cache_dir=Path(cache)).check(text.answer, text.question)
    return held_facts(text, report.claims)


def held_facts(text: HandText, claims: Sequence[Claim]) -> Outcome:
    """Each fact with the claim of its sentence that has most of its words, the shorter of equals."""
    of_claim: defaultdict[str, list[Fact]] = defaultdict(list)
    missed: list[Fact] = []
    for fact in text.facts:
        near = [claim for claim in claims if claim.span[0] < fact.end and fact.start < claim.span[1]]
        if near:
            of_claim[max(near, key=lambda claim: closeness(fact.text, claim.self_contained)).id].append(fact)
        else:
            missed.append(fact)
    return Outcome(text, tuple(HeldClaim(claim, tuple(of_claim[claim.id])) for claim in claims), tuple(missed))


def closeness(fact: str, claim: str) -> tuple[int, int]:
    """Words of the fact that the claim has; then how few others it has, as a negative number."""
    wanted, has = set(content_words(fact)), set(content_words(claim))
    return len(wanted & has), -len(has - wanted)


def summary(name: str, outcomes: Sequence[Outcome]) -> Table:
    """A row a text, and one for all of them."""
    shown = Table(title=name, title_justify="left")
    for heading in ("text", "facts", "claims", "holding none", "facts missed", "unscored", "left whole", "TPR", "TNR"):
        shown.add_column(heading, justify="left" if heading == "text" else "right")
    for label, some in [*((one.text.name, [one]) for one in outcomes), ("all", outcomes)]:
        found = rates(some)
        shown.add_row(
            label,
            str(sum(len(one.text.facts) for one in some)),
            str(sum(len(one.held) for one in some)),
            str(sum(not held.facts for one in some for held in one.held)),
            str(sum(len(one.missed) for one in some)),
            str(sum(one.n_unscored for one in some)),
            str(sum(one.n_whole for one in some)),
            f"{found.tpr:.2f} ({found.n_supported_true}/{found.n_true})",
            f"{found.tnr:.2f} ({found.n_false - found.n_supported_false}/{found.n_false})",
        )
    return shown


def _print_claims(outcome: Outcome, console: Console) -> None:
    console.print(f"[bold]{outcome.text.name}[/]")
    for one in outcome.held:
        said = one.verdict or f"unscored: {one.claim.judgement.unscored_reason}"
        is_wrong = one.facts and one.verdict is not None and (one.verdict is Verdict.SUPPORTED) != one.is_true
        console.print(f"{'[red]wrong[/] ' if is_wrong else ''}{said}: {escape(one.claim.self_contained)}")
        for fact in one.facts:
            console.print(f"    {fact.label}: {escape(fact.text)}")
    for fact in outcome.missed:
        console.print(f"[red]no claim[/] {escape(fact.text)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--claims", action="store_true", help="print every claim beside the facts that it holds")
    parser.add_argument("--only", choices=SETS, help="one set of texts")
    options = parser.parse_args()
    console = Console()
    for name in SETS if options.only is None else (options.only,):
        outcomes = [check_text(text) for text in read_texts(name)]
        if not outcomes:
            continue
        if options.claims:
            for outcome in outcomes:
                _print_claims(outcome, console)
        console.print(summary(name, outcomes))


if __name__ == "__main__":
    main()
