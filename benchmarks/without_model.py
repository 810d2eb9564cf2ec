"""Prints how a whole check without a chat model does, row by row, on texts whose facts were labelled first.

    python -m benchmarks.without_model                     # all rows, some minutes
    python -m benchmarks.without_model --claims unseen     # every claim of a set, beside the facts that it holds

The answers, their sources and the labels of their facts lie in `benchmarks/texts`, written by annotators who had not
seen the engine: `development` was looked at while it was made, `unseen` was not. Each fact goes to the claim of its
sentence that has most of its words. A claim that holds several facts is true only if all of them are.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.markup import escape

from benchmarks.rows import Row, compared, data_folder, table
from factloop import FactChecker
from factloop.core.records import Claim, FactualityReport, UnscoredReason, Verdict
from factloop.tools.judges.baseline import Baseline
from factloop.tools.text.words import content_words

FOLDER = Path(__file__).parent / "texts"
SETS = ("development", "unseen")
N_BIOGRAPHIES = 60
"""Published answers that are checked against themselves."""
Label = Literal["supported", "contradicted", "not_mentioned"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of an answer with its label by hand."""

    text: str
    start: int
    end: int
    """The sentence it is a fact of, in the answer."""
    label: Label
    evidence: str | None
    """The sentence or row of a source that decides; None where none does."""


@dataclass(frozen=True, slots=True)
class LabelledText:
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
    def is_supported(self) -> bool:
        return self.claim.judgement.verdict is Verdict.SUPPORTED

    @property
    def is_contradicted(self) -> bool:
        return self.claim.judgement.contradicted is True

    @property
    def needs_reading(self) -> bool:
        return self.claim.judgement.unscored_reason is UnscoredReason.NEEDS_READING

    def shows_evidence_first(self) -> bool | None:
        """Whether the passage shown first holds the sentence that decides a fact; None where none does."""
        wanted = [_plain(fact.evidence) for fact in self.facts if fact.evidence]
        judgement = self.claim.judgement
        first = next((item for item in self.claim.evidence if item.id in judgement.cited[:1]), None)
        if not wanted:
            return None
        return first is not None and any(_overlap(text, _plain(first.passage)) for text in wanted)


def read_texts(name: str) -> list[LabelledText]:
    """The texts of a set, in the order of their names."""
    return [_text(folder) for folder in sorted((FOLDER / name).glob("*/"))]


