"""Recognizes sentences that say only that the sources or the writer do not have the answer."""

from __future__ import annotations

import re

_SOURCES = (
    r"(?:(?:document|source|passage|text|context|excerpt|article|material|snippet|page|record|report|file)s?"
    r"|(?:search )?results?|information|knowledge base|evidence|content)"
)
_GIVEN = (
    rf"(?:the|this|these|your|any|our|available|provided) (?:[\w-]+,? (?:and )?){{0,3}}{_SOURCES}(?: [\w-]+){{0,3}}"
)
_NOT = r"(?:do(?:es)?|did|is|are|was|were|has|have|can|could)(?: not|n['’]t)|cannot"
_KNOWLEDGE = r"(?:information|mention|details?|data|evidence|references?|answers?|indication|record)"
_SAID = (
    r"(?:mention|specif|provid|stat|discuss|address|includ|cover|contain|giv|describ|available|found|clear|detail)\w*"
)

_FORMS = (
    rf"{_GIVEN},? (?:{_NOT}) (?:[\w-]+ )?(?:{_SAID}|say|tell|answer|indicat|reveal|explain|list|have|offer)\w*",
    rf"{_GIVEN} (?:contains?|provides?|includes?|gives?|offers?|makes?|has|have|says?) (?:no|nothing)\b",
    rf"none of {_GIVEN} ",
    rf"there (?:is|are|was|were)(?: no|n['’]t any| not any)(?: [\w-]+){{0,3}} {_KNOWLEDGE}\b.*\b{_SOURCES}\b",
    rf"there (?:is|are) (?:not enough|insufficient) {_KNOWLEDGE}\b",
    r"no(?: [\w-]+){0,2} (?:information|details?|data|answer)\b.*\b(?:is|are|was|were) "
    r"(?:provided|available|given|mentioned|specified|included)",
    rf"no(?: [\w-]+){{0,2}} {_KNOWLEDGE}\b.* (?:in|by|within|from) {_GIVEN}",
    rf"[^,;]{{1,200}} (?:{_NOT})(?: [\w-]+)? {_SAID} (?:in|by|within|from) {_GIVEN}",
    rf"(?:i|we) (?:{_NOT}|(?:was|were|am|are|['’]m) unable to|have no|found no) "
    rf".*\b(?:{_KNOWLEDGE}|{_SOURCES}|this|that)\b",
    r"(?:i|we) (?:do not|don['’]t) know\b",
    rf"it is (?:not (?:possible|clear|stated|specified|mentioned)|unclear|impossible)\b.*\b(?:from|in|by) {_GIVEN}",
)
_LEAD = (
    r"(?:(?:sorry|unfortunately|however|but|therefore|so|hence|i(?:['’]m| am) sorry|i apologi[sz]e)[,.]? (?:but )?)?"
    rf"(?:(?:based on|according to|in|from|given|within) {_GIVEN},? )?"
)
_ABSTENTION = re.compile(rf"{_LEAD}(?:{'|'.join(_FORMS)})", re.IGNORECASE)
_TURN = re.compile(r"[,;] (?:but|however|although|though|while|whereas|and)\b|; ", re.IGNORECASE)


def is_abstention(text: str) -> bool:
    """Whether a sentence says only that the sources or the writer do not have the answer.

    A sentence that goes on to say something else (*..., but the office is in Oslo*) is not an abstention.
    """
    found = _ABSTENTION.match(text.strip())
    return found is not None and _TURN.search(text, found.end()) is None
