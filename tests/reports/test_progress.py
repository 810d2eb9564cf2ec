from __future__ import annotations

import io

from rich.console import Console

from factloop.core.events import ClaimFound, ClaimJudged, ClaimSearched, Event, ResponseSplit, ServerWait
from factloop.core.records import Claim, Usage
from factloop.reports.progress import ProgressDisplay
from tests.reports.sample import sample_report

REPORT = sample_report()


def found(claim: Claim) -> ClaimFound:
    return ClaimFound(claim_id=claim.id, sentence=claim.sentence, span=claim.span, self_contained=claim.self_contained)


def judged(claim: Claim, calls: int) -> ClaimJudged:
    return ClaimJudged(claim=claim, usage=Usage(calls=calls, cost_usd=calls / 1000))


def screen(events: list[Event], *, terminal: bool = True) -> str:
    file = io.StringIO()
    console = Console(file=file, width=120, force_terminal=terminal, color_system=None, _environ={})
    with ProgressDisplay(console) as display:
        for event in events:
            display.handle(event)
    return file.getvalue()


def test_it_counts_claims_calls_and_cost() -> None:
    first, second, third = REPORT.claims[:3]
    events: list[Event] = [
        ResponseSplit(n_sentences=12),
        *(found(claim) for claim in (first, second, third)),
        ClaimSearched(claim_id=first.id, query="q", evidence=()),
        judged(first, 4),
        judged(second, 5),
    ]
    last_frame = screen(events)
    assert "2 of 3 claims" in last_frame
    assert "5 calls, $0.005" in last_frame


def test_it_counts_sentences_until_a_claim_is_judged() -> None:
    first, second, third = REPORT.claims[:3]
    events: list[Event] = [ResponseSplit(n_sentences=12), *(found(claim) for claim in (first, second, third))]
    n_read = len({claim.span for claim in (first, second, third)})
    assert f"read {n_read} of 12 sentences" in screen(events)
    assert "read" not in screen([*events, judged(first, 1)]).rpartition("\n")[2]


def test_off_the_terminal_it_is_quiet() -> None:
    events: list[Event] = [ResponseSplit(n_sentences=2), judged(REPORT.claims[0], 1)]
    assert screen(events, terminal=False) == ""


def waiting(waited_s: float, cause: str = "status 429") -> ServerWait:
    return ServerWait(server="serper", waited_s=waited_s, patience_s=120.0, cause=cause)


def test_it_says_who_is_waited_for_until_something_happens() -> None:
    claim = REPORT.claims[0]
    said = "serper accepts no request (status 429): waiting 34 of 120 s"
    assert said in screen([found(claim), waiting(33.9)])
    assert said not in screen([waiting(33.9), judged(claim, 1)])


def test_off_the_terminal_each_outage_is_one_line() -> None:
    events: list[Event] = [*map(waiting, (5.0, 6.0, 7.0)), judged(REPORT.claims[0], 1), *map(waiting, (5.0, 6.0))]
    line = "factloop: serper accepts no request (status 429): waiting 5 of 120 s\n"
    assert screen(events, terminal=False) == 2 * line
