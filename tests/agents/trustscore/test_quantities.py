"""Other dates and numbers keep the form of the original, and mean something else."""

from __future__ import annotations

import random
import re
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.trustscore.distractors.base import Request, Substitute, Target
from factloop.agents.trustscore.distractors.numbers import ordinal_suffix
from factloop.agents.trustscore.distractors.sources import QuantitySource
from factloop.agents.trustscore.distractors.targets import find_tiers
from factloop.agents.trustscore.records import Source
from factloop.tools.text.words import CARDINALS, ORDINALS

SEEDS = st.integers(0, 10**6)


def targets(response: str) -> list[Target]:
    return [target for tier in find_tiers("", response, ()) for target in tier]


def quantity(response: str) -> Target:
    """The one date or number of the response."""
    found = [one for one in targets(response) if one.kind in {"date", "number"}]
    assert len(found) == 1, found
    return found[0]


async def others(response: str, seed: int = 0, limit: int = 40) -> list[str]:
    target = quantity(response)
    found = await QuantitySource().substitutes(target, Request(response, "", limit, random.Random(seed)))
    texts = [one.text for one in found]
    assert len(set(texts)) == len(texts) <= limit
    assert target.text not in texts
    return texts


@pytest.mark.parametrize(
    ("response", "found", "form", "least"),
    [
        ("It came out in 1983.", "1983", r"19[6-9]\d|200\d", 30),
        ("Released on June 5, 1983.", "June 5, 1983", r"[A-Z][a-z]+ [1-3]?\d, (19|20)\d\d", 30),
        ("Jan. 5th, 1983", "Jan. 5th, 1983", r"[A-Z][a-z]{2}\. [1-3]?\d(st|nd|rd|th), (19|20)\d\d", 30),
        ("on the 5th of June", "5th of June", r"[1-3]?\d(st|nd|rd|th) of [A-Z][a-z]+", 30),
        ("in June 1983", "June 1983", r"[A-Z][a-z]+ (19|20)\d\d", 30),
        ("May.", "May", r"[A-Z][a-z]+", 11),
        ("in May", "May", r"[A-Z][a-z]+", 11),
        ("in the 1980s", "1980s", r"(1[789]|20)\d0s", 20),
        ("in the '80s", "'80s", r"'[2-9]0s", 7),
        ("in the 19th century", "19th", r"\d{1,2}(st|nd|rd|th)", 20),
        ("in the twenty-first century", "twenty-first", r"[a-z]+", 20),
        ("the 1997-98 season", "1997-98", r"(19|20)\d\d-\d\d", 30),
        ("from 1868 to 1871", "1868 to 1871", r"18\d\d to 18\d\d", 30),
        ("in 8000 BC", "8000 BC", r"\d+00 BC", 30),
        ("50%", "50%", r"\d{1,2}%|100%", 30),
        ("1.62oz", "1.62", r"\d\.\d\d", 30),
        ("It cost $1.5 million.", "$1.5 million", r"\$\d\.\d million", 30),
        ("1,234,567 people", "1,234,567", r"(\d|\d\d\d)(,\d{3}){1,2}", 30),
        ("1500 metres", "1500", r"\d+00", 20),
        ("0.5 mg", "0.5", r"\d\.\d", 30),
        ("007", "007", r"\d{3}", 30),
        ("Twenty-four hours", "Twenty-four", r"[A-Z][a-z]+(-[a-z]+)?", 30),
        ("five hundred", "five hundred", r"(two|three|four|six|seven|eight|nine|one) hundred", 7),
        ("the first dog", "first", r"[a-z]+(-[a-z]+)?", 30),
    ],
)
async def test_others_have_the_form_of_the_original(response: str, found: str, form: str, least: int) -> None:
    assert quantity(response).text == found
    texts = await others(response)
    assert len(texts) >= least
    assert [text for text in texts if not re.fullmatch(form, text)] == []


@pytest.mark.parametrize(
    "response",
    ["I am here", "He may march.", "May wrote it.", "1. Paris\n2. Rome", "A day, U. S.", "No one is the one.", "", "…"],
)
def test_what_only_looks_like_a_date_or_number_is_left(response: str) -> None:
    assert [one.text for one in targets(response) if one.kind in {"date", "number"}] == []


