"""The parts of the page that need no page: events of a stream, places in a text, a check as it unfolds."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from factloop.checking.views.layout import layout_of
from factloop.core.records import Claim, NoClaim, Sentence, Verdict
from factloop.reports.figures import sentences_without_claim
from factloop.reports.status import status_of
from tests.browser.service.conftest import Looking
from tests.browser.service.serving import Serving
from tests.reports.claims_about import claim
from tests.reports.sample import make_report


@pytest.fixture
def page(looking: Looking, offline: Serving) -> Page:
    return looking.at(offline.url)


def run(page: Page, module: str, body: str, argument: Any = None) -> Any:
    """The result of a function body on the module's exports (`m`) and the argument (`a`)."""
    return page.evaluate(f"async (a) => {{ const m = await import('/assets/{module}.js'); {body} }}", argument)


STREAM = (
    ': beat\n\nid: 7\nevent: one\ndata: {"a":\ndata: 1}\n\n'
    'data: {"b": "\u2713"}\r\nid:8\r\n\r\nevent: empty\n\nevent: x\ndata: 3\n'
)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_events_are_the_same_however_the_stream_is_cut(page: Page, size: int) -> None:
    """The last one has not ended yet."""
    chunks = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    found = run(page, "api", "const parse = m.eventParser(); return a.flatMap((chunk) => parse(chunk));", chunks)
    assert found == [
        {"type": "one", "data": {"a": 1}, "id": "7"},
        {"type": "message", "data": {"b": "\u2713"}, "id": "8"},
    ]


@pytest.mark.parametrize("text", ["plain", "", "\U0001f9f1a\U0001f9f1\U0001f9f1b", "\ud7ff\ufffd\U0001f600"])
def test_characters_are_found_where_the_service_counts_them(page: Page, text: str) -> None:
    places = [len(text[:at].encode("utf-16-le")) // 2 for at in range(len(text) + 2)]
    body = "const at = m.offsets(a.text); return a.places.map((_, n) => at(n));"
    assert run(page, "unfolding", body, {"text": text, "places": places}) == places


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        "One.\n\nTwo.\n \t\n\nThree.",
        "x" * 20_000,
        "A sentence of some words. " * 1_000,
        "A line of some words\n" * 1_000,
        "\U0001f9f1" * 9_001,
    ],
)
def test_blocks_joined_are_the_text_and_none_is_long(page: Page, text: str) -> None:
    cut = run(page, "prose", "return m.blocksOf(a).map(([start, end]) => a.slice(start, end));", text)
    assert "".join(cut) == text
    assert all(0 < len(block) <= 8_001 for block in cut)


def found(number: int, start: int) -> dict[str, Any]:
    data = {"claim_id": f"c{number}", "sentence": "s", "span": [start, start + 5], "self_contained": f"claim {number}"}
    return {"type": "claim_found", "data": data}


def judged(number: int, start: int, **judgement: Any) -> dict[str, Any]:
    claim = {
        "id": f"c{number}",
        "sentence": "s",
        "span": [start, start + 5],
        "self_contained": f"claim {number}",
        "judgement": {"verdict": None, "contradicted": None, "unscored_reason": None, **judgement},
    }
    return {"type": "claim_judged", "data": {"claim": claim, "usage": {"calls": number}}}


UNFOLD = """
  const check = new m.Unfolding('x'.repeat(50));
  a.events.forEach((event) => check.take(event));
  const state = () => [check.claims.map((one) => [one.id, one.status]), check.nJudged, check.counts.pending];
  if (!a.report) return state();
  const changed = check.settle({ claims: a.report, usage: {} }, []).map((one) => one.id);
  return [...state(), changed];
"""


def test_claims_stand_in_the_order_of_the_response_whenever_they_are_found(page: Page) -> None:
    events = [found(3, 20), found(1, 0), found(4, 20), found(2, 10), found(2, 10)]
    claims = [["c1", "pending"], ["c2", "pending"], ["c3", "pending"], ["c4", "pending"]]
    assert run(page, "unfolding", UNFOLD, {"events": events}) == [claims, 0, 4]


