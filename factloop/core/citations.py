"""Translates a judge's passage numbers: [3] in its prompt may be [1] in the claim's evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from factloop.core.records import Claim, Evidence

ELSEWHERE = "another passage"  # replaces the number of a passage that does not exist or is not in the claim's evidence

_NUMBERED = re.compile(
    r"(?P<code>(?:\w|= ?)(?:\[[^][\n]*\])+)"
    r"|\[(?:(?:[Pp]assages?|[Ee]vidence) )?(?P<list>\d{1,3}(?: ?(?:,|and|&) ?\d{1,3})*)\]"
    r"|\b(?:[Pp]assages?|[Ee]vidence) (?P<words>\d{1,3}(?:(?:, | and |, and | & )\d{1,3})*)\b(?!\.\d)"
)
_NUMBER = re.compile(r"\d{1,3}")


def renumbered(text: str, numbers: Mapping[int, int], *, n_shown: int) -> str:
    """Replaces the judge's passage numbers, 1 to `n_shown`, with bracketed numbers of the claim's evidence."""
    return _replaced(text, n_shown, lambda number: f"[{numbers[number]}]" if number in numbers else ELSEWHERE)


def named(text: str, evidence: Sequence[Evidence]) -> str:
    """Replaces each passage number with the passage's title."""
    names = {number: f"“{one.title or one.source}”" for number, one in enumerate(evidence, 1)}
    return _replaced(text, len(evidence), lambda number: names.get(number, ELSEWHERE))


def mentioned(text: str, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The passages that the text mentions by number, without duplicates, in order of first mention."""
    numbers: dict[int, None] = {}

    def note(number: int) -> str:
        numbers[number] = None
        return ""

    _replaced(text, len(evidence), note)
    return tuple(evidence[number - 1] for number in numbers if 0 < number <= len(evidence))


def reason(claim: Claim) -> str:
    return named(claim.judgement.rationale, claim.evidence)


def _replaced(text: str, n_shown: int, word: Callable[[int], str]) -> str:
    """Leaves code (`arr[0]`) and references to books ("passage 12 of the Koran") unchanged."""

    def replace(match: re.Match[str]) -> str:
        if match["code"]:
            return match[0]
        numbers = [int(number) for number in _NUMBER.findall(match["list"] or match["words"])]
        is_citation = 0 not in numbers if match["list"] else _are_shown(numbers, n_shown, text[match.end() :])
        if not is_citation:
            return match[0]
        names = list(dict.fromkeys(word(number) for number in numbers))
        return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]

    return _NUMBERED.sub(replace, text)


def _are_shown(numbers: Sequence[int], n_shown: int, after: str) -> bool:
    if not n_shown:
        return not after.startswith(" of ")
    return any(0 < number <= n_shown for number in numbers)


def heading(title: str, section: str | None, published: str | None = None) -> str:
    """A heading such as `Eddystone Lighthouse › Smeaton's tower (2021-04-03)`, or "" without a title or section."""
    above = " › ".join(part for part in (title, section) if part)
    return f"{above} ({published})" if above and published else above
