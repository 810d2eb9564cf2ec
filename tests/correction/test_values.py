"""The right value for a wrong one: which it is, and that none is taken in doubt."""

from __future__ import annotations

import pytest

from factloop.core.records import Claim, Judgement, Verdict
from factloop.correction.values import Exchange, find_exchange
from factloop.tools.verifiers.lexical import LexicalVerifier

VERIFIER = LexicalVerifier()


def supports(claim: str, passage: str) -> bool:
    return VERIFIER.verify(claim, [passage]).label == "supported"


def claim_of(text: str, wrong: str = "", instead: str = "") -> Claim:
    judgement = Judgement(verdict=Verdict.NOT_SUPPORTED, contradicted=True, wrong=wrong, instead=instead)
    return Claim(id="c1", sentence=text, span=(0, len(text)), text=text, self_contained=text, judgement=judgement)


def exchanged(text: str, quote: str, wrong: str = "", instead: str = "") -> str | None:
    """The claim with the value that is found in the quote; None where none is."""
    found = find_exchange(claim_of(text, wrong, instead), text, [quote], [quote], supports)
    return None if found is None else found.in_text(text)


@pytest.mark.parametrize(
    ("claim", "quote", "mended"),
    [
        ("The ferry carries 300 passengers.", "The ferry carries 240 passengers.", "The ferry carries 240 passengers."),
        ("The library has seven rooms.", "The library has nine rooms.", "The library has nine rooms."),
        ("Nora has three cats and two dogs.", "Nora has two cats and two dogs.", "Nora has two cats and two dogs."),
        ("Seven cooks work here.", "Nine cooks work here.", "Nine cooks work here."),
        # the value of another attribute stands beside it
        (
            "Tickets cost 12 euros for adults and 9 euros for students.",
            "Tickets cost 12 euros for adults and 7 euros for students.",
            "Tickets cost 12 euros for adults and 7 euros for students.",
        ),
        ("Seniors pay £5.", "Children under 6 are free; adults pay £8 and seniors £6.", "Seniors pay £6."),
        ("The farm keeps 30 cows.", "The farm keeps 40 goats and 25 cows.", "The farm keeps 25 cows."),
        (  # beside other words all of the claim's, but for its names
            "Lena Voss published three novels in 2012.",
            "Voss then published three novels with Harrow Press of Rome in 2011.",
            "Lena Voss published three novels in 2011.",
        ),
        (
            "The deposit is two months' rent.",
            "A tenant pays three months' rent as deposit.",
            "The deposit is three months' rent.",
        ),
        ("Revenue was 5.2 million in 2019.", "Revenue was 4.8 million in 2019.", "Revenue was 4.8 million in 2019."),
    ],
)
def test_the_value_of_the_same_attribute_is_put_in(claim: str, quote: str, mended: str) -> None:
    assert exchanged(claim, quote) == mended


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("It was lit in 1697.", "It was lit in 1698 and 1699."),  # which of the two?
        ("The lake is 40 metres deep.", "The lake was dug in 1932."),  # no year for a depth
        ("The dose is 12.5 mg.", "The dose is given 3 times."),
        ("In 1697 it was lit, in 1697.", "It was lit in 1698."),  # which of the two is wrong?
        ("The garden has one pond.", "The garden has three ponds."),  # "three pond"
        ("The garden has three ponds.", "The garden has one pond."),
        ("The tower is 48 metres tall.", "The tower is tall, and 19 people work in the harbour."),
        ("Seniors pay £5.", "Adults pay £8 and children £6."),
        ("The fee is £40 a year.", "The fee is £45 a year for members and £60 for others."),
        ("The walk takes 3 hours.", "The walk takes 4 hours in summer and 6 hours in winter."),
        ("From 3 to 5 boats sail.", "From 4 to 6 boats sail."),  # two are wrong
    ],
)
def test_no_value_is_put_in_that_may_be_another_ones(claim: str, quote: str) -> None:
    assert exchanged(claim, quote) is None


@pytest.mark.parametrize(
    ("claim", "wrong", "instead", "mended"),
    [
        ("Ida Roth died in Oslo.", "Oslo", "Bergen", "Ida Roth died in Bergen."),
        ("The river flows north.", "north", "south", "The river flows south."),
        ("Ida is an engineer.", "engineer", "painter", "Ida is a painter."),
        ("Ida is a painter.", "painter", "engineer", "Ida is an engineer."),
        ("Green doors stand open.", "Green", "red", "Red doors stand open."),
    ],
)
def test_the_words_that_the_judge_names_are_exchanged(claim: str, wrong: str, instead: str, mended: str) -> None:
    assert exchanged(claim, mended, wrong, instead) == mended


