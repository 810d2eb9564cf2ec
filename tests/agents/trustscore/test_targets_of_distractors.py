"""Targets: words only in the response first, entities before nouns and numbers before the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.trustscore.distractors.targets import MAX_TARGETS, find_targets, find_tiers
from factloop.agents.trustscore.records import SubstitutionLevel
from factloop.tools.knowledge_base.base import LinkedEntity

ENTITY, NOUN, SHARED, ANY = SubstitutionLevel


def linked(response: str, *names: str) -> list[LinkedEntity]:
    places = [(name, response.index(name)) for name in names]
    return [LinkedEntity(name, start, start + len(name), name, ("thing",)) for name, start in places]


def levels(question: str, response: str, *names: str) -> dict[str, SubstitutionLevel]:
    return {one.text: one.level for one in find_targets(question, response, linked(response, *names))}


def test_entities_only_in_the_response_come_first() -> None:
    question = "who built the first temple for god in jerusalem?"
    response = "King Solomon built the first temple for god in jerusalem."
    found = levels(question, response, "King Solomon", "jerusalem")
    assert next(iter(found)) == "King Solomon"
    assert found == {
        "King Solomon": ENTITY, "jerusalem": SHARED, "first": SHARED, "temple": SHARED, "god": SHARED, "built": SHARED,
    }  # fmt: skip


def test_a_year_comes_before_all_that_the_question_has() -> None:
    found = levels("when did all night long come out lionel richie?", "All night long came out in 1983.")
    assert next(iter(found)) == "1983"
    assert found["1983"] is NOUN
    assert found["came"] is SHARED  # a form of "come"


def test_nouns_come_before_verbs_and_adjectives_and_these_before_other_words() -> None:
    found = levels("", "Sharp teeth bite badly.")
    assert found == {"teeth": NOUN, "Sharp": SHARED, "bite": SHARED, "badly": ANY}
    assert next(iter(found)) == "teeth"


def test_what_only_the_response_has_comes_before_the_shared_within_a_level() -> None:
    tiers = find_tiers("who painted the ceiling?", "The painted ceiling was restored.", ())
    assert [[one.text for one in tier] for tier in tiers] == [["restored"], ["ceiling"], ["painted"]]


@pytest.mark.parametrize(
    ("response", "names", "first"),
    [
        ("the Netherlands", ["the Netherlands"], ["Netherlands"]),
        ("It is 'Purple Rain'.", [], ["Purple", "Rain"]),
        ("The Purple Mountain Museum won.", [], ["Purple", "Mountain"]),
        ("It was the Battle of Happo.", [], ["Happo"]),
        ("Football", [], ["Football"]),
        ("Peter Billingsley", ["Peter Billingsley"], ["Peter Billingsley"]),
        ("2017", [], ["2017"]),
        ("The pigment is chlorophyll.", [], ["pigment", "chlorophyll"]),
        ("golf ball", [], ["golf", "ball"]),
        ("by Solomon in Rome", ["Rome", "Solomon"], ["Rome", "Solomon"]),
        ("King Solomon", ["Solomon", "King Solomon"], ["Solomon", "King Solomon"]),
        ("in June", ["June"], ["June"]),
        ("the 2012 Olympics", ["2012 Olympics"], ["2012 Olympics"]),
    ],
)
def test_names_and_short_responses(response: str, names: list[str], first: list[str]) -> None:
    assert [one.text for one in find_tiers("", response, linked(response, *names))[0]] == first


def test_a_date_is_no_entity_even_where_a_knowledge_base_says_so() -> None:
    assert [one.kind for one in find_targets("", "in June", linked("in June", "June"))] == ["date"]


def test_a_name_of_unknown_type_ranks_below_entities_beside_a_date() -> None:
    response = "Sinbad of Arendelle came to Rome in 1983."
    found = levels("", response, "Rome")
    assert found["Rome"] is ENTITY
    assert found["Arendelle"] is NOUN
    assert levels("", response.replace(" in 1983", ""), "Rome")["Arendelle"] is ENTITY


def test_function_words_are_replaced_only_where_there_is_nothing_else() -> None:
    assert "the" not in levels("", "It was the dog.")
    assert set(levels("", "It is.")) == {"It", "is"}


@pytest.mark.parametrize("response", ["", "…", "!?", " \n"])
def test_nothing_to_replace(response: str) -> None:
    assert find_targets("Why?", response, ()) == []


def test_other_scripts_have_targets() -> None:
    assert find_targets("谁?", "鲁迅写了这本书", ()) != []


def test_a_thousand_words_give_a_bounded_number_of_targets() -> None:
    response = "Florida was quickly returned by great kings to Spain in 1783. " * 100
    assert len(find_targets("", response, ())) <= MAX_TARGETS * len(SubstitutionLevel)


@given(st.text(max_size=80), st.text(max_size=80))
def test_targets_are_what_stands_there(question: str, response: str) -> None:
    for target in find_targets(question, response, ()):
        assert target.text == response[target.start : target.end] != ""


def test_the_papers_order_puts_words_only_in_the_response_before_all_shared_ones() -> None:
    """Rule 1, then rule 2 and 3 within: an adverb of the response goes before a name that the question has, too."""
    question, response = "who built jerusalem?", "Solomon swiftly finished Jerusalem there."
    names = linked(response, "Jerusalem")
    paper = [target.text for target in find_targets(question, response, names, "paper")]
    asked = [target.text for target in find_targets(question, response, names)]
    assert paper[-1] == "Jerusalem"
    assert paper.index("swiftly") < paper.index("Jerusalem")
    assert asked.index("Jerusalem") < asked.index("swiftly")
    assert sorted(paper) == sorted(asked)


def test_in_the_papers_order_what_the_question_asks_for_has_no_place_of_its_own() -> None:
    question, response = "when did the firm leave Paris?", "Ann moved it to Rome in 1983."
    names = linked(response, "Ann", "Rome")
    assert find_targets(question, response, names)[0].text == "1983"
    assert find_targets(question, response, names, "paper")[0].text in {"Ann", "Rome"}
