from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from factloop.checking.views.plain import in_words, render_csv
from factloop.checking.views.shown import print_report, render_html
from factloop.core.records import Claim, FactualityReport, UnscoredReason, Verdict, Vote
from factloop.core.report_warnings import jury_warning
from factloop.correction.views.html import render_correction_html
from factloop.reports.claims import (
    READING_ORDER,
    REASON_WORDS,
    ClaimView,
    Status,
    problems_first,
    status_of,
    tally,
    tally_reasons,
    views_of,
    worst,
)
from factloop.reports.faults import faults
from factloop.reports.figures import place_of
from factloop.service.pages import VERDICTS, load_assets
from factloop.testing.words import factual_failure
from tests.correction.views import correction_samples
from tests.reports.claims_about import claim
from tests.reports.html_page import text_of, words
from tests.reports.sample import REASONS, make_report, sample_report

VIEWS = {one.claim.id: one for one in views_of(sample_report().claims)}
SUPPORTED, NO_EVIDENCE, CONTRADICTED, IRRELEVANT, UNSCORED = (VIEWS[f"c{n}"] for n in (1, 4, 8, 9, 14))
TRAM = "In 2019 the council voted for a new tram in Elm Street. Work started in March 2022."
LIT = "The tower was designed by Smeaton. It was first lit in 1759. It stood until 1877."
ROCK = "The rock lies off Plymouth. Many ships were lost there."
SENTENCE = "It was first lit in 1759."


def view(*about: Any, **judged: Any) -> ClaimView:
    return ClaimView(claim(*about, **judged))


def _terminal(report: FactualityReport) -> str:
    written = io.StringIO()
    print_report(report, Console(file=written, width=100))
    return written.getvalue()


