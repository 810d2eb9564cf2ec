from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.trustscore.distractors.base import Kind, Target
from factloop.agents.trustscore.distractors.form import insert
from factloop.agents.trustscore.distractors.generate import Sieve, normalised
from factloop.agents.trustscore.distractors.targets import TargetOrder, find_tiers
from factloop.agents.trustscore.records import SubstitutionLevel
from factloop.tools.names.base import LinkedEntity
from factloop.tools.names.inflection import indefinite_article
from tests.work import LINEAR, growth

ENTITY, NOUN, SHARED, ANY = SubstitutionLevel


def find_targets(
    question: str, response: str, entities: Sequence[LinkedEntity], order: TargetOrder = "asked"
) -> list[Target]:
    return [target for tier in find_tiers(question, response, entities, order) for target in tier]


def linked(response: str, *names: str) -> list[LinkedEntity]:
    places = [(name, response.index(name)) for name in names]
    return [LinkedEntity(name, start, start + len(name), name, ("thing",)) for name, start in places]


def levels(question: str, response: str, *names: str) -> dict[str, SubstitutionLevel]:
    return {one.text: one.level for one in find_targets(question, response, linked(response, *names))}


@pytest.mark.parametrize(
    ("question", "response", "names", "expected"),
    [
        (
            "who built the first temple for god in jerusalem?",
            "King Solomon built the first temple for god in jerusalem.",
            ["King Solomon", "jerusalem"],
            {"King Solomon": ENTITY},
        ),
        ("when did all night long come out?", "All night long came out in 1983.", [], {"1983": NOUN}),
        ("", "The sharp teeth bite badly.", [], {"teeth": NOUN, "sharp": SHARED, "bite": SHARED, "badly": ANY}),
        ("who is michael j fox wife?", "Ann Bell is Michael J. Fox wife.", [], {"Ann Bell": ENTITY}),
        ("", "A cable length is long.", [], {"length": NOUN, "long": SHARED}),
        ("", "1500 metres", [], {"1500": NOUN, "metres": NOUN}),
        ("", "No one is the one.", [], {}),
    ],
)
def test_levels(question: str, response: str, names: list[str], expected: dict[str, SubstitutionLevel]) -> None:
    assert levels(question, response, *names) == expected


@pytest.mark.parametrize(
    ("response", "names", "first"),
    [
        ("the Netherlands", ["the Netherlands"], ["Netherlands"]),
        ("It is 'Purple Rain'.", [], ["Purple Rain"]),
        ("by Solomon in Rome", ["Rome", "Solomon"], ["Rome", "Solomon"]),
        ("in June", ["June"], ["June"]),
        ("the 2012 Olympics", ["2012 Olympics"], ["2012 Olympics"]),
    ],
)
def test_names_and_short_responses(response: str, names: list[str], first: list[str]) -> None:
    assert [one.text for one in find_tiers("", response, linked(response, *names))[0]] == first


@pytest.mark.parametrize(
    ("question", "response", "first"),
    [
        ("when did it open", "The Tower opened in Paris in 1889.", "1889"),
        ("How many won?", "In Paris, 24 players won.", "24"),
    ],
)
def test_what_is_asked_for_comes_first(question: str, response: str, first: str) -> None:
    found = find_targets(question, response, linked(response, "Paris"))
    assert (found[0].text, found[0].asked) == (first, True)
    assert find_targets(question, response, linked(response, "Paris"), "paper")[0].text == "Paris"


def test_the_papers_order_puts_words_only_in_the_response_before_all_shared_ones() -> None:
    question, response = "who built jerusalem?", "Solomon swiftly finished Jerusalem."
    paper = [target.text for target in find_targets(question, response, linked(response, "Jerusalem"), "paper")]
    assert (paper[0], paper[-1]) == ("Solomon", "Jerusalem")
    assert "Jerusalem" not in levels(question, response, "Jerusalem")


@given(st.text(max_size=80), st.text(max_size=80))
def test_targets_are_what_stands_there(question: str, response: str) -> None:
    for target in find_targets(question, response, ()):
        assert target.text == response[target.start : target.end] != ""


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


def admitted(response: str, text: str, substitutes: list[str], question: str = "") -> list[str]:
    sieve, start = Sieve(question, response), response.index(text)
    target = Target(text, start, start + len(text), SubstitutionLevel.ENTITY, "entity", "NNP")
    return [one for one in substitutes if sieve.admits(insert(response, target, one))]


@pytest.mark.parametrize(
    ("substitutes", "kept"),
    [
        (["Ohio", "Ohio"], ["Ohio"]),
        (["Ohio", "ohio", "OHIO", "Ohio.", "the Ohio"], ["Ohio"]),
        (["Québec", "Quebec"], ["Québec"]),
        (["Guinea", "Guinea-Bissau", "New Guinea"], ["Guinea"]),
        (["New Guinea", "Guinea"], ["New Guinea"]),
        (["John Smith", "John Baker"], ["John Smith", "John Baker"]),
        (["temple", "temples"], ["temple"]),
        (["Florida", "florida", "West Florida", "Florida's"], []),
        (["Spain", "Ohio"], ["Ohio"]),
        (["", "…"], []),
        (["art", "party"], ["art", "party"]),
    ],
)
def test_near_duplicates_are_refused(substitutes: list[str], kept: list[str]) -> None:
    assert admitted("Florida was returned to Spain.", "Florida", substitutes) == kept


def test_what_contains_the_response_or_stands_in_it_is_refused() -> None:
    assert admitted("New York", "New York", ["New York City", "York", "Boston"]) == ["Boston"]
    assert admitted("He saw York", "York", ["York City", "New York", "Boston"]) == ["Boston"]


def test_what_the_question_says_is_refused() -> None:
    assert admitted("It was Rome.", "Rome", ["Paris", "Oslo"], "Was it Paris or Rome?") == ["Oslo"]
    assert admitted("Rome is big", "Rome", ["Oslo"], "Oslo is big?") == []


def test_two_targets_do_not_give_the_same_text() -> None:
    sieve = Sieve("", "King Solomon built it.")
    whole = Target("King Solomon", 0, 12, SubstitutionLevel.ENTITY, "entity", "NNP")
    last = Target("Solomon", 5, 12, SubstitutionLevel.ENTITY, "entity", "NNP")
    assert sieve.admits(insert("King Solomon built it.", whole, "King David"))
    assert not sieve.admits(insert("King Solomon built it.", last, "David"))
    assert sieve.admits(insert("King Solomon built it.", last, "Saul"))


def test_normalised_text_has_words_only() -> None:
    assert normalised("The Café, in  a 1,5 'Night's'!") == ("cafe", "in", "1,5", "night")
    assert normalised("The") == ("the",)
    assert normalised("…") == ()
    assert normalised("鲁迅") == ("鲁迅",)


def test_work_is_linear_in_the_candidates_and_in_the_words() -> None:
    def admit(n_candidates: int, n_repeats: int) -> None:
        response = "Florida " + "was returned to Spain after the war " * n_repeats
        names = [f"Name{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(n_candidates)]
        assert len(admitted(response, "Florida", names)) == n_candidates

    assert growth(lambda n: admit(n, 150), 50) < LINEAR
    assert growth(lambda n: admit(10, n), 150) < LINEAR
