"""Published splits and splits made worse: how often each is refused, and whether measures tell them apart.

    python -m benchmarks.faithful_splits                          # by the packaged baseline
    python -m benchmarks.faithful_splits --judge nli:FOLDER       # by another judge on this machine

The splits are FActScore's (by people and by InstructGPT) and Factcheck-GPT's. A sentence that holds a figure, a name, a
denial or a hedge is taken once for each, with this one altered in all of its facts. For the measures one thing is done
to a sentence's facts that one of them should notice. Last, answers of FActScore are padded with facts that say nothing
new, all labelled supported: what that adds to precision and F1@32, with every claim counted and with a core.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.splitting.gold import Sentence, factcheckgpt, factscore, read_rows
from factloop.agents.safe.faithful import Wording, complaint
from factloop.checking.core_claims import mark_core
from factloop.core.factuality import score_claims
from factloop.core.records import Claim, Judgement
from factloop.evaluation.experiments.splitting import Split, SplitQuality, split_quality
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.base import Verifier
from factloop.tools.judges.baseline import Baseline
from factloop.tools.judges.build import build_judge, parse_spec
from factloop.tools.text.pieces import subject_of
from factloop.tools.text.pipeline import load_pipeline, parse

DATA = Path(os.environ.get("FACTLOOP_DATA", "../shared/data"))
Facts = tuple[str, list[str], str]
"""A sentence, its facts, and the answer with its question."""

ALTERED: Mapping[str, tuple[re.Pattern[str], Callable[[str], str]]] = {
    "a figure": (re.compile(r"\b\d{2,}\b"), lambda figure: str(int(figure) + 7)),
    "a name": (re.compile(r"(?<=[a-z] )[A-Z][a-z]{3,}\b"), lambda _: "Quorzel"),
    "a denial": (re.compile(r" (?:not|never)\b"), lambda _: ""),
    "a hedge": (re.compile(r" (?:may|might|perhaps|possibly|probably|reportedly|allegedly)\b"), lambda _: ""),
}


def published() -> Iterator[tuple[str, list[Facts]]]:
    answers = [json.loads(line) for line in (DATA / "factscore_bio.jsonl").open(encoding="utf-8")]
    for name, field in (("FActScore, people", "atomic_facts"), ("FActScore, InstructGPT", "model_atomic_facts")):
        yield (
            name,
            [
                (one["text"], [_text(fact) for fact in one[field]], f"{answer['prompt']}\n{answer['response']}")
                for answer in answers
                for one in answer["sentences"] or ()
                if one.get(field)
            ],
        )
    rows = [json.loads(line) for line in (DATA / "factcheckgpt_dev_decomposition.jsonl").open(encoding="utf-8")]
    texts: defaultdict[str, str] = defaultdict(str)
    for row in rows:
        texts[row["doc_id"]] += f"{row['sentence']}\n"
    yield (
        "Factcheck-GPT",
        [(row["sentence"], row["claims"], f"{row['prompt']}\n{texts[row['doc_id']]}") for row in rows if row["claims"]],
    )


def _text(fact: Any) -> str:
    return str(fact["text"] if isinstance(fact, dict) else fact)


def altered(splits: list[Facts], kind: str, rng: random.Random) -> Iterator[Facts]:
    """The splits whose facts hold such a thing, with one of these changed wherever it stands."""
    pattern, other = ALTERED[kind]
    for sentence, facts, said in splits:
        of_facts = {match[0] for fact in facts for match in pattern.finditer(fact)}
        if found := sorted(of_facts & {match[0] for match in pattern.finditer(sentence)}):
            chosen = rng.choice(found)
            yield sentence, [fact.replace(chosen, other(chosen)) for fact in facts], said


def refused(splits: list[Facts]) -> int:
    return sum(complaint(sentence, facts, Wording(said)) is not None for sentence, facts, said in splits)


def _without_one(split: Split, rng: random.Random) -> Iterator[tuple[str, ...]]:
    gone = rng.randrange(len(split.claims))
    yield tuple(claim for place, claim in enumerate(split.claims) if place != gone)


def _other_figure(split: Split, _: random.Random) -> Iterator[tuple[str, ...]]:
    pattern, other = ALTERED["a figure"]
    changed = tuple(pattern.sub(lambda found: other(found[0]), claim, count=1) for claim in split.claims)
    if changed != split.claims:
        yield changed


def _two_joined(split: Split, _: random.Random) -> Iterator[tuple[str, ...]]:
    first, second, *others = split.claims
    yield (f"{first.rstrip('. ')}, and {second}", *others)


def _pronoun(split: Split, _: random.Random) -> Iterator[tuple[str, ...]]:
    """The claims with *He* for a subject that is a name."""
    changed = []
    for claim in split.claims:
        doc = parse(claim, load_pipeline())
        subject = next((subject_of(token) for token in doc if token.head == token), None)
        is_name = subject is not None and subject.pos_ == "PROPN" and subject.left_edge.i == 0
        changed.append(f"He {doc[subject.right_edge.i + 1 :].text}" if subject is not None and is_name else claim)
    if tuple(changed) != split.claims:
        yield tuple(changed)


WORSE: Mapping[str, tuple[str, Callable[[Split, random.Random], Iterator[tuple[str, ...]]]]] = {
    "a claim is dropped": ("coverage", _without_one),
    "a figure is another": ("entailment", _other_figure),
    "a name is a pronoun": ("self_contained", _pronoun),
    "two claims are joined": ("atomicity", _two_joined),
    "a claim comes twice": ("redundancy", lambda split, _: iter([(*split.claims, split.claims[0])])),
    "the sentence is added": ("redundancy", lambda split, _: iter([(*split.claims, split.sentence)])),
}
"""What is done to the claims of a sentence, and the measure that should notice: redundancy rises, the others fall."""


async def told_apart(name: str, sentences: Sequence[Sentence], judge: Verifier) -> Table:
    """The measures of splits by people and of the same made worse, and for how many sentences each moves."""
    splits = [Split(one.text, one.facts, one.before, one.prompt) for one in sentences if len(one.facts) > 1]
    rng, meter = random.Random(0), UsageMeter()

    async def measured(some: Sequence[Split]) -> list[SplitQuality]:
        return [await split_quality([one], judge, meter=meter) for one in some]

    heads = ("what is done", "measure", "sentences", "before", "after", "notices", "errs")
    table = Table(*heads, title=f"{name}, by {judge.name}")
    good = dict(zip(splits, await measured(splits), strict=True))
    for done, (measure, worsen) in WORSE.items():
        made = [(one, replace(one, claims=claims)) for one in splits for claims in worsen(one, rng)]
        values = [
            (getattr(good[one], measure).value, getattr(after, measure).value)
            for (one, _), after in zip(made, await measured([worse for _, worse in made]), strict=True)
        ]
        both = [(before, after) for before, after in values if before is not None and after is not None]
        sign = 1 if measure == "redundancy" else -1
        moved = [sign * (after - before) for before, after in both]
        means = (sum(side) / len(both) for side in zip(*both, strict=True))
        shares = (sum(move > 1e-9 for move in moved) / len(both), sum(move < -1e-9 for move in moved) / len(both))
        table.add_row(done, measure, str(len(both)), *(f"{one:.3f}" for one in (*means, *shares)))
    return table


PADDING: Mapping[str, Callable[[str, Sequence[str]], list[str]]] = {
    "nothing": lambda *_: [],
    "trivial facts": lambda topic, _: [
        f"{topic} {said}." for said in ("is a person", "exists", "was born", "has a name")
    ],
    "facts again": lambda _, supported: [f"It is true that {one}" for one in supported[:4]],
    "facts joined": lambda _, supported: [
        f"{one.rstrip('. ')}, and {other}" for one, other in zip(supported[:8:2], supported[1:8:2], strict=False)
    ],
}


async def padded(rows: Sequence[Mapping[str, Any]], judge: Verifier) -> Table:
    """Means over answers of precision and F1@32 by people's labels."""
    heads = (f"{figure}, {how}" for figure in ("precision", "F1@32") for how in ("every claim", "core"))
    table = Table("padded with", "answers", *heads, "left out", title=f"Padding, by {judge.name}")
    for kind, pad in PADDING.items():
        found = []
        for row in rows:
            labelled = [(one["text"], one["label"]) for each in row["sentences"] for one in each["atomic_facts"] or ()]
            more = pad(row["topic"], [text for text, label in labelled if label == "S"])
            claims = [_claim(place, *one) for place, one in enumerate([*labelled, *((text, "S") for text in more)])]
            scores = score_claims((await mark_core(claims, row["prompt"], judge, UsageMeter()))[0], (32,), "core")
            every = scores.every_claim
            if every is not None and every.precision is not None and scores.precision is not None:
                at_k = (every.at_k[0].f1, scores.at_k[0].f1)
                found.append((every.precision, scores.precision, *at_k, scores.counts.repeated))
        means = (sum(column) / len(found) for column in zip(*found, strict=True))
        table.add_row(kind, str(len(found)), *(f"{one:.3f}" for one in means))
    return table