def test_who_is_waited_for_is_known_until_something_else_happens(page: Page) -> None:
    code = "const check = new m.Unfolding(''); return a.map((event) => { check.take(event); return check.waiting; });"
    waiting = {"server": "serper", "waited_s": 7.2, "patience_s": 120, "cause": "status 429"}
    events = [found(1, 0), {"type": "waiting", "data": waiting}, judged(1, 0, verdict="supported")]
    assert run(page, "unfolding", code, events) == [None, waiting, None]


def test_each_verdict_has_its_status_and_none_is_lost(page: Page) -> None:
    """A claim that is judged without having been found, as after a break, is there all the same."""
    events = [
        found(1, 0),
        judged(1, 0, verdict="not_supported", contradicted=True),
        judged(2, 5, verdict="not_supported", contradicted=False),
        judged(3, 10, unscored_reason="budget"),
        judged(3, 10, verdict="supported"),
        found(4, 15),
    ]
    claims = [["c1", "contradicted"], ["c2", "no_evidence"], ["c3", "supported"], ["c4", "pending"]]
    assert run(page, "unfolding", UNFOLD, {"events": events}) == [claims, 3, 1]


def test_the_report_has_the_last_word(page: Page) -> None:
    events = [judged(1, 0, verdict="supported"), judged(2, 5, verdict="supported"), found(9, 30)]
    same, other = events[0]["data"]["claim"], judged(2, 5, verdict="irrelevant")["data"]["claim"]
    claims = [["c2", "irrelevant"], ["c1", "supported"]]
    assert run(page, "unfolding", UNFOLD, {"events": events, "report": [other, same]}) == [claims, 2, 0, ["c2"]]


REASONS = [["heading", "heading", "no_statement"], ["code"], ["question", "not_read", "question", "not_read"], []]


@pytest.mark.parametrize("reasons", REASONS)
def test_sentences_without_a_claim_are_counted_as_in_the_reports(page: Page, reasons: list[str]) -> None:
    silent = [Sentence(span=(0, 0), no_claim=NoClaim(reason)) for reason in reasons]
    told = Sentence(span=(0, 0), claims=("c1",))
    sentences = [one.model_dump(mode="json") for one in (*silent, told)]
    report = make_report("", (), prompt=None).model_copy(update={"sentences": (*silent, told)})
    assert run(page, "words", "return m.withoutClaim(a);", sentences) == sentences_without_claim(report)


USAGE = {"calls": 0, "searches": 0, "prompt_tokens": 0, "completion_tokens": 0, "cost_usd": None, "wall_s": 0.5}


@pytest.mark.parametrize(
    ("spent", "shown"),
    [
        ({}, [["Time", "0.50 s", ""]]),
        ({"searches": 2, "cost_usd": 0.0}, [["Time", "0.50 s", "2 searches"]]),
        ({"calls": 1, "cost_usd": 0.5}, [["Cost", "$0.50", "1 call"], ["Tokens", "0"], ["Time", "0.50 s", ""]]),
        ({"cache_hits": 3}, [["Cost", "no model calls", "0 calls"], ["Tokens", "0"], ["Time", "0.50 s", ""]]),
    ],
)
def test_figures_of_a_models_work_are_shown_where_there_was_some(page: Page, spent: Any, shown: Any) -> None:
    body = """return m.usageFigures({ ...a.usage, ...a.spent })
      .map((one) => ["dt", "b", "span"].map((name) => one.querySelector(name).textContent));"""
    found = run(page, "overview", body, {"usage": USAGE, "spent": spent})
    assert [figure[: len(told)] for figure, told in zip(found, shown, strict=True)] == shown


def outcome_of(page: Page, judged: Claim) -> str:
    body = "return m.outcome({ record: a.record, status: a.status }).filter(Boolean).join(' · ');"
    return str(
        run(page, "unfolding", body, {"record": judged.model_dump(mode="json"), "status": status_of(judged).value})
    )