@pytest.mark.parametrize(
    ("claim", "quote", "wrong", "instead"),
    [
        ("Ida met Bo.", "Bo met Ida.", "Ida Bo", "Ida Bo"),  # no phrase of the quote
        ("The shop never opens.", "The shop opens on Sundays.", "never", ""),
        ("Ida from Rome died in Oslo.", "Ida died in Rome.", "Oslo", "Rome"),  # the claim has it already
        ("Ida died in Oslo, Oslo of all places.", "Ida died in Bergen.", "Oslo", "Bergen"),
        ("The lamp is green.", "The paint in the hall is red.", "green", "red"),  # of another thing
        ("The pump weighs 48.5 kg.", "The pump weighs 50 kg.", "48", "50"),
    ],
)
def test_words_are_not_exchanged_in_doubt(claim: str, quote: str, wrong: str, instead: str) -> None:
    assert exchanged(claim, quote, wrong, instead) in (None, "The pump weighs 50 kg.")


def test_a_value_stands_as_a_word_and_once() -> None:
    assert Exchange("48", "50").in_text("It took 48 days, not 48.5 or 1,248.") == "It took 50 days, not 48.5 or 1,248."
    assert Exchange("48", "50").in_text("Of 48 days, 48 were wet.") is None
    assert Exchange("Oslo", "Bergen").in_text("The **Oslo** line") == "The **Bergen** line"
    assert not Exchange("Oslo", "Bergen").stands_in("Osloenser")


ROW = "year: 1975; employees: 690; revenue_million_kroner: 102; managing_director: Nils Aamodt"


@pytest.mark.parametrize(("wrong", "instead"), [("120 million", "102"), ("120", "102"), ("", "")])
def test_of_a_row_the_cell_is_taken_whose_name_the_claim_has(wrong: str, instead: str) -> None:
    claim = "Revenue reached 120 million kroner in 1975."
    found = find_exchange(claim_of(claim, wrong, instead), claim, [ROW], [ROW], lambda *_: True)
    assert found == Exchange("120", "102")


@pytest.mark.parametrize(("claim", "quote"), [("One guest left.", "Three left."), ("3 huts burned.", "1 burned.")])
def test_a_number_is_not_put_before_a_noun_of_the_other_number(claim: str, quote: str) -> None:
    assert find_exchange(claim_of(claim), claim, [quote], [quote], lambda *_: True) is None


@pytest.mark.parametrize(("wrong", "instead", "mended"), [("89", "79", "79"), ("89", "25", None), ("", "", None)])
def test_of_a_row_the_cell_is_taken_that_the_judge_names_and_confirms(
    wrong: str, instead: str, mended: str | None
) -> None:
    row = "Plan: Team; Monthly price: €79; Seats: 25; SSO: yes"
    found = exchanged("The Team plan costs €89 per month.", row, wrong, instead)
    assert found == (None if mended is None else f"The Team plan costs €{mended} per month.")


LEAVE, MORE = "Leave of 6 days needs approval.", "Leave of more than 10 days needs approval."


@pytest.mark.parametrize(
    ("claim", "quote", "mended"),
    [
        (LEAVE, MORE, MORE),
        ("Leave of at least 6 days needs approval.", MORE, MORE),
        ("Leave of more than 6 days needs approval.", MORE, MORE),
        ("3 days are needed.", "At least 5 days are needed.", "At least 5 days are needed."),
        ("The lift carries 6 people.", "The lift carries up to 8 people.", "The lift carries up to 8 people."),
        ("The fee is £3.", "The fee is over £5.", "The fee is over £5."),
        ("The bridge is 300 m long.", "The bridge is about 400 m long.", "The bridge is about 400 m long."),
        ("The mill is over 300 m long.", "The mill is 400 m long.", "The mill is 400 m long."),
        ("Mail is read within 3 days.", "Mail is read within 5 days.", "Mail is read within 5 days."),
        ("Seniors pay £5.", "Children under 6 are free; adults pay £8 and seniors £6.", "Seniors pay £6."),
    ],
)
def test_a_figure_comes_with_the_words_that_make_a_bound_of_it(claim: str, quote: str, mended: str) -> None:
    found = find_exchange(claim_of(claim), claim, [quote], [quote], lambda *_: True)
    assert found is not None
    assert found.in_text(claim) == mended


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("A 6 day leave needs approval.", MORE),  # "A more than 10 day leave"
        ("The 6-day leave needs approval.", MORE),
        ("Mail takes 3 days.", "Mail is read within 5 days."),  # "takes within 5 days"
        ("A group has 3 people.", "A group has 5 people or more."),
        ("A group has 3 people.", "A group has 5+ people."),
        ("The fee is 3 euros.", "The fee is over £5."),
    ],
)
def test_where_the_bound_has_no_place_the_figure_is_not_taken(claim: str, quote: str) -> None:
    assert find_exchange(claim_of(claim), claim, [quote], [quote], lambda *_: True) is None


def test_a_figure_with_its_bound_is_taken_only_where_the_verifier_supports_it() -> None:
    def is_plain(said: str, _passage: str) -> bool:
        return "more" not in said

    assert find_exchange(claim_of(LEAVE), LEAVE, [MORE], [MORE], is_plain) is None
