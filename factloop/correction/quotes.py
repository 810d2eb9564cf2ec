"""The source's own words in the place of a contradicted claim, where they can stand in the text as they are. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from factloop.correction.rewriters import brings_in
from factloop.tools.linguistics.clauses import find_clause
from factloop.tools.linguistics.coordination import split_clauses
from factloop.tools.linguistics.lexicon import word_set
from factloop.tools.linguistics.markup import plain_text
from factloop.tools.linguistics.words import FINITE, tag_words

VERBAL = FINITE | {"ed", "base", "participle"}
"""Classes of words that may be the verb of a sentence."""
MOST_GROWTH, ROOM = 2, 40
"""A quote has at most `MOST_GROWTH` times the characters of the sentence in whose place it stands, and `ROOM` more."""

_POINTING = word_set("he she it they him them this these those hers theirs here i me my we us our former latter")
"""May mean what only the source has named before."""
_WRITER = word_set("i me my we us our")
"""Mean in the source whom they mean in a text that it contradicts, where that has them, too."""
_OWNERS = word_set("his her its their such that also then")
_JOINING = word_set(
    "but and or so however also then therefore thus moreover furthermore instead otherwise yet nor neither "
    "consequently hence besides still finally"
)
ROW = re.compile(r"[^:;]{1,60}: [^;]*;[^:;]{1,60}: ")
"""The beginning of a table's row as documents are read: *Plan: Team; Seats: 25*."""
_JOINT = re.compile(r",\s+(?:and|but)\s+(?=(?:the|your|our|my|this|these|an?)\s)", re.IGNORECASE)
"""Between clauses, the second with a subject of its own, be the first's verb known or not."""
_LAID_OUT = re.compile(r"[|\n\t]")
_GLUED = re.compile(r"[\w)] (?:The|A|An|In|On|It|This|These|He|She|They) \w")
"""A heading, or the last cell of a table, runs into the sentence below it."""
_STOPS = ".!?…"


def quoted(quote: str, old: str, contradicts: Callable[[str], bool]) -> str | None:
    """The shortest clause of the deciding sentence that decides, as a sentence of its own, else the whole; None where
    it cannot stand in the place of the old one: too long, no sentence, or one that points at what the source says
    before it.

    `contradicts`: whether a text contradicts the claim.
    """
    plain = " ".join(plain_text(quote).split())
    clauses = {clause for part in re.split(r";\s+", plain) for clause in _clauses(part)} - {plain}
    for clause in (*sorted(clauses, key=lambda one: (len(one), one)), plain):
        chosen = clause.rstrip(f"{_STOPS} ,;:")
        if _can_stand(chosen, old) and (clause == plain or contradicts(clause)):
            return f"{chosen[0].upper()}{chosen[1:]}."
    return None


def _clauses(part: str) -> tuple[str, ...]:
    """What stands between semicolons, and the clauses that it joins; those after a lead (*in winter*) go with it."""
    clause = find_clause(tag_words(part))
    if clause is None or clause.subject != 0:
        return (part,)
    joined = _JOINT.split(part)
    is_subject = "," in joined[-1] and find_clause(tag_words(joined[0])) is None  # *dogs, and the cats, cost*
    return (part, *split_clauses(part), *(() if is_subject else joined))


def _can_stand(text: str, old: str) -> bool:
    if not text or len(text) > MOST_GROWTH * len(old) + ROOM or not text[0].isalnum():
        return False
    if ROW.match(text) or _LAID_OUT.search(text) or _GLUED.search(text) or brings_in(text, old) is not None:
        return False
    words = tag_words(text)
    said = [word.lower for word in words]
    known = {word.lower for word in tag_words(old)}
    pointing = set(said) & _POINTING - (_WRITER & known)
    if said[0] in _JOINING or pointing or set(said[:2]) & _OWNERS or "there" in said[1:]:
        return False
    return any(word.word_class in VERBAL for word in words) or known.issuperset(said)  # a verb that no rule knows
