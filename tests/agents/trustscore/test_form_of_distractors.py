"""A substitute takes the form of what it replaces."""

from __future__ import annotations

from typing import cast

import pytest

from factloop.agents.trustscore.distractors.base import Kind, Target
from factloop.agents.trustscore.distractors.form import indefinite_article, insert, takes_the
from factloop.agents.trustscore.records import SubstitutionLevel


def target(response: str, text: str, kind: str = "entity", tag: str = "NNP") -> Target:
    start = response.index(text)
    return Target(text, start, start + len(text), SubstitutionLevel.ENTITY, cast(Kind, kind), tag)


@pytest.mark.parametrize(
    ("response", "text", "kind", "tag", "substitute", "expected"),
    [
        # Case.
        ("Florida was returned.", "Florida", "entity", "NNP", "Ohio", "Ohio was returned."),
        ("it was returned to spain.", "spain", "entity", "NNP", "Costa Rica", "it was returned to costa rica."),
        ("IT WAS SPAIN.", "SPAIN", "entity", "NNP", "France", "IT WAS FRANCE."),
        ("It joined NATO.", "NATO", "entity", "NNP", "Interpol", "It joined Interpol."),
        ("Lungs are enclosed.", "Lungs", "noun", "NNS", "kidneys", "Kidneys are enclosed."),
        ("the lungs", "lungs", "noun", "NNS", "Kidneys", "the kidneys"),
        ("golf ball", "golf", "noun", "NN", "TV", "TV ball"),
        ("It is 'Purple Rain'.", "Purple", "adjective", "JJ", "golden", "It is 'Golden Rain'."),
        # Number.
        ("the two lungs", "lungs", "noun", "NNS", "kidney", "the two kidneys"),
        ("one lung", "lung", "noun", "NN", "kidneys", "one kidney"),
        # Article.
        ("It is an apple.", "apple", "noun", "NN", "banana", "It is a banana."),
        ("An old man", "old", "adjective", "JJ", "young", "A young man"),
        ("a dog", "dog", "noun", "NN", "owl", "an owl"),
        ("a 7th try", "7th", "number", "CD", "8th", "an 8th try"),
        ("He found a apple.", "apple", "noun", "NN", "pear", "He found a pear."),
        # "the" before names.
        ("It is in the Netherlands.", "Netherlands", "entity", "NNP", "France", "It is in France."),
        ("The Netherlands won.", "Netherlands", "entity", "NNP", "France", "France won."),
        ("It is in France.", "France", "entity", "NNP", "Netherlands", "It is in the Netherlands."),
        ("France won.", "France", "entity", "NNP", "United States", "The United States won."),
        ("France", "France", "entity", "NNP", "Netherlands", "Netherlands"),
        ("by the Beatles", "Beatles", "entity", "NNPS", "The Kinks", "by the Kinks"),
        ("It is in the Netherlands.", "Netherlands", "entity", "NNP", "Bahamas", "It is in the Bahamas."),
        # Possessive and marks.
        ("Solomon's temple", "Solomon", "entity", "NNP", "David", "David's temple"),
        ("James' temple", "James", "entity", "NNP", "David", "David's temple"),
        ("the children's book", "children", "noun", "NNS", "girls", "the girls' book"),
        ("'James' built it.", "James", "entity", "NNP", "David", "'David' built it."),
        ("(1983)", "1983", "date", "CD", "1984", "(1984)"),
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
        ("apple", "an"), ("banana", "a"), ("hour", "an"), ("honest man", "an"), ("house", "a"), ("university", "a"),
        ("unicorn", "a"), ("unimportant word", "an"), ("umbrella", "an"), ("uncle", "an"), ("use", "a"),
        ("ukulele", "a"), ("European", "a"), ("one-way street", "a"), ("onion", "an"), ("FBI agent", "an"),
        ("UN envoy", "a"), ("NBA team", "an"), ("CD", "a"), ("8", "an"), ("18th", "an"), ("11,000", "an"), ("80", "an"),
        ("110", "a"), ("1", "a"), ("eight", "an"), ("'apple'", "an"), ("", "a"), ("…", "a"),
    ],
)  # fmt: skip
def test_the_article_goes_by_sound(phrase: str, article: str) -> None:
    assert indefinite_article(phrase) == article


@pytest.mark.parametrize("name", ["Netherlands", "the Netherlands", "United States of America", "Czech Republic"])
def test_some_names_take_an_article(name: str) -> None:
    assert takes_the(name)


@pytest.mark.parametrize("name", ["France", "New York", "Tom Hanks", "Islands", ""])
def test_most_names_take_none(name: str) -> None:
    assert not takes_the(name)
