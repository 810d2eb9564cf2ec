"""The texts of two prompts line by line: what a variant takes out and what it puts in."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from factloop.evaluation.experiments.report import ExperimentReport

CONTEXT = 3
"""Lines kept around each change."""


@dataclass(frozen=True)
class Line:
    kind: Literal["same", "out", "in", "gap"]
    """`gap` stands for lines left out, which are the same."""
    text: str


@dataclass(frozen=True)
class PromptDiff:
    """One prompt of one variant against the baseline's; a side without it is empty."""

    variant: str
    prompt: str
    lines: tuple[Line, ...]


def prompt_diffs(report: ExperimentReport) -> list[PromptDiff]:
    """The differences of every prompt whose texts are given and differ, by variant and name."""
    baseline = report.variants[0].variant.prompt_texts
    found = []
    for one in report.variants[1:]:
        texts = one.variant.prompt_texts
        for name in sorted({*baseline, *texts} if texts else ()):
            before, after = baseline.get(name, ""), texts.get(name, "")
            if before != after:
                found.append(PromptDiff(one.variant.name, name, tuple(_lines(before, after))))
    return found


def _lines(before: str, after: str) -> Iterator[Line]:
    one, other = before.splitlines(), after.splitlines()
    groups = difflib.SequenceMatcher(None, one, other, autojunk=False).get_grouped_opcodes(CONTEXT)
    for number, group in enumerate(groups):
        if number or group[0][1] > 0:
            yield Line("gap", "…")
        for tag, start, end, other_start, other_end in group:
            if tag == "equal":
                yield from (Line("same", text) for text in one[start:end])
            else:
                yield from (Line("out", text) for text in one[start:end])
                yield from (Line("in", text) for text in other[other_start:other_end])
