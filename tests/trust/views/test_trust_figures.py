from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.trustscore.records import ClaimStanding, Distractor, MeanScore, Source, SubstitutionLevel, TrustBC
from factloop.core.records import UnscoredReason
from factloop.trust.views import figures, words
from factloop.trust.views.words import Belief, Documents
from tests.trust.views.trust_sample import RESPONSE, broken_bc, consistent_bc, half_asked, rulers, unscored_bc


def test_nothing_is_left_without_words_and_no_two_look_alike() -> None:
    assert set(words.STANDING_WORDS) == set(words.STANDING_SIGNS) == set(ClaimStanding)
    assert (set(words.LEVEL_WORDS), set(words.SOURCE_WORDS)) == (set(SubstitutionLevel), set(Source))
    assert set(words.BELIEF_REASONS) == set(words.DOCUMENT_REASONS) == set(UnscoredReason)
    for signs in (words.STANDING_SIGNS.values(), [one.sign for one in Belief], [one.sign for one in Documents]):
        assert len(set(signs)) == len(signs)


FIRST = broken_bc().checks[2].model_copy(update={"number": 1})
AT_ONCE = broken_bc().model_copy(update={"checks": (FIRST,), "n_consistent": 0, "n_asked": 1})
ONE_UNSCORED = consistent_bc().model_copy(update={"n_consistent": 9, "n_unscored": 1})
TOO_FEW = unscored_bc(UnscoredReason.TOO_FEW_DISTRACTORS)


@pytest.mark.parametrize(
    ("bc", "basis", "spare"),
    [
        (consistent_bc(n=1), "consistent in 1 of 1 check", ""),
        (ONE_UNSCORED, "consistent in 9 of 10 checks, 1 unscored", ""),
        (AT_ONCE, "inconsistent in check 1", ""),
        (
            broken_bc(),
            "inconsistent in check 3, after 2 consistent",
            "1 check asked along with the deciding check does not count.",
        ),
        (half_asked().trust_bc, "unscored: the budget was used up", ""),
        (TOO_FEW, "unscored: fewer than three distractors could be made", ""),
    ],
)
def test_trust_bc_says_what_it_rests_on(bc: TrustBC, basis: str, spare: str) -> None:
    assert (figures.belief_basis(bc), figures.spare_checks(bc)) == (basis, spare)


@pytest.mark.parametrize(
    ("mean", "basis"),
    [
        (MeanScore(mean=0.5, n_scored=2, n_unscored=0), "mean of 2 answers"),
        (MeanScore(mean=1, n_scored=1, n_unscored=3), "mean of 1 answer, 3 unscored"),
        (MeanScore(mean=None, n_scored=0, n_unscored=3), "no answer was scored, 3 unscored"),
    ],
)
def test_a_mean_says_how_many_answers_it_rests_on(mean: MeanScore, basis: str) -> None:
    assert figures.mean_basis(mean) == basis


def distractor(text: str, response: str, span: tuple[int, int], by: str) -> Distractor:
    level, source = SubstitutionLevel.ENTITY, Source.DATE
    return Distractor(text=text, replaced=response[slice(*span)], span=span, by=by, level=level, source=source)


@pytest.mark.parametrize(
    ("response", "span", "by", "text", "marked"),
    [
        ("An apple fell.", (3, 8), "pear", "A pear fell.", "pear"),  # the article before it changed
        ("solomon did.", (0, 7), "David", "david did.", "david"),  # inserted in the case of what it replaces
        ("Paris", (0, 5), "Rome", "Something else", ""),
        ("Paris", (0, 5), "", "", ""),
    ],
)
def test_the_substitute_is_found_in_the_text(
    response: str, span: tuple[int, int], by: str, text: str, marked: str
) -> None:
    found = figures.substituted(distractor(text, response, span, by), response)
    assert (found.marked, found.before + found.marked + found.after) == (marked, text)


@given(st.text(), st.text(min_size=1), st.text(), st.text(min_size=1))
def test_a_plain_substitution_is_always_marked(before: str, old: str, after: str, new: str) -> None:
    response = before + old + after
    found = figures.substituted(
        distractor(before + new + after, response, (len(before), len(before + old)), new), response
    )
    assert (found.before, found.marked, found.after) == (before, new, after)


def test_long_texts_are_cut_around_the_substitute() -> None:
    near = figures.substituted(rulers()[0], RESPONSE).near(6)
    assert (near.before, near.marked, near.after) == ("King ", "David", " built…")
