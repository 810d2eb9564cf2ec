"""Things that a number names: *model 1* of many, *version 4*. What is said of another tells nothing of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from factloop.tools.verifiers.terms import read_sentences, sentence_texts
from factloop.tools.verifiers.verbs import is_verb
from factloop.tools.verifiers.wording import PRONOUNS

_NOUNS = (
    "model|version|release|edition|type|series|generation|grade|class|room|gate|platform|building|apartment|flat|unit"
    "|chapter|section|article|clause|route|line|channel|batch|lot|sample|group|phase|stage|step|level|floor|page|option"
    "|number|no\\."
)
_NUMBERED = re.compile(
    rf"\b(?P<noun>{_NOUNS}) (?P<number>\d+(?:\.\d+)*)(?![\w%]|[.,:]\d)"
    r"(?P<more>(?:,| and| or| to| through|\s?[–-])\s?(?:\d|newer|later|higher|above|up\b|older|earlier|below|lower))?",
    re.IGNORECASE,
)


def of_numbered(claim: str, passages: Sequence[str]) -> Sequence[str]:
    """The passages without the sentences on others, where the claim's subject is a thing that a number names.

    Without those that go on about another with a pronoun as well. A sentence on several of them is kept.
    """
    asked = _numbered_subject(claim)
    if asked is None:
        return passages
    kept = [_of(asked, passage) for passage in passages]
    return [text if dropped else passage for passage, (text, dropped) in zip(passages, kept, strict=True)]


def _numbered_subject(claim: str) -> tuple[str, str] | None:
    """The noun and the number before the first verb of a claim; None without one, and for several."""
    found = list(_NUMBERED.finditer(claim))
    if len(found) != 1 or found[0]["more"]:
        return None
    before = read_sentences(claim[: found[0].start()])
    is_subject = not any(is_verb(term) for sentence in before for term in sentence.terms)
    return (found[0]["noun"].lower(), found[0]["number"]) if is_subject else None


def _of(asked: tuple[str, str], passage: str) -> tuple[str, bool]:
    """The sentences of a passage that may be on the thing, as written, and whether any was dropped."""
    sentences = list(_with_use(asked, passage))
    text = "".join(raw if is_kept else _break(raw) for raw, is_kept in sentences)
    return text, not all(is_kept for _, is_kept in sentences)


def _break(raw: str) -> str:
    """The line break that ends a sentence, so that its neighbours stay apart."""
    return "\n" if raw.endswith("\n") else ""


def _with_use(asked: tuple[str, str], passage: str) -> Iterator[tuple[str, bool]]:
    """Each sentence of a passage, and whether it may be on the thing."""
    is_kept = True
    for text, raw in sentence_texts(passage):
        others = [one for one in _NUMBERED.finditer(text) if one["noun"].lower() == asked[0]]
        if others:
            is_kept = any(one["number"] == asked[1] or one["more"] for one in others)
        elif not _goes_on(text):
            is_kept = True
        yield raw, is_kept


def _goes_on(text: str) -> bool:
    """Whether a sentence begins with a pronoun, and so speaks of what the one before it does."""
    first = text.split(maxsplit=1)[:1]
    return bool(first) and first[0].lower() in PRONOUNS