OUTPUTS: dict[str, Callable[[FactualityReport], str]] = {
    "terminal": _terminal,
    "page": render_html,
    "brief": in_words,
    "CSV": render_csv,
    "message of a test": lambda report: factual_failure((), report, views_of(report.claims)),
    "correction": lambda _: render_correction_html(correction_samples.accepted()),
    "service": lambda _: load_assets()[VERDICTS].body.decode(),
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_output_has_the_words_of_the_view(output: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for status in (Status.CONTRADICTED, Status.NO_EVIDENCE):
        monkeypatch.setattr(status, "words", f"new words of {status.value}")
    said = OUTPUTS[output](sample_report()).casefold()
    assert "new words of contradicted" in said
    assert "new words of no_evidence" in said
    assert "no evidence found" not in said


def test_statuses_and_reasons_are_told_apart_without_colour() -> None:
    assert set(READING_ORDER) == set(Status)
    assert set(REASON_WORDS) == set(UnscoredReason)
    assert len({status.symbol for status in Status}) == len({status.words for status in Status}) == len(Status)


def test_problems_come_first_each_kind_in_its_order() -> None:
    given = [IRRELEVANT, UNSCORED, SUPPORTED, VIEWS["c10"], CONTRADICTED, NO_EVIDENCE]
    assert problems_first(given) == [CONTRADICTED, VIEWS["c10"], NO_EVIDENCE, UNSCORED, IRRELEVANT, SUPPORTED]


def test_the_worst_claim_decides_for_its_sentence() -> None:
    ranked = [one.claim for one in (CONTRADICTED, NO_EVIDENCE, UNSCORED, SUPPORTED, IRRELEVANT)]
    for place, one in enumerate(ranked):
        assert worst(ranked[place:][::-1]) is status_of(one)


def test_tallies_add_up_to_the_claims() -> None:
    # 13 judged: 9 supported (one of them a duplicate), 1 contradicted, 2 without evidence, 1 irrelevant. 9 unscored.
    claims = [one.claim for one in VIEWS.values()]
    assert [tally(claims)[status] for status in Status] == [1, 2, 9, 9, 1]
    assert tally_reasons(claims) == dict.fromkeys(REASONS, 1)


def test_a_claim_knows_the_number_of_the_one_that_it_repeats() -> None:
    first, other, again = claim("x"), claim("y"), claim("x")
    again = again.model_copy(update={"duplicate_of": first.id})
    elsewhere = other.model_copy(update={"id": "z", "duplicate_of": "gone"})
    assert [one.repeats for one in views_of([first, again, elsewhere])][2] is None
    assert views_of([first, again.model_copy(update={"id": "again"})])[1].repeats == 1


@pytest.mark.parametrize(
    ("passages", "judged", "decides"),
    [
        ((LIT,), {"quote": SENTENCE}, SENTENCE),
        ((ROCK, LIT.replace(" first", "\n  first")), {"quote": SENTENCE}, SENTENCE.replace(" first", "\n  first")),
        ((LIT,), {"rationale": "The passage says “was first lit in 1759”."}, SENTENCE),
        ((LIT,), {"rationale": 'The passage says "was first lit in 1759 …".'}, SENTENCE),
        ((LIT,), {"rationale": "The passage says «first lit in 1759»."}, SENTENCE),
        ((SENTENCE,), {}, SENTENCE),
        ((SENTENCE, ROCK), {}, None),
        ((LIT,), {}, None),
        ((LIT,), {"quote": "It was never lit at all."}, None),
        ((LIT,), {"rationale": "The passage gives “another year” for it."}, None),
        ((LIT,), {"rationale": "It says “designed by”."}, None),
        ((LIT,), {"contradicted": False, "quote": SENTENCE}, None),
    ],
)
def test_the_sentence_that_decides_is_quoted_or_alone_and_never_guessed(
    passages: tuple[str, ...], judged: dict[str, Any], decides: str | None
) -> None:
    one = view("x", *passages, cited=tuple(f"e{n}" for n, _ in enumerate(passages, 1)), **judged)
    assert (None if one.deciding is None else one.deciding.text) == decides


@pytest.mark.parametrize("output", ["terminal", "page"])
def test_what_a_claim_that_needs_reading_lacks_stands_beside_it(output: str) -> None:
    said = "None of the passages mentions “1769”. The nearest says: “It was first lit in 1759.”"
    judged: dict[str, Any] = {"verdict": None, "unscored_reason": UnscoredReason.NEEDS_READING}
    lacks = claim("It was lit in 1769.", LIT, quote=SENTENCE, rationale=said, **judged)
    shown = words(text_of(OUTPUTS[output](make_report(lacks.text, (lacks,)))).lower())
    assert re.search(r"needs reading .*none of the passages mentions “1769”\. (?!the nearest says)", shown)


@pytest.mark.parametrize(
    "judged",
    [
        {"quote": SENTENCE},
        {"rationale": "No sentence speaks of “1769”. The nearest says: “It was first lit in 1759.”"},
        {"rationale": "The nearest says: “was first lit in”.", "cited": ()},
    ],
)
def test_of_a_claim_without_evidence_the_nearest_sentence_is_marked(judged: dict[str, Any]) -> None:
    one = view("It was lit in 1769.", ROCK, LIT, contradicted=False, **judged)
    assert one.marked is not None
    assert (one.marked.evidence.id, one.marked.text, one.marked.decides) == ("e2", SENTENCE, False)
    assert (one.cited, [row.number for row in one.evidence]) == ((), [2, 1])


@pytest.mark.parametrize(
    ("text", "passages", "judged", "closest"),
    [
        ("The tower was lit in 1769.", (LIT,), {"rationale": "[1] gives 1759.", "wrong": "1769"}, SENTENCE),
        ("The tower stood to 1877.", (ROCK, LIT), {"verdict": Verdict.SUPPORTED}, "It stood until 1877."),
        ("The new tram in Elm Street began in March 2022.", (TRAM,), {}, "Work started in March 2022."),
        ("Ships sank.", (ROCK, LIT), {}, None),
        ("It was lit.", (LIT,), {"verdict": None, "unscored_reason": UnscoredReason.DISPUTED}, None),
    ],
)
def test_of_a_verdict_by_whole_passages_the_closest_sentence_is_marked(
    text: str, passages: tuple[str, ...], judged: dict[str, Any], closest: str | None
) -> None:
    one = claim(text, *passages, cited=tuple(f"e{n}" for n, _ in enumerate(passages, 1)), **judged)
    marked = ClaimView(one).marked
    assert (marked and (marked.text, marked.decides)) == (closest and (closest, False))
    for output in ("terminal", "page"):
        shown = words(text_of(OUTPUTS[output](make_report(one.text, (one,)))))
        assert closest is None or closest in shown.partition("Evidence")[0]
        assert "· [1]" not in shown


def test_the_passage_that_decides_is_shown_first_and_keeps_its_number() -> None:
    one = view("x", ROCK, "Ships pass.", LIT, cited=("e2", "e3"), quote="It stood until 1877.")
    assert [(row.number, row.is_cited) for row in one.evidence] == [(3, True), (2, True), (1, False)]


@pytest.mark.parametrize(
    ("passage", "section"),
    [
        (LIT, "Towers"),
        (f"{ROCK}\n\nTowers › The third\n{LIT}", "Towers › The third"),
        (f"{ROCK}\n\nThe second\nIt burned down.\n\nThe third\n{LIT}\n\nThe fourth\nIt stands.", "The third"),
        (f"{ROCK}\nThree towers stood there\n{LIT}", "Towers"),
        (f"{ROCK}\n\nMany towers were built.\n{LIT}", "Towers"),
        (f"{ROCK}\n\nA paragraph that an editor wrapped at some seventy characters in a\nfile. {LIT}", "Towers"),
    ],
    ids=["begins there", "a path", "the last before it", "a paragraph", "a sentence", "a wrapped line"],
)
def test_a_sentence_stands_under_the_last_heading_before_it(passage: str, section: str) -> None:
    one = claim("It was lit in 1769.", passage, quote=SENTENCE)
    evidence = tuple(item.model_copy(update={"section": "Towers"}) for item in one.evidence)
    found = ClaimView(one.model_copy(update={"evidence": evidence})).deciding
    assert found is not None
    assert found.section == section


@pytest.mark.parametrize(("second", "place"), [(len(SENTENCE), "page 1"), (9, "page 1-2"), (0, "page 2")])
def test_the_page_of_the_sentence_is_named_and_not_those_of_its_passage(second: int, place: str) -> None:
    one = claim("It was lit in 1769.", f"{SENTENCE} It burned.", quote=SENTENCE)
    item = one.evidence[0].model_copy(update={"source": "a.pdf#page=1-2", "pages": ((0, 1), (second, 2))})
    found = ClaimView(one.model_copy(update={"evidence": (item,)})).deciding
    assert found is not None
    assert place_of(found.source) == place


def test_what_a_jury_said_is_shown_where_it_disagrees() -> None:
    claim = sample_report().claims[0]
    rationale = claim.judgement.rationale
    votes = (
        Vote(judged_by="a", verdict=Verdict.SUPPORTED, rationale=rationale),
        Vote(judged_by="b", verdict=Verdict.NOT_SUPPORTED, contradicted=True, rationale="[1] gives 1816."),
        Vote(judged_by="c", unscored_reason=UnscoredReason.TOOL_FAILURE, rationale="c is down."),
    )
    split = claim.model_copy(update={"judgement": claim.judgement.model_copy(update={"votes": votes})})
    failed = "c: unscored: a model or search call failed (c is down.)"
    said = ("a: supported", "b: contradicted ([1] gives 1816.)", failed)
    assert ClaimView(split).jury == said
    report = sample_report().model_copy(update={"claims": (split,)})
    file = io.StringIO()
    print_report(report, Console(file=file, width=200))
    assert all(line in render_html(report) and line in file.getvalue() for line in said)
    assert jury_warning((split, claim)) == ("The jury's models disagree on 1 of 1 claim.",)


def apart(one: ClaimView) -> str:
    marks = {"same": "{}", "removed": "[{}]", "inserted": "{{{}}}"}
    sides = (
        "".join(marks[piece.kind].format(piece.text) for piece in side) for side in (one.pair.claim, one.pair.source)
    )
    return " / ".join(sides)


@pytest.mark.parametrize(
    ("text", "judged", "shown"),
    [
        (
            "It was first lit in 1769.",
            {"wrong": "1769", "instead": "1759"},
            "It was first lit in [1769]. / It was first lit in {1759}.",
        ),
        ("It was first lit in 1769.", {"wrong": "in 1769"}, "It was first lit [in 1769]. / It was first lit in 1759."),
        ("It weighs 17.5 kg.", {"wrong": "5", "instead": "9"}, "It weighs 17.5 kg. / It was first lit in 1759."),
        ("It was first lit by oil in 1769.", {}, "It was first lit [by oil ]in [1769]. / It was first lit in {1759}."),
        ("It was, first lit in 1769.", {}, "It was, first lit in [1769]. / It was first lit in {1759}."),
        (
            "Nobody ever saw a lamp on that rock.",
            {},
            "Nobody ever saw a lamp on that rock. / It was first lit in 1759.",
        ),
        ("It was lit in 1759.", {"verdict": Verdict.SUPPORTED}, "It was lit in 1759. / It was first lit in 1759."),
    ],
)
def test_a_claim_and_its_source_are_a_pair_with_the_difference_marked(
    text: str, judged: dict[str, Any], shown: str
) -> None:
    assert apart(view(text, LIT, quote=SENTENCE, **judged)) == shown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Plan: Team; Price: 15 €.", "In the row of Team, “Price” is 15 €."),
        ("Team; Calls per day: 20,000.", "In the row of Team, “Calls per day” is 20,000."),
        ("Plan: Team; Price: free.", "Plan: Team; Price: free."),
        ("Team costs **15 €**.", "Team costs 15 €."),
    ],
)
def test_the_claim_of_a_row_reads_as_a_sentence(text: str, said: str) -> None:
    assert view(text, sentence="Team | 15 € | 20,000").text == said