@given(st.integers(1000, 2099), SEEDS)
async def test_a_year_stays_a_year_at_a_plausible_distance(year: int, seed: int) -> None:
    years = [int(text) for text in await others(str(year), seed)]
    assert len(years) >= 30
    assert all(1000 <= one <= max(2025, year + 4) and one != year for one in years)
    # 15 years, or a twentieth of the time since then; where the future cuts that short, as far back as 35 need.
    span = max(15, (2025 - year) // 20)
    assert all(abs(one - year) <= span for one in years[:15])
    assert all(abs(one - year) <= span + 35 for one in years)


@given(
    st.dates(date(1000, 1, 1), date(2030, 12, 31)), st.sampled_from(["%B %d, %Y", "%d %B %Y", "%A, %d %B %Y"]), SEEDS
)
async def test_dates_are_in_the_calendar(day: date, form: str, seed: int) -> None:
    found = await others(day.strftime(form), seed, limit=12)
    assert len(found) == 12
    for text in found:
        parsed = datetime.strptime(text, form)
        assert parsed.strftime("%A") in text or "%A" not in form
        assert parsed.date() != day


@given(st.decimals(0, 100, places=1), SEEDS)
async def test_a_percentage_stays_within_its_range(share: object, seed: int) -> None:
    texts = await others(f"{share}%", seed)
    assert len(texts) >= 9
    assert all(0 <= float(text.rstrip("%")) <= 100 for text in texts)
    assert all(len(text.rstrip("%").partition(".")[2]) == 1 for text in texts)


@given(st.integers(0, 10**12), SEEDS, st.sampled_from(["{}", "{:,}", "{:05d}"]))
async def test_no_number_has_the_value_of_the_original(value: int, seed: int, form: str) -> None:
    if 1000 <= value <= 2099 and form != "{:,}":
        return
    texts = await others(form.format(value) + " of them", seed)
    values = [int(text.replace(",", "")) for text in texts]
    assert len(values) >= 15
    assert value not in values
    assert len(set(values)) == len(values)


@given(st.sampled_from([*CARDINALS, *ORDINALS[1:]]), SEEDS)
async def test_number_words_stay_number_words(word: str, seed: int) -> None:
    table = CARDINALS if word in CARDINALS else ORDINALS
    response = f"the {word} dogs" if word != "one" else "one dog"
    assert {text in table for text in await others(response, seed)} == {True}


def test_number_words_are_spelt_as_they_are_said() -> None:
    assert [CARDINALS[n] for n in (0, 13, 20, 24, 99)] == ["zero", "thirteen", "twenty", "twenty-four", "ninety-nine"]
    assert [ORDINALS[n] for n in (1, 5, 12, 20, 22)] == ["first", "fifth", "twelfth", "twentieth", "twenty-second"]
    suffixes = {1: "st", 2: "nd", 3: "rd", 4: "th", 11: "th", 12: "th", 13: "th", 21: "st", 111: "th"}
    assert {number: ordinal_suffix(number) for number in suffixes} == suffixes


async def test_round_numbers_come_first_for_a_round_one() -> None:
    texts = await others("90 miles")
    assert all(int(text) % 5 == 0 for text in texts[:20])  # 45 to 180 by fives, without 90
    assert any(int(text) % 5 for text in texts)


async def test_both_ends_of_a_span_move_together() -> None:
    assert {int(text[8:]) - int(text[:4]) for text in await others("1868 to 1871")} == {3}
    assert {(int(text[5:]) - int(text[:4])) % 100 for text in await others("1999-00")} == {1}


async def test_each_says_what_it_is_and_other_words_are_left() -> None:
    source, rng = QuantitySource(), random.Random(0)
    target = quantity("In 1983.")
    assert await source.substitutes(target, Request("In 1983.", "", 1, rng)) == [
        Substitute("1996", Source.DATE, "another year"),
    ]
    number = await source.substitutes(quantity("24 hours"), Request("24 hours", "", 1, rng))
    assert [(one.source, one.detail) for one in number] == [(Source.NUMBER, "another number")]
    noun = next(one for one in targets("24 hours") if one.kind == "noun")
    assert await source.substitutes(noun, Request("24 hours", "", 5, rng)) == ()
