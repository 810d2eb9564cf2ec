from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factloop.agents.trustscore.records import ClaimStanding, Distractor, MeanScore, Relation, Source, SubstitutionLevel
from factloop.core.records import UnscoredReason
from factloop.trust.views import figures as trust_figures
from factloop.trust.views import words as trust_words
from factloop.trust.views.words import Belief, Documents, belief_of, documents_of
from tests.trust.views.trust_sample import (
    RESPONSE,
    broken_bc,
    consistent_bc,
    half_asked,
    judged_fc,
    rulers,
    unscored_bc,
    unscored_fc,
)


def test_nothing_is_left_without_words() -> None:
    assert set(trust_words.STANDING_WORDS) == set(trust_words.STANDING_SIGNS) == set(ClaimStanding)
    assert set(trust_words.LEVEL_WORDS) == set(SubstitutionLevel)
    assert set(trust_words.SOURCE_WORDS) == set(Source)
    assert set(trust_words.BELIEF_REASONS) == set(trust_words.DOCUMENT_REASONS) == set(UnscoredReason)


def test_every_outcome_is_told_apart_without_colour() -> None:
    assert len({belief.sign for belief in Belief}) == len({belief.words for belief in Belief}) == 3
    assert len({documents.sign for documents in Documents}) == len({one.words for one in Documents}) == 4
    assert len(set(trust_words.STANDING_SIGNS.values())) == len(set(trust_words.STANDING_WORDS.values())) == 5


def test_the_four_groups_have_their_names() -> None:
    assert trust_words.STANDING_WORDS[ClaimStanding.SUPPORTED_INSISTED] == "supported, and insisted upon"
    assert trust_words.STANDING_WORDS[ClaimStanding.SUPPORTED_WAVERING] == "supported, but wavering"
    assert trust_words.STANDING_WORDS[ClaimStanding.UNSUPPORTED_INSISTED] == "unsupported, but insisted upon"
    assert trust_words.STANDING_WORDS[ClaimStanding.UNSUPPORTED_WAVERING] == "unsupported, and wavering"


def test_no_value_is_neither_consistent_nor_inconsistent() -> None:
    assert belief_of(consistent_bc()) is Belief.CONSISTENT
    assert belief_of(broken_bc()) is Belief.INCONSISTENT
    assert belief_of(unscored_bc(UnscoredReason.BUDGET)) is belief_of(None) is Belief.UNSCORED
    assert [documents_of(judged_fc(relation)) for relation in Relation] == [
        Documents.SUPPORT,
        Documents.NEUTRAL,
        Documents.CONTRADICT,
    ]
    assert documents_of(unscored_fc()) is Documents.UNSCORED


def test_trust_bc_says_what_it_rests_on() -> None:
    assert trust_figures.belief_basis(consistent_bc()) == "consistent in 10 of 10 checks"
    assert trust_figures.belief_basis(consistent_bc(n=1)) == "consistent in 1 of 1 check"
    assert trust_figures.belief_basis(broken_bc()) == "inconsistent in check 3, after 2 consistent"
    assert trust_figures.belief_basis(half_asked().trust_bc) == "unscored: the budget was used up"
    few = unscored_bc(UnscoredReason.TOO_FEW_DISTRACTORS)
    assert trust_figures.belief_basis(few) == "unscored: fewer than three distractors could be made"


def test_the_first_check_may_end_it() -> None:
    first = broken_bc().checks[2].model_copy(update={"number": 1})
    bc = broken_bc().model_copy(update={"checks": (first,), "n_consistent": 0, "n_asked": 1})
    assert trust_figures.belief_basis(bc) == "inconsistent in check 1"


def test_a_check_without_choice_is_named_beside_the_value() -> None:
    bc = consistent_bc().model_copy(update={"n_consistent": 9, "n_unscored": 1})
    assert trust_figures.belief_basis(bc) == "consistent in 9 of 10 checks, 1 unscored"


def test_checks_that_do_not_count_are_said_so() -> None:
    assert trust_figures.spare_checks(consistent_bc()) == ""
    assert trust_figures.spare_checks(unscored_bc(UnscoredReason.TOO_FEW_DISTRACTORS)) == ""
    assert trust_figures.spare_checks(broken_bc()) == "1 check, asked beside the one that ended it, does not count."


def test_missing_numbers_are_dashes() -> None:
    assert trust_figures.number(None) == trust_figures.score(None) == "–"
    assert [trust_figures.score(value) for value in (0.0, 0.2, 1.0)] == ["0", "0.2", "1"]
    assert trust_figures.number(0.0) == "0.00"


def test_a_mean_says_how_many_answers_it_rests_on() -> None:
    assert trust_figures.mean_basis(MeanScore(mean=0.5, n_scored=2, n_unscored=0)) == "mean of 2 answers"
    assert trust_figures.mean_basis(MeanScore(mean=1, n_scored=1, n_unscored=3)) == "mean of 1 answer, 3 unscored"
    assert (
        trust_figures.mean_basis(MeanScore(mean=None, n_scored=0, n_unscored=3)) == "no answer was scored, 3 unscored"
    )


def test_documents_say_what_they_rest_on() -> None:
    assert trust_figures.documents_basis(judged_fc()) == "3 passages judged, 2 cited"
    assert trust_figures.documents_basis(judged_fc(cited=())) == "3 passages judged, none cited"
    assert trust_figures.documents_basis(unscored_fc()) == "unscored: no corpus to check against"


def test_a_choice_is_said_by_its_letter() -> None:
    said = [trust_figures.choice(check) for check in broken_bc().checks]
    assert said[1:3] == ["chose C, the answer", "chose A instead of the answer, D"]
    assert [trust_figures.choice(check) for check in half_asked().trust_bc.checks][1:] == [
        "unscored: no choice could be read in the reply",
        "unscored: the budget was used up",
    ]


@pytest.mark.parametrize(
    ("response", "span", "by", "text", "marked"),
    [
        (RESPONSE, (5, 12), "David", "King David built the first temple in Jerusalem.", "David"),
        ("An apple fell.", (3, 8), "pear", "A pear fell.", "pear"),  # the article before it changed
        ("solomon did.", (0, 7), "David", "david did.", "david"),  # inserted in the case of what it replaces
        ("It was 2017", (7, 11), "2016", "It was 2016", "2016"),
        ("Paris", (0, 5), "Rome", "Something else", ""),
        ("Paris", (0, 5), "", "", ""),
    ],
)
def test_the_substitute_is_found_in_the_text(
    response: str, span: tuple[int, int], by: str, text: str, marked: str
) -> None:
    distractor = Distractor(
        text=text, replaced=response[slice(*span)], span=span, by=by, level=SubstitutionLevel.ENTITY, source=Source.DATE
    )
    found = trust_figures.substituted(distractor, response)
    assert found.marked == marked
    assert found.before + found.marked + found.after == text


@given(st.text(), st.text(min_size=1), st.text(), st.text(min_size=1))
def test_a_plain_substitution_is_always_marked(before: str, old: str, after: str, new: str) -> None:
    distractor = Distractor(
        text=before + new + after,
        replaced=old,
        span=(len(before), len(before + old)),
        by=new,
        level=SubstitutionLevel.ANY_WORD,
        source=Source.VOCABULARY,
    )
    found = trust_figures.substituted(distractor, before + old + after)
    assert (found.before, found.marked, found.after) == (before, new, after)


def test_long_texts_are_cut_around_the_substitute() -> None:
    near = trust_figures.substituted(rulers()[0], RESPONSE).near(6)
    assert (near.before, near.marked, near.after) == ("King ", "David", " built…")
