"""A substitute takes the form of what it replaces."""

from __future__ import annotations

from typing import cast

import pytest

from factloop.agents.trustscore.distractors.base import Kind, Target
from factloop.agents.trustscore.distractors.form import insert
from factloop.agents.trustscore.records import SubstitutionLevel
from factloop.tools.names.inflection import indefinite_article


def target(response: str, text: str, kind: str = "entity", tag: str = "NNP") -> Target:
    start = response.index(text)
    return Target(text, start, start + len(text), SubstitutionLevel.ENTITY, cast(Kind, kind), tag)


@pytest.mark.parametrize(
    ("response", "text", "kind", "tag", "substitute", "expected"),
    [
        # Case.
        ("it was returned to spain.", "spain", "entity", "NNP", "Costa Rica", "it was returned to costa rica."),
        ("IT WAS SPAIN.", "SPAIN", "entity", "NNP", "France", "IT WAS FRANCE."),
        ("It joined NATO.", "NATO", "entity", "NNP", "Interpol", "It joined Interpol."),
        ("Lungs are enclosed.", "Lungs", "noun", "NNS", "kidneys", "Kidneys are enclosed."),
        ("golf ball", "golf", "noun", "NN", "TV", "TV ball"),
        ("It is 'Purple Rain'.", "Purple", "adjective", "JJ", "golden", "It is 'Golden Rain'."),
        # Number.
        ("the two lungs", "lungs", "noun", "NNS", "kidney", "the two kidneys"),
        # Article.
        ("It is an apple.", "apple", "noun", "NN", "banana", "It is a banana."),
        ("a dog", "dog", "noun", "NN", "owl", "an owl"),
        ("a 7th try", "7th", "number", "CD", "8th", "an 8th try"),
        # "the" before names.
        ("It is in the Netherlands.", "Netherlands", "entity", "NNP", "France", "It is in France."),
        ("The Netherlands won.", "Netherlands", "entity", "NNP", "France", "France won."),
        ("It is in France.", "France", "entity", "NNP", "Netherlands", "It is in the Netherlands."),
        ("France", "France", "entity", "NNP", "Netherlands", "Netherlands"),
        ("by the Beatles", "Beatles", "entity", "NNPS", "The Kinks", "by the Kinks"),
        # Possessive and marks.
        ("Solomon's temple", "Solomon", "entity", "NNP", "David", "David's temple"),
        ("James' temple", "James", "entity", "NNP", "David", "David's temple"),
        ("the children's book", "children", "noun", "NNS", "girls", "the girls' book"),
        ("'James' built it.", "James", "entity", "NNP", "David", "'David' built it."),
    ],
)
def test_the_form_of_the_original_is_kept(
    response: str, text: str, kind: str, tag: str, substitute: str, expected: str
) -> None:
    found = insert(response, target(response, text, kind, tag), substitute)
    assert found.text == expected
    assert response[: found.start] + found.by + response[found.end :] == expected
    assert text in response[found.start : found.end]


@pytest.mark.parametrize(
    ("phrase", "article"),
    [
        ("apple", "an"), ("banana", "a"), ("hour", "an"), ("university", "a"), ("unimportant word", "an"), ("use", "a"),
        ("one-way street", "a"), ("FBI agent", "an"), ("UN envoy", "a"), ("18th", "an"), ("110", "a"), ("", "a"),
    ],
)  # fmt: skip
def test_the_article_goes_by_sound(phrase: str, article: str) -> None:
    assert indefinite_article(phrase) == article