def _text(folder: Path) -> LabelledText:
    answer = (folder / "answer.md").read_text(encoding="utf-8")
    facts = []
    for line in (folder / "labels.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        start = answer.index(row["sentence"])
        facts.append(Fact(row["fact"], start, start + len(row["sentence"]), row["label"], row["evidence"]))
    question = (folder / "question.txt").read_text(encoding="utf-8").strip()
    return LabelledText(folder.name, question, answer, folder / "sources", tuple(facts))


def check(answer: str, question: str | None, docs: Path | Sequence[str]) -> FactualityReport:
    """The report of a check without a model; nothing is kept."""
    with tempfile.TemporaryDirectory() as folder:
        where = docs
        if not isinstance(docs, Path):
            where = Path(folder, "docs")
            where.mkdir()
            for number, text in enumerate(docs):
                Path(where, f"{number}.txt").write_text(text, encoding="utf-8")
        return FactChecker(docs=where, cache=False).check(answer, question)


def held_facts(text: LabelledText, claims: Sequence[Claim]) -> list[HeldClaim]:
    """Each fact with the claim of its sentence that has most of its words, the shorter of equals."""
    of_claim: defaultdict[str, list[Fact]] = defaultdict(list)
    for fact in text.facts:
        near = [claim for claim in claims if claim.span[0] < fact.end and fact.start < claim.span[1]]
        if near:
            of_claim[max(near, key=lambda claim: closeness(fact.text, claim.self_contained)).id].append(fact)
    return [HeldClaim(claim, tuple(of_claim[claim.id])) for claim in claims]


def rows_of(name: str, texts: Iterable[LabelledText]) -> Iterator[Row]:
    """The rows on whole answers, over all texts together."""
    held, n_facts, errors, passed = [], 0, 0, 0
    for text in texts:
        of_text = held_facts(text, check(text.answer, text.question, text.sources).claims)
        held += [one for one in of_text if one.facts]
        n_facts += len(text.facts)
        errors += sum(fact.label != "supported" for fact in text.facts)
        passed += sum(fact.label != "supported" for one in of_text if one.is_supported for fact in one.facts)
    supported = [one for one in held if one.is_supported]
    contradicted = [one for one in held if one.is_contradicted]
    shown = [found for one in held if one.needs_reading and (found := one.shows_evidence_first()) is not None]
    right = sum(one.is_true for one in supported)
    n_true = sum(one.is_true for one in held)
    refuted = sum(any(fact.label == "contradicted" for fact in one.facts) for one in contradicted)
    placed = sum(len(one.facts) for one in held)
    yield _share(name, "`supported` is right", right, len(supported), 0.9)
    yield _share(name, "true claims called supported", right, n_true, 0.45)
    yield _share(name, "`contradicted` is right", refuted, len(contradicted), 0.85)
    yield compared(name, f"planted errors that pass, of {errors}", passed / errors, "at most", 3 / 42, "{:.3f}")
    yield _share(name, "the passage that decides stands first where it needs reading", sum(shown), len(shown), 0.85)
    yield Row(name, "facts in a claim", "", f"{placed} of {n_facts}", None)
    reading = sum(one.needs_reading for one in held)
    yield Row(name, "claims that hold facts: need reading", "", f"{reading} of {len(held)}", None)


def swap_rows(name: str) -> Iterator[Row]:
    """Claims that fit their evidence, and the same claims with one word replaced so that they do not."""
    file = FOLDER.parent / "minimal_pairs" / f"swaps_{name}.jsonl"
    pairs = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for truth in ("true", "false"):
        labels = [Baseline().verify(pair[truth], [pair["evidence"]]).label for pair in pairs]
        yield Row(
            f"swaps {name}",
            f"{truth} claims called supported, of {len(pairs)}",
            "",
            str(labels.count("supported")),
            None,
        )


def unrelated_rows() -> Iterator[Row]:
    """Sentences that have nothing to do with the sources, each text's sources in turn."""
    lines = (FOLDER / "unrelated.txt").read_text(encoding="utf-8").splitlines()
    texts = read_texts("unseen")
    judged = [
        claim.judgement.verdict
        for number, text in enumerate(texts)
        for claim in check("\n\n".join(lines[number :: len(texts)]), None, text.sources).claims
    ]
    yield compared("unrelated", f"supported, of {len(lines)}", judged.count(Verdict.SUPPORTED), "at most", 0)


def verbatim_rows(data: Path) -> Iterator[Row]:
    """Published answers, each checked against itself."""
    path = data / "factscore_bio.jsonl"
    if not path.exists():
        yield Row("verbatim", f"skipped: {path} is absent (set FACTLOOP_DATA)", "", "", None)
        return
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    answers = [row["response"] for row in rows if row["annotated"]][:: max(1, len(rows) // N_BIOGRAPHIES)]
    claims = [claim for answer in answers for claim in check(answer, None, [answer]).claims]
    contradicted = sum(claim.judgement.contradicted is True for claim in claims)
    supported = sum(claim.judgement.verdict is Verdict.SUPPORTED for claim in claims)
    yield compared("verbatim", f"contradicted, of {len(claims)}", contradicted, "at most", 0)
    yield Row("verbatim", f"supported, of {len(claims)}", "", str(supported), None)


def speed_rows() -> Iterator[Row]:
    """Claims a second of the whole engine on one core, start-up and indexing included for all texts but the first."""
    texts = read_texts("development")
    check(texts[0].answer, texts[0].question, texts[0].sources)
    start, n_claims = time.process_time(), 0
    for text in texts[1:]:
        n_claims += len(check(text.answer, text.question, text.sources).claims)
    a_second = n_claims / (time.process_time() - start)
    yield compared("speed", "claims a second of CPU", a_second, "at least", 100, "{:.0f}")


def _share(group: str, name: str, part: int, whole: int, least: float) -> Row:
    value = part / whole if whole else None
    return compared(group, f"{name} ({part} of {whole})", value, "at least", least, "{:.2f}")


def _plain(text: str | None) -> str:
    return " ".join(content_words(text or ""))


def _overlap(wanted: str, passage: str) -> bool:
    """Whether a passage holds nearly all content of a sentence: rows of tables are laid out anew."""
    words, held = set(wanted.split()), set(passage.split())
    return bool(words) and len(words & held) >= 0.9 * len(words)


def closeness(fact: str, claim: str) -> tuple[int, int]:
    """Words of the fact that the claim has; then how few others it has, as a negative number."""
    wanted, has = set(content_words(fact)), set(content_words(claim))
    return len(wanted & has), -len(has - wanted)


def _print_claims(text: LabelledText, console: Console) -> None:
    console.print(f"[bold]{text.name}[/]")
    for one in held_facts(text, check(text.answer, text.question, text.sources).claims):
        judgement = one.claim.judgement
        said = "contradicted" if one.is_contradicted else judgement.verdict or judgement.unscored_reason
        wrong = one.facts and ((one.is_supported and not one.is_true) or (one.is_contradicted and one.is_true))
        score = "" if judgement.score is None else f"{judgement.score:.2f} "
        console.print(f"{'[red]wrong[/] ' if wrong else ''}{said} {score}{escape(one.claim.self_contained)}")
        for fact in one.facts:
            console.print(f"    {fact.label}: {escape(fact.text)}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--claims", choices=SETS, help="print every claim of a set beside the facts that it holds")
    options = parser.parse_args(arguments)
    console = Console()
    if options.claims:
        for text in read_texts(options.claims):
            _print_claims(text, console)
        return 0
    rows = [row for name in SETS for row in rows_of(name, read_texts(name))]
    rows += [row for name in SETS for row in swap_rows(name)]
    rows += [*unrelated_rows(), *verbatim_rows(data_folder()), *speed_rows()]
    console.print(table("Without a chat model", rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
