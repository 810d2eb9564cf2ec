"""What must be read before a sentence so that it can be understood."""

from __future__ import annotations

import pytest

from factloop.agents.safe.referents import HeadNouns, referents, refers_back
from factloop.tools.text.outline import read_outline


@pytest.mark.parametrize(
    "text",
    [
        "She died in Ulm.",
        "**It** met in Zephyr Hall from 1825.",
        "Its walls are of brick.",
        "The firm was sold to Lang.",
        "This was new.",
        "In 1850, she left for Ulm.",
        "In 1850 she left for Ulm.",
        "If one leaves aside what was told in the taverns, it held its sessions in Swan Hall.",
        "By then the mill had burned down.",
        "Later they moved to Ulm.",
        "Over the years the mill grew.",
        "After the war, the firm was sold.",
    ],
)
def test_a_sentence_whose_subject_is_said_elsewhere_refers_back(text: str) -> None:
    assert refers_back(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ada Lovelace died in Ulm.",
        "Ada Lovelace, the daughter of a poet, died in Ulm.",
        "The Lang Institute met in Ulm.",
        "In 1850, Ada Lovelace left her house.",
        "In 1850 Ada Lovelace left her house.",
        "Over the years, Ada Lovelace was a teacher.",
        "Over the years Ada Lovelace was a teacher.",
        "In her youth, Ada Lovelace sang.",
        "After she left Ulm, Ada Lovelace sang.",
        "With the help of the firm Ada Lovelace sang.",
        "Theodore left.",
        "Itinerant smiths came to Ulm.",
        "Nobody knows whether she left.",
        "1850",
    ],
)
def test_one_that_names_its_subject_does_not(text: str) -> None:
    assert not refers_back(text)


def test_words_of_names_are_known_in_small_letters_after_an_article() -> None:
    nouns = HeadNouns({"Swan", "Mill", "1850"})
    assert nouns.named_by("She saw the mill, this swan and a mill in 1850.") == {"Mill", "Swan"}
    assert nouns.named_by("The Mill of the hall.") == set()


def test_referents_reach_back_to_the_last_subject_with_a_name_and_leave_talk_out() -> None:
    parts = read_outline("Ada sang. Bo was a smith. He met Olga. It is a long story. Few know it all. He left Ulm.")
    names = [{"Ada"}, {"Bo"}, {"Olga"}, set[str](), set[str](), {"Ulm"}]
    assert referents(parts, names, HeadNouns({"Ada"})) == [[], [], [1], [1, 2], [], [1, 2, 4]]


def test_nothing_is_said_of_a_sentence_before_which_nothing_is_named() -> None:
    parts = read_outline("She sang. The mill burned.")
    assert referents(parts, [set(), set()], HeadNouns({"Mill"})) == [[], []]