def test_the_grounds_of_a_verdict_have_the_words_of_the_reports(page: Page) -> None:
    passages = ("The tower stood.", "The team plan costs 29 €.")
    judged: dict[str, Any] = {"wrong": "19 €", "instead": "29 €", "quote": passages[1], "cited": ("e1", "e2")}
    assert outcome_of(page, claim("x", *passages, **judged)) == (
        "Contradicted · 19 € · the source says 29 € · 2 sources cited"
    )
    assert outcome_of(page, claim("x", *passages, contradicted=False, cited=("e1", "e2"))) == (
        "No evidence found · 2 passages read"
    )


MARKED = """
  const claim = { record: a.record, status: a.status, mark: a.mark, queries: [], sentence: a.record.sentence };
  const shown = m.grounds(claim, {}).flat(3).find((one) => one?.matches?.("ol"));
  const marked = [...shown.querySelectorAll("mark")]
    .map((one) => [one.className, one.childNodes[1].textContent, one.closest("li") === shown.firstChild]);
  return [...marked, m.decidedBy(claim)?.textContent ?? null];
"""


def marked_in(page: Page, judged: Claim, *, reported: bool) -> Any:
    """What is marked in the passages of a claim: how, the words, and whether their passage stands first; then what
    stands beside the claim. Once there is a report, by what the service says of it."""
    given: dict[str, Any] = {"record": judged.model_dump(mode="json"), "status": status_of(judged).value}
    if reported:
        layout = layout_of(judged.sentence, make_report(judged.sentence, (judged,)))
        given["mark"] = next((one.model_dump(mode="json") for one in layout.marks), None)
    return run(page, "evidence", MARKED, given)


def test_the_sentence_that_decides_is_highlighted_as_the_report_has_it(page: Page) -> None:
    """The rules are those of the report: the quote, the sentence that holds one, the only sentence there is."""
    quoted = claim("x", "\U0001f9f1 two (a+b).\nThe team\nplan costs 29 €.", quote="The team plan costs 29 €.")
    said = claim("x", "There are two plans. The team plan costs 29 €.", rationale="It says “team plan costs 29 €”.")
    alone = claim("x", "There are two plans.", "The team plan costs 29 €.", cited=("e2",))
    uncited = claim("x", "There are two plans. Or so.", "The team plan costs 29 €.", quote="The team plan costs 29 €.")
    for judged, words, number in ((quoted, "The team\nplan costs 29 €.", 1), (said, "The team plan costs 29 €.", 1)):
        assert marked_in(page, judged, reported=True) == [["deciding", words, True], f"{words} notes/{number}.md"]
    assert marked_in(page, alone, reported=True) == [
        ["deciding", "The team plan costs 29 €.", True],
        "The team plan costs 29 €. notes/2.md",
    ]
    assert marked_in(page, uncited, reported=True) == [None]


def test_the_sentence_that_comes_nearest_is_highlighted_otherwise(page: Page) -> None:
    passages = ("There are two plans.", "It has ten seats. The team plan costs 29 €.")
    rationale = "No sentence speaks of “19 €”. The nearest says: “The team plan costs 29 €.”"
    one = claim("x", *passages, contradicted=False, cited=(), rationale=rationale)
    assert marked_in(page, one, reported=True) == [["nearest", "The team plan costs 29 €.", True], None]
    plain = claim("x", *passages, contradicted=False, rationale="Nothing on it.")
    assert marked_in(page, plain, reported=True) == [None]


def test_before_there_is_a_report_the_words_are_highlighted_that_the_judge_quotes(page: Page) -> None:
    quoted = claim("x", "Two plans.", "The team\nplan costs 29 €.", cited=("e2",), quote="team plan costs 29 €.")
    assert marked_in(page, quoted, reported=False) == [
        ["deciding", "team\nplan costs 29 €.", True],
        "team\nplan costs 29 €. notes/2.md",
    ]
    assert marked_in(page, claim("x", "It costs 29 €.", rationale="“It costs 29 €.”"), reported=False) == [None]


