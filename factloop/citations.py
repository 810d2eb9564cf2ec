"""Numbers of passages in a judge's words: what was [3] of all that it was shown is [1] of what the claim keeps."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from factloop.records import Claim, Evidence

ELSEWHERE = "another passage"
"""Stands for the number of a passage that is not kept with the claim, or that never was."""

_NUMBERED = re.compile(
    r"\[(?:[Pp]assages? )?(?P<list>\d{1,3}(?: ?(?:,|and|&) ?\d{1,3})*)\]"
    r"|\b(?P<start>[Pp])assages? (?P<words>\d{1,3}(?:(?:, | and |, and | & )\d{1,3})*)\b(?!\.\d)"
)
_NUMBER = re.compile(r"\d{1,3}")


def renumbered(text: str, numbers: Mapping[int, int]) -> str:
    """The text with each number of a passage replaced by that under which the claim keeps it, in brackets."""
    return _replaced(text, lambda number: f"[{numbers[number]}]" if number in numbers else ELSEWHERE)


def named(text: str, evidence: Sequence[Evidence]) -> str:
    """The text with each number of a passage replaced by its title, for readers who do not see the passages."""
    return _replaced(text, lambda number: _name(evidence[number - 1]) if 0 < number <= len(evidence) else ELSEWHERE)


def reason(claim: Claim) -> str:
    """Why a claim is judged as it is, for readers who do not see its passages."""
    return named(claim.judgement.rationale, claim.evidence)


def _name(item: Evidence) -> str:
    return f"“{item.title or item.source}”"


def _replaced(text: str, word: Callable[[int], str]) -> str:
    def replace(match: re.Match[str]) -> str:
        said = match["list"] or match["words"]
        names = list(dict.fromkeys(word(int(number)) for number in _NUMBER.findall(said)))
        return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]

    return _NUMBERED.sub(replace, text)
