from __future__ import annotations

import re
from typing import Any

import pytest

from factloop.tools.text.pipeline import load_pipeline, parse
from factloop.tools.text.referents import read_claims
from tests.tools.text.cases import rows, wrong

NLP = load_pipeline()
CASES = rows("claims")
FIGURE_OR_NAME = re.compile(r"\d[\d,.]*\d|\d|(?<=[a-z,] )[A-Z]\w+")
SHARE_RIGHT = 0.9
"""Of the labelled sentences: the parser misreads some, and one that it reads otherwise tomorrow is no defect."""


def split(sentence: str) -> list[str]:
    return [claim.text for claim in read_claims(sentence, [], None, NLP)]


def test_sentences_are_split_as_labelled() -> None:
    found = wrong(CASES, lambda row: split(row["sentence"]), lambda row: row["claims"])
    assert len(found) <= (1 - SHARE_RIGHT) * len(CASES), "\n".join(found)


@pytest.mark.parametrize("row", CASES, ids=lambda row: row["sentence"][:40])
def test_a_sentence_that_is_not_split_as_labelled_stays_whole(row: dict[str, Any]) -> None:
    """Whatever a pipeline makes of it: no claim is garbled, loses its condition or stands for another's."""
    assert split(row["sentence"]) in (row["claims"], [row["sentence"]])


@pytest.mark.parametrize("row", CASES, ids=lambda row: row["sentence"][:40])
def test_no_figure_and_no_name_is_lost_or_made_up(row: dict[str, str]) -> None:
    said = set(FIGURE_OR_NAME.findall(row["sentence"]))
    claimed = {one for claim in split(row["sentence"]) for one in FIGURE_OR_NAME.findall(claim)}
    assert said <= claimed | set(re.findall(r"\w+", " ".join(split(row["sentence"]))))
    assert claimed <= set(re.findall(r"\d[\d,.]*\d|\w+", row["sentence"]))


@pytest.mark.parametrize("row", CASES, ids=lambda row: row["sentence"][:40])
def test_every_claim_has_a_finite_verb(row: dict[str, str]) -> None:
    for claim in split(row["sentence"]):
        is_finite = any(token.tag_ in {"VBD", "VBZ", "VBP", "MD"} for token in parse(claim, NLP))
        assert is_finite or claim == row["sentence"], claim


def test_markup_and_citations_are_no_part_of_a_claim() -> None:
    assert split("**Ida Bloom** taught law [doc_3].") == ["Ida Bloom taught law."]


def test_a_sentence_with_far_too_many_members_stays_whole() -> None:
    sentence = f"She visited {', '.join(f'Place{n}' for n in range(40))} and Rome."
    assert split(sentence) == [sentence]