def _claim(place: int, text: str, label: str) -> Claim:
    verdict = {"S": "supported", "NS": "not_supported", "IR": "irrelevant"}[label]
    judged = Judgement.model_validate({"verdict": verdict, "contradicted": False if label == "NS" else None})
    return Claim(id=str(place), sentence=text, span=(0, 0), text=text, self_contained=text, judgement=judged)


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description="Published splits, and splits made worse.")
    parser.add_argument("--judge", metavar="NAME", help="judge of claims by texts; the packaged baseline by default")
    name = parser.parse_args(arguments).judge
    judge: Verifier = Baseline() if name is None else build_judge(parse_spec(name))
    if not DATA.is_dir():
        Console().print(f"skipped: there is no folder {DATA}")
        return
    for name, splits in published():
        Console().print(f"{name}: {refused(splits)} of {len(splits)} sentences refused as published")
        for kind in ALTERED:
            changed = list(altered(splits, kind, random.Random(0)))
            Console().print(f"  with {kind} altered: {refused(changed)} of {len(changed)} refused")
    held_out = factscore(DATA)["FActScore, held out"][:300]
    for name, sentences in (("Factcheck-GPT", factcheckgpt(DATA)), ("FActScore", held_out)):
        Console().print(asyncio.run(told_apart(name, sentences, judge)))
    rows = [row for row in read_rows(DATA, "factscore_bio") if row["sentences"]]
    Console().print(asyncio.run(padded(random.Random(0).sample(rows, 60), judge)))


if __name__ == "__main__":
    main(sys.argv[1:])