def test_each_judged_cell_of_a_row_is_marked() -> None:
    held, fails = claim("Plan: Team; Price: 15 €.", verdict=Verdict.SUPPORTED), claim("Plan: Team; Users: up to 50.")
    found = faults(ROW, [held, fails], HEAD)
    assert [(ROW[one.start : one.end], one.status.value, one.claim) for one in found] == [
        ("15 €", "supported", held.id),
        ("up to 50", "contradicted", fails.id),
    ]


FAULTY = "The first tower was built by Winstanley, a painter, and was lit in 1698."
BUILT = claim("The first tower was built by Winstanley.", sentence=FAULTY, verdict=Verdict.SUPPORTED)
PAINTER = claim("Winstanley was a painter.", sentence=FAULTY, verdict=Verdict.SUPPORTED)
LAMP = "The first tower was lit in 1698."


DESTROYED = "It was destroyed by the storm, and Winstanley died in it."
DIED = claim("Winstanley died in it.", verdict=None, unscored_reason=UnscoredReason.AMBIGUOUS)
CANDLES = claim("Its lamp burned candles.")
LONG = f"It was lit in 1698{', and lit again' * 100}."
VOSS = "Henrietta Voss was an engineer who designed the Kestrel engine."
OF_VOSS = claim("Henrietta Voss was an engineer."), claim("Henrietta Voss designed the Kestrel engine.")


