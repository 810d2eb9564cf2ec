"""Judges claims by their words alone, as a hasty model does, which reads more carefully if told to be exact.

It calls a claim supported if a passage has the wanted share of its words. So it passes a claim with one detail changed
and, when told to be exact, fails a paraphrase.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tests.simulator.blocks import Block, Blocks
from tests.simulator.brain import Fields, SearchWish
from tests.simulator.evidence import Finding
from tests.simulator.queries import next_query

ASSESSMENT = "Assessment"
MOST_WORDS = 0.6  # share of a claim's words in a passage that is about it

_EXACT = re.compile(r"\bevery (?:single )?(?:detail|part|word)\b|\bstrict", re.IGNORECASE)
_WORD = re.compile(r"\d[\d,.]*\d|\w+")
_ENDINGS = re.compile(r"(?:'s|ing|ed|es|s|e)$")
_SMALL = """
a an the and or but of in on at by to for from with without as is are was were be been has have had it its he she they
their her his that which who what this these not no
"""
_PASSED_OVER = frozenset(_SMALL.split())


def assess_by_words(message: str, instructions: str, wanted_share: float, may_search: bool) -> Fields | SearchWish:
    """The answer `Assessment`, or a search call if tools are offered."""
    blocks = Blocks(message)
    claim, evidence = " ".join(blocks.one("claim").split()), blocks.all("evidence")
    finding = read_by_words(claim, evidence, 1.0 if is_exact(instructions) else wanted_share)
    answer: dict[str, Any] = {"cited": list(finding.cited), "verdict": finding.stance}
    answer |= {"wrong": "", "missing": "", "queries": [], "query": ""}
    if finding.stance != "insufficient":
        said = "says so" if finding.stance == "supported" else "gives another number"
        return {"rationale": f"Passage {finding.cited[0]} {said}: {finding.found}.", **answer}
    missing = "a passage with all that the claim says"
    if blocks.one("left") != "0":
        query = next_query(claim, [block.text for block in blocks.all("asked")])
        if may_search:
            return SearchWish([query], missing)
        answer |= {"queries": [query], "query": query, "missing": missing}
    return {"rationale": "The passages do not say all of it.", **answer}


def is_exact(instructions: str) -> bool:
    """Whether a system message asks for every detail."""
    return _EXACT.search(instructions) is not None


def read_by_words(claim: str, evidence: Sequence[Block], wanted_share: float) -> Finding:
    """The verdict of the passage that shares most words with the claim; a different number contradicts it."""
    wanted = _words(claim)
    if not wanted or not evidence:
        return Finding("insufficient")
    shares = [len(wanted & _words(passage.text)) / len(wanted) for passage in evidence]
    place = max(range(len(evidence)), key=lambda at: shares[at])
    passage = evidence[place]
    number = int(passage.id) if passage.id.isdigit() else place + 1
    if shares[place] < MOST_WORDS:
        return Finding("insufficient")
    if _numbers(passage.text) and _numbers(claim) - _numbers(passage.text):
        return Finding("contradicted", (number,), _first_sentence(passage.text))
    if shares[place] < wanted_share:
        return Finding("insufficient")
    return Finding("supported", (number,), _first_sentence(passage.text))


def _words(text: str) -> set[str]:
    return {_ENDINGS.sub("", word) for word in _WORD.findall(text.casefold()) if word not in _PASSED_OVER}


def _numbers(text: str) -> set[str]:
    return {word for word in _WORD.findall(text) if word[0].isdecimal()}


def _first_sentence(text: str) -> str:
    return text.split(". ")[0].rstrip(".")
