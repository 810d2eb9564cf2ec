"""A passage as a prompt shows it: under its title and headings, and cut, where it must be, so that no half sentence is
read as a whole one."""

from __future__ import annotations

from collections.abc import Iterable

from factloop.core.citations import heading
from factloop.core.records import Evidence
from factloop.tools.text.sentences import split_sentences

PASSAGE_CHARACTERS = 2_000
"""Characters of a passage, with its neighbours where it has any; of a longer one prompts show the beginning."""
LEFT_OUT = "(the rest of the passage is left out here)"
CUT_WITHIN = "(cut here in the middle of a sentence)"
_ENDS = frozenset(".!?…。！？।\"'”’»)]」")


def as_shown(item: Evidence) -> str:
    """The passage, of which at most `PASSAGE_CHARACTERS`, below a line with its title, its headings and its date."""
    return f"{heading(item.title, item.section, item.published)}\n{shortened(item.passage, PASSAGE_CHARACTERS)}".strip()


def document_of(item: Evidence) -> str:
    """The source without the place in it, such as a page: several passages are of one document."""
    return item.source.partition("#page=")[0]


def document_numbers(items: Iterable[Evidence]) -> tuple[int, ...]:
    """The number of each passage's document, from 0 in the order of their first passages."""
    numbers: dict[str, int] = {}
    return tuple(numbers.setdefault(document_of(item), len(numbers)) for item in items)


def shortened(passage: str, most: int) -> str:
    """The passage up to the last sentence or line that ends within `most` characters; a line below says what was cut.

    Where not even one sentence ends there, it is cut after a word, and the line says so.
    """
    if len(passage) <= most:
        return passage
    kept = _whole_sentences(passage, most)
    if kept:
        return f"{kept}\n{LEFT_OUT}"
    space = passage.rfind(" ", most // 2, most + 1)
    return f"{passage[: space if space > 0 else most].rstrip()}\n{CUT_WITHIN}"


def _whole_sentences(passage: str, most: int) -> str:
    """The lines that fit; where they are few, the first that does not was prose, and its sentences that fit too."""
    end = passage.rfind("\n", 0, most + 1)
    kept, line = passage[: max(end, 0)].rstrip(), passage[end + 1 :].partition("\n")[0]
    if len(kept) > most // 2:
        return kept
    ends = (sentence.end for sentence in split_sentences(line[: 2 * most]) if line[sentence.end - 1] in _ENDS)
    last = max((place for place in ends if end + 1 + place <= most), default=0)
    return f"{kept}\n{line[:last]}".strip()