@pytest.mark.parametrize(
    ("sentence", "claims", "fails"),
    [
        # the words that the judge names, whole and in either case, with what the source says
        (FAULTY, (BUILT, claim(LAMP, wrong="1698", instead="1696")), [("1698", "1698 · the source says 1696")]),
        ("Port 80 and port 8080.", (claim("Port 80 is used.", wrong="PORT 80"),), [("Port 80", "contradicted")]),
        ("Version 18 of 8.", (claim("x 8", wrong="8"),), [("8", "contradicted")]),
        # else those that no claim which holds has too; else those of the claim; else the sentence
        (FAULTY, (BUILT, PAINTER, claim(LAMP)), [("lit in 1698", "contradicted")]),
        (DESTROYED, (DIED,), [("Winstanley died in it", "unscored")]),
        (FAULTY, (CANDLES,), [(FAULTY, "contradicted")]),
        (LONG, (claim("It was lit in 1698."),), [(LONG, "contradicted")]),
        # what holds has no faults; of two the graver marks its words, and none are marked twice
        (FAULTY, (BUILT, claim("x", verdict=Verdict.IRRELEVANT)), []),
        (FAULTY, (claim(LAMP, contradicted=False), claim(LAMP, wrong="1698")), [("1698", "contradicted")]),
        (
            VOSS,
            OF_VOSS,
            [("Henrietta Voss was an engineer", "contradicted"), ("designed the Kestrel engine", "contradicted")],
        ),
    ],
)
def test_the_words_that_fail(sentence: str, claims: tuple[Claim, ...], fails: list[tuple[str, str]]) -> None:
    assert [(sentence[one.start : one.end], one.said) for one in faults(sentence, claims)] == fails


