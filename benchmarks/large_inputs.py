"""`python -m benchmarks.large_inputs`: what large inputs take: long responses, many claims, answers and rows.

Processor time of this process, so that others on the machine disturb little. That the work is linear is tested
(`growth` in `tests/work.py`); here is how fast it is. Ends with 1 where a target is missed.
"""

from __future__ import annotations

import io
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import typer
from rich.console import Console

from benchmarks.rows import Row, compared, table
from factloop import FactChecker
from factloop.agents.safe.schemas import Relevance
from factloop.checking.views.shown import print_report, render_html
from factloop.core.errors import ModelOutputError
from factloop.core.files.jsonl import read_jsonl
from factloop.evaluation.mixedqa.views import render_mixedqa_html
from factloop.evaluation.runs.views.shown import render_run_html
from factloop.evaluation.statistics.correlation import Method, correlate
from factloop.reports.differences import pieces
from factloop.tools.models.parsing import parse_reply
from factloop.tools.text.sentences import split_sentences
from factloop.trust.views.html import render_trust_html
from tests.evaluation.mixedqa.mixedqa_sample import many_responses, result_of
from tests.evaluation.runs.finished_runs import judged, summary_of
from tests.reports.sample import large_report
from tests.trust.views.trust_sample import large_run

MEGABYTE = 1_000_000
Measured = tuple[str, str, Callable[[], object], float]


def main() -> None:
    """Measure each input once and print targets beside measurements."""
    rows = [_row(*measured) for measured in (*_texts(), *_statistics(), *_pages())]
    Console().print(table("large inputs", rows))
    raise typer.Exit(1 if any(row.is_met is False for row in rows) else 0)


def _row(group: str, name: str, call: Callable[[], object], target_s: float) -> Row:
    started = time.process_time()
    call()
    return compared(group, name, time.process_time() - started, "at most", target_s, "{:.2f} s")


def _texts() -> Iterator[Measured]:
    sentences = ("Dr. Vale went home. He slept. " * MEGABYTE)[:MEGABYTE]
    words = "word " * (MEGABYTE // 5)
    old, new = (" ".join(f"{letter}{n}" for n in range(50_000)) for letter in "ab")
    yield "texts", "1 MB on one line, split into sentences", lambda: split_sentences(sentences), 15.0
    yield "texts", "1 MB without a full stop, checked offline", lambda: FactChecker(cache=False).check(words), 20.0
    yield "texts", "1 MB in one word, checked offline", lambda: FactChecker(cache=False).check("a" * MEGABYTE), 20.0
    yield "texts", "10,000 sentences, checked offline by 100 documents", _check_many, 60.0
    yield "texts", "900 kB of spaces in a model's reply, refused", lambda: _refused("{" + " " * 900_000), 1.0
    yield "texts", "50,000 words against 50,000 others, compared", lambda: pieces(old, new), 2.0
    yield "texts", "50,000 rows of JSON Lines, read", _read_rows, 5.0


def _check_many() -> None:
    towns = ["Vire", "Orne", "Lisse", "Marle", "Dove"]
    people = [f"{first}{one} {last}{two}" for first in ("Ada", "Bo") for last in ("Vale", "Ros")
              for one in "abcdefghij" for two in "klmnopqrst"]  # fmt: skip
    lives = [f"{who} was born in {towns[place % 5]} in {1700 + place}." for place, who in enumerate(people)]
    told = [f"{who} lived in {town} until {1750 + place}." for town in towns for place, who in enumerate(people)]
    sentences = [f"{text} He painted {number} pictures there." for number, text in enumerate(told * 3)][:5_000]
    with tempfile.TemporaryDirectory() as folder:
        for place in range(0, len(lives), 4):
            (Path(folder) / f"{place}.txt").write_text(" ".join(lives[place : place + 4]), encoding="utf-8")
        FactChecker(docs=[folder], cache=False).check(" ".join(sentences))


def _refused(reply: str) -> None:
    with suppress(ModelOutputError):
        parse_reply(reply, Relevance)


def _read_rows() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        path.write_text((json.dumps({"a": "some text that is read"}) + "\n") * 50_000, encoding="utf-8")
        for _ in read_jsonl(path):
            pass


def _statistics() -> Iterator[Measured]:
    yield "statistics", "3 correlations of 3,000 responses with intervals", _correlate, 3.0
    responses = many_responses(1_000)
    yield "statistics", "MixedQA of 1,000 questions, 2,000 resamples", lambda: result_of(responses, resamples=2000), 6.0


def _correlate() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(size=3_000).tolist()
    labels = (rng.random(size=3_000) < 0.5).astype(float).tolist()
    questions = [place // 3 for place in range(3_000)]
    for method in Method:
        correlate(method, scores, labels, clusters=questions, rng=np.random.default_rng(1))


def _pages() -> Iterator[Measured]:
    report, long_report = large_report(1_000), large_report(5_000)
    console = Console(file=io.StringIO(), width=120)
    systems = result_of(many_responses(4, systems=[f"system {n}" for n in range(100)]), resamples=10)
    run = summary_of([judged(f"p{n}", "ssn", system=s) for n in range(3_000) for s in "xy"], resamples=10)
    answers = large_run(300)
    yield "reports", "a check of 1,000 claims in the terminal", lambda: print_report(report, console), 10.0
    yield "reports", "a check of 5,000 claims as a page", lambda: render_html(long_report), 10.0
    yield "reports", "MixedQA of 100 systems as a page", lambda: render_mixedqa_html(systems), 2.0
    yield "reports", "a run of 6,000 responses as a page", lambda: render_run_html(run), 10.0
    yield "reports", "300 TrustScore answers as a page", lambda: render_trust_html(answers), 2.0


if __name__ == "__main__":
    typer.run(main)
