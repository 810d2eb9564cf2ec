"""The sides and figures of a comparison in words, the same on every surface."""

from __future__ import annotations

from collections.abc import Iterator

from factloop.core.records import Verdict
from factloop.evaluation.comparing.records import Comparison, ComparisonKind, Side
from factloop.evaluation.comparing.words import level_words
from factloop.evaluation.runs.records import ResponseLine
from factloop.reports.figures import plural
from factloop.reports.status import Status

NAMED = 5
"""Systems of a side, or prompts without a counterpart, that are named; the rest are counted."""
VERDICT_STATUS = {
    Verdict.SUPPORTED: Status.SUPPORTED,
    Verdict.NOT_SUPPORTED: Status.CONTRADICTED,
    Verdict.IRRELEVANT: Status.IRRELEVANT,
}


def title_of(comparison: Comparison) -> str:
    n = len(comparison.pairs)
    if comparison.kind is ComparisonKind.EVALUATORS:
        return f"Two evaluators of {plural(n, 'response')}"
    return f"Two systems on {plural(len({pair.first.prompt_id for pair in comparison.pairs}), 'prompt')}"


def together_words(comparison: Comparison) -> str:
    """How the intervals of the differences go together: `all of them together (97.5% each, by …)`."""
    levels = {one.level or comparison.level for one in comparison.differences}
    if levels <= {comparison.level}:
        return "each by itself"
    if len(levels) > 1:  # a comparison of version 1.2
        return "adjusted like p, each at the level beside it"
    return (
        f"all of them together ({level_words(*levels)} each, by Bonferroni’s inequality; one ends at 0 where Holm’s "
        "method shows a difference that this level would not)"
    )


def side_in_words(side: Side) -> str:
    """`runs/a: gpt-4o, judged by …; 120 responses`."""
    shown = ", ".join(side.systems[:NAMED]) + (f" and {len(side.systems) - NAMED} more" if side.systems[NAMED:] else "")
    return f"{side.run}: {shown}, judged by {side.judge}"


def basis_in_words(side: Side) -> str:
    """What a side's figures rest on, in counts of responses and of claims."""
    counts = side.counts
    return (
        f"{plural(side.n_responses, 'response')} ({side.n_abstained:,} abstained, "
        f"{side.n_unscored_responses:,} without any verdict); "
        f"claims: {counts.supported:,} supported, {counts.not_supported:,} not, "
        f"{counts.irrelevant:,} irrelevant, {counts.unscored:,} unscored"
    )


def unpaired_in_words(lines: tuple[ResponseLine, ...]) -> str:
    """How many, and the first few prompts."""
    prompts = [*dict.fromkeys(line.prompt_id for line in lines)]
    rest = len(prompts) - NAMED
    named = ", ".join(prompts[:NAMED]) + (f" and {plural(rest, 'more prompt')}" if rest > 0 else "")
    return f"{plural(len(lines), 'response')}: {named}"


def unpaired_rows(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """What has no counterpart, with its name."""
    for name, lines in (
        ("Only in A", comparison.only_first),
        ("Only in B", comparison.only_second),
        ("Another text in B", comparison.other_text),
    ):
        if lines:
            yield name, unpaired_in_words(lines)