def test_how_a_passage_was_found_is_said_as_in_the_report(page: Page) -> None:
    """The queries stand below: one of the claim is named by its number, where it has several."""
    body = """const claim = { record: a.record, status: a.status, queries: [], sentence: a.record.sentence };
      const shown = m.grounds(claim, {}).flat(3).find((one) => one?.matches?.("ol"));
      return shown.querySelector(".provenance").textContent;"""
    one = claim("x", "Two plans.", verdict=Verdict.SUPPORTED)
    for queries, said in ((("q",), "result 1 ·"), (("p", "q"), "result 1 of query 2 ·"), ((), "result 1 for “q” ·")):
        judged = one.model_copy(update={"queries": queries})
        given = {"record": judged.model_dump(mode="json"), "status": "supported"}
        assert run(page, "evidence", body, given).startswith(said)


def test_the_words_that_fail_are_marked_in_their_sentence(page: Page) -> None:
    """What stands in the way of a regular expression stays what it is."""
    failing = claim("It costs 19-20 € (a month).", wrong="19-20 € (a", instead="29 € (a")
    other = claim("It is 19 years old.", wrong="9")
    body = """
      const claims = a.map((record) => ({ record, id: record.id, start: 0, end: 27, status: "contradicted" }));
      const prose = new m.Prose({ response: "It costs 19-20 € (a month).", claims }, () => {});
      claims.forEach((one) => prose.take(one));
      prose.draw();
      const marked = [...prose.element.querySelectorAll(".has-faults .fault")];
      return marked.map((one) => [one.firstChild.textContent, one.title]);
    """
    records = [one.model_dump(mode="json") for one in (other, failing)]
    assert run(page, "prose", body, records) == [["19-20 € (a", "19-20 € (a · the source says 29 € (a"]]


LAID_OUT = """
  const at = (place) => place;
  const tag = (name, closes = false) => ({ kind: "tag", name, closes, attributes: {} });
  const text = (start, end, more = {}) => ({ kind: "text", start, end, text: null, code: false, href: "", ...more });
  const response = "A **b** &amp; `c` d.";
  const strong = [tag("strong"), text(4, 5), tag("strong", true)];
  const rest = [text(7, 8), text(8, 13, { text: "&" }), text(13, 14), text(15, 16, { code: true }), text(17, 20)];
  const parts = [tag("p"), text(0, 2), ...strong, ...(a.isLost ? [] : rest), tag("p", true)];
  const prose = new m.Prose({ response, at }, () => {}, { parts, is_marked_up: true });
  const record = { judgement: {} };
  prose.take({ id: "1", start: 0, end: 13, status: "supported", record });
  prose.take({ id: "2", start: 14, end: 20, status: "contradicted", record });
  prose.draw();
  prose.settle([], [{ start: 17, end: 19, status: "contradicted", said: "wrong" }]);
  prose.draw();
  prose.element.querySelectorAll(".signs, .unseen").forEach((one) => one.remove());
  const marked = [...prose.element.querySelectorAll(".sentence, strong, code, mark")];
  return [prose.element.textContent, marked.map((one) => [one.className || one.localName, one.textContent])];
"""


def test_sentences_are_marked_within_what_markdown_makes_of_them(page: Page) -> None:
    shown, marked = run(page, "prose", LAID_OUT, {"isLost": False})
    assert shown == "A b & c d."
    assert marked == [
        ["sentence is-supported", "A "],
        ["strong", "b"],
        ["sentence is-supported", "b"],
        ["sentence is-supported", " &"],
        ["sentence is-contradicted has-faults", "c d."],
        ["code", "c"],
        ["fault is-contradicted", " d"],
    ]


def test_a_response_of_which_markdown_leaves_a_sentence_out_stands_as_it_was_written(page: Page) -> None:
    shown, marked = run(page, "prose", LAID_OUT, {"isLost": True})
    assert shown == "A **b** &amp; `c` d."
    assert [name for name, _ in marked] == [
        "sentence is-supported",
        "sentence is-contradicted has-faults",
        "fault is-contradicted",
    ]