HEAD = "Plan | Price | Users | Calls per day"
ROW, FIVES, EUROS = "Team | 15 € | up to 50 | 20,000", "Team | 5 | 5 | 5", "Team | 24 euros | 10 | 500"
COSTS = "Team has 10 users and costs 24 euros."
NONE = "no evidence found"


@pytest.mark.parametrize(
    ("row", "text", "judged", "start", "words", "said"),
    [
        (ROW, "Plan: Team; Calls per day: 20,000.", {"contradicted": False}, 25, "20,000", NONE),
        (ROW, "The Team plan allows a customer up to 50 of them.", {"contradicted": False}, 14, "up to 50", NONE),
        (ROW, "It is the best of them.", {"contradicted": False}, 0, ROW, NONE),
        (FIVES, "Plan: Team; Users: 5.", {"contradicted": False}, 11, "5", NONE),
        ("Plan 15 | 15 € | 5", "Plan: Plan 15; Price: 15 €.", {"wrong": "15"}, 10, "15", "contradicted"),
        # words that the judge names outside of the cell fail in the row; without them the cell does
        (EUROS, COSTS, {"wrong": "24"}, 7, "24", "contradicted"),
        (EUROS, COSTS, {"wrong": "Team"}, 0, "Team", "contradicted"),
        (EUROS, "Plan: Team; Users: 10.", {"wrong": "ten"}, 18, "10", "contradicted"),
    ],
)
def test_in_the_row_of_a_table_the_cell_fails_that_the_claim_is_about(
    row: str, text: str, judged: dict[str, Any], start: int, words: str, said: str
) -> None:
    (found,) = faults(row, [claim(text, **judged)], HEAD)
    assert (found.start, row[found.start : found.end], found.said) == (start, words, said)


WORDS = st.lists(st.sampled_from(["a", "b", "in", "1698", ",", "lit", "é", "|"]), max_size=8).map(" ".join)


@given(WORDS, st.lists(st.tuples(WORDS, WORDS), max_size=3), st.none() | WORDS)
def test_faults_lie_apart_within_the_sentence(sentence: str, told: list[tuple[str, str]], head: str | None) -> None:
    found = faults(sentence, [claim(text, wrong=wrong) for text, wrong in told], head)
    reached = 0
    for one in found:
        assert reached <= one.start <= one.end <= len(sentence)
        reached = one.end
