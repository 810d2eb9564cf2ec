from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from factloop.tools.linguistics.claims import split_claims
from factloop.tools.linguistics.discourse import context_at
from factloop.tools.linguistics.references import resolve_references
from factloop.tools.linguistics.relevance import is_relevant
from factloop.tools.linguistics.sentences import split_sentences
from tests.simulator.building import build_world
from tests.work import LINEAR, growth

DATA = Path(os.environ.get("FACTLOOP_DATA", "../shared/data"))
PROMPT = "Who was Mira Halden?"
RESPONSE = (
    "Mira Halden was a chemist from Lindel. She worked with Otto Berg. Berg taught geometry. "
    "Bananas are rich in potassium. Giraffes have long necks. Construction began in 1900. "
    "Historians have doubts. Ilse Varga moved to Oss. Varga painted ships."
)


@pytest.mark.parametrize(
    "claim",
    [
        "Mira Halden was a chemist from Lindel.",
        "Halden died in 1955.",
        "Otto Berg taught geometry.",
        "Lindel is a town.",
        "Construction began in 1900.",
        "Historians have doubts.",
        "Four houses stood in Trenn.",
        "Trenn lost the house in 1950.",
        "Trenn was rebuilt then.",
        "Tovik Ramm designed the second mill.",
        "A list of works.",
    ],
)
def test_relevant_unless_everything_speaks_against_it(claim: str) -> None:
    assert is_relevant(claim, prompt=PROMPT, response=RESPONSE)


@pytest.mark.parametrize(
    "claim",
    [
        "Bananas are rich in potassium.",
        "Giraffes have long necks.",
        "Ilse Varga moved to Oss.",
        "Ilse Varga painted ships.",
        "The Marrow Compass was printed in the town of Oss in the year 1950.",
    ],
)
def test_irrelevant_where_nothing_connects(claim: str) -> None:
    assert not is_relevant(claim, prompt=PROMPT, response=RESPONSE)


LIGHT = (
    "The Oss Light stands near Trenn. Four towers have stood there in turn.\n\nThe first tower was built by Ann Lee. "
    "John Marr built the third tower. Marr's Tower was lit in 1759. James Dunn designed the present one. "
    "The Iron Spire in Paris is also a popular sight."
)


def test_parts_and_builders_of_the_topic_are_relevant_and_another_sight_is_not() -> None:
    *relevant, sight = [sentence.text for sentence in split_sentences(LIGHT)]
    prompt = "What is known about the Oss Light?"
    assert all(is_relevant(claim, prompt=prompt, response=LIGHT) for claim in relevant)
    assert not is_relevant(sight, prompt=prompt, response=LIGHT)


def test_a_clause_of_contrast_is_judged_by_its_own_words() -> None:
    response = (
        "Mira Halden lived in Arden, while Ilse Varga moved to Oss. She met Tovik Ramm, whereas Ann Lee knew her."
    )
    assert not is_relevant("Ilse Varga moved to Oss.", prompt=PROMPT, response=response)
    assert is_relevant("Ann Lee sang.", prompt=PROMPT, response=response)


def test_names_that_share_only_their_kind_are_not_connected() -> None:
    response = "Mira Halden sailed on the Trenn Star. The Quorl Star reached Oss. The Trenn Star sank."
    assert not is_relevant("The Quorl Star reached Oss.", prompt=PROMPT, response=response)
    assert is_relevant("The Trenn Star sank.", prompt=PROMPT, response=response)


def test_connection_goes_on_from_sentence_to_sentence() -> None:
    response = "Mira Halden knew Otto Berg. Otto Berg knew Ilse Varga. Ilse Varga knew Tovik Ramm. Anna Fenn sang."
    assert is_relevant("Tovik Ramm sang.", prompt=PROMPT, response=response)
    assert not is_relevant("Anna Fenn sang.", prompt=PROMPT, response=response)


def test_list_items_belong_to_what_introduces_them() -> None:
    response = "Places near Lindel, where Mira Halden lived:\n\n- Trenn is known for its fair.\n- Oss has 900 people."
    assert is_relevant("Oss has 900 people.", prompt=PROMPT, response=response)


@pytest.mark.parametrize(
    "prompt", [None, "", "  ", "Tell me some facts.", "谁是米拉？", "why do things fall?", "Who was Tovik Ramm?"]
)
def test_without_a_question_to_judge_by_everything_is_relevant(prompt: str | None) -> None:
    assert is_relevant("Bananas are rich in potassium.", prompt=prompt, response=RESPONSE)


def test_a_question_in_small_letters_is_judged_by_too() -> None:
    assert not is_relevant("Ilse Varga moved to Oss.", prompt="who was mira halden", response=RESPONSE)


def test_on_the_simulator_hardly_any_claim_is_wrongly_called_irrelevant() -> None:
    """Precision of *irrelevant* at least 0.9, recall at least 0.7, over the claims that the rules split as labelled."""
    pairs = [
        (fact.label == "irrelevant", not is_relevant(fact.self_contained, prompt=asked.prompt, response=asked.text))
        for asked in build_world(21).responses
        for fact in asked.facts
    ]
    right = sum(gold and pred for gold, pred in pairs)
    assert right / sum(pred for _, pred in pairs) >= 0.9
    assert right / sum(gold for gold, _ in pairs) >= 0.7


@pytest.mark.statistical
def test_of_supported_facts_of_biographies_under_two_per_cent_are_called_irrelevant() -> None:
    path = DATA / "factscore_bio.jsonl"
    if not path.exists():
        pytest.skip(f"labelled data not found in {DATA}: set FACTLOOP_DATA")
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    flagged = [
        not is_relevant(fact["text"], prompt=row["prompt"], response=row["response"])
        for row in rows
        for sentence in row["sentences"] or []
        for fact in sentence["atomic_facts"] or []
        if fact["label"] == "S"
    ]
    assert sum(flagged) / len(flagged) < 0.02


@pytest.mark.parametrize(
    "unit",
    [
        "Varga painted ships in Oss, while Ramm sang. ",
        "The tower, the mill and the town of Oss. ",
        "Quorl Star met Trenn Star. ",
    ],
)
def test_work_is_linear_in_the_length_of_the_response(unit: str) -> None:
    def read(n_units: int) -> None:
        response = f"Mira Halden lived. {unit * n_units}"
        for sentence in split_sentences(response):
            context = context_at(response, sentence.start, PROMPT)
            for fact in split_claims(sentence.text):
                is_relevant(resolve_references(fact, context), prompt=PROMPT, response=response)

    assert growth(read, 25) < LINEAR


def test_general_truths_are_what_is_asked_about_a_thing() -> None:
    """Of a person they say nothing: *Bananas are rich in potassium*."""
    response = "Nerovan is a drug. Patients with kidney disease do not need a lower dose. Sessions end after a day."
    for claim in response.split(". ")[1:]:
        assert is_relevant(claim, prompt="How is Nerovan taken?", response=response)


def test_a_version_without_a_name_is_of_the_product_that_was_asked_about() -> None:
    prompt, said = "How is Tessella installed?", "Tessella is a board. LDAP was removed in {}."
    for whose, relevant in (("version 7.0", True), ("May", False), ("version 3 of Merrow", False)):
        response = said.format(whose)
        assert is_relevant(f"LDAP was removed in {whose}.", prompt=prompt, response=response) == relevant
