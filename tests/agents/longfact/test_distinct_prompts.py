from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.longfact.distinct import (
    ALIKE_FROM,
    LONGEST,
    PromptSelection,
    are_alike,
    content_words,
    keep_distinct,
)

ORCHID = "What can you tell me about the Ghost Orchid?"
MUSHROOM = "Who was Beatrix Potter?"


def kept_of(*proposed: str, topic: str = "botany", wanted: int = 99) -> PromptSelection:
    return keep_distinct(PromptSelection(), proposed, topic, wanted=wanted)


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        # Content words in braces; shared of all.
        (ORCHID, "Please give me an overview of the ghost orchid", True),  # {ghost orchid}: 2 of 2
        ("What is the Battle of Hastings?", "Describe the Battle of Hastings in 1066.", True),  # 2 of 3
        ("What is the Antarctic Treaty?", "What is the Antarctic Treaty System of 1959?", False),  # 2 of 4
        ("What is Amanita muscaria?", "What is Amanita phalloides?", False),  # 1 of 3
        ("Who is lawyer Robert Shapiro?", "Who is lawyer Robert Kardashian?", False),  # 2 of 4
        ("What is it?", "What was it?", False),  # nothing but words of asking: {what is it}, {what was it}, 2 of 4
        ("¿Qué es el Amanita?", "¿QUÉ ES EL AMANITA?", True),
        ("介绍灵隐寺", "介绍雷峰塔", False),
    ],
)
def test_prompts_about_one_thing_are_alike(one: str, other: str, *, alike: bool) -> None:
    assert are_alike(content_words(one), content_words(other)) is alike


def test_words_of_the_topic_tell_nothing() -> None:
    bulge, stalingrad = (
        "What is the Battle of the Bulge in World War II?",
        "What is the Battle of Verdun in World War II?",
    )
    assert kept_of(bulge, stalingrad, topic="trees").n_alike == 1  # {battle world war ii} of 6 words
    assert kept_of(bulge, stalingrad, topic="Battles of World War II").n_alike == 0


def test_each_drop_is_counted_by_its_reason() -> None:
    kept = kept_of(
        f" {ORCHID} ", ORCHID.upper(), "Tell me about the Ghost Orchid.", MUSHROOM, "", "?!?!?", "Two\nlines of it",
        "Odd \x1b[2J Kew Gardens", "x" * (LONGEST + 1), "Reversed \u202e Kew", "Who was Joseph Banks?",
    )  # fmt: skip
    assert kept == PromptSelection((ORCHID, MUSHROOM, "Who was Joseph Banks?"), n_repeated=1, n_alike=1, n_unusable=6)


def test_what_is_beyond_the_wanted_is_neither_kept_nor_counted() -> None:
    assert kept_of(ORCHID, MUSHROOM, MUSHROOM, wanted=1) == PromptSelection((ORCHID,))


TEXTS = st.lists(st.one_of(st.text(max_size=30), st.sampled_from([ORCHID, MUSHROOM, ORCHID.lower()])), max_size=12)


@given(TEXTS, st.integers(min_value=0, max_value=12))
def test_nothing_is_lost_and_none_of_the_kept_are_alike(proposed: list[str], wanted: int) -> None:
    kept = kept_of(*proposed, wanted=wanted)
    counted = len(kept.prompts) + kept.n_repeated + kept.n_alike + kept.n_unusable
    assert len(kept.prompts) <= wanted
    assert counted == len(proposed) or len(kept.prompts) == wanted
    words = [content_words(prompt, content_words("botany")) for prompt in kept.prompts]
    pairs = [(one, other) for place, one in enumerate(words) for other in words[:place]]
    assert all(len(one & other) < ALIKE_FROM * len(one | other) for one, other in pairs)


@given(TEXTS, TEXTS)
def test_in_two_parts_as_in_one(first: list[str], second: list[str]) -> None:
    assert keep_distinct(kept_of(*first), second, "botany", wanted=99) == kept_of(*first, *second)
