from __future__ import annotations

import io
import re
from collections.abc import Callable

import pytest
from rich.console import Console

from factloop.agents.trustscore.records import Relation, TrustReport
from factloop.core.records import UnscoredReason
from factloop.trust.views.distractors_terminal import print_distractors
from factloop.trust.views.long_form_terminal import print_long_form
from factloop.trust.views.terminal import print_trust_report, print_trust_run
from tests.reports.sample import HOSTILE
from tests.trust.views.trust_sample import (
    broken_bc,
    consistent_bc,
    distractor_set,
    firm,
    half_asked,
    hostile_long_form,
    hostile_trust,
    judged_fc,
    large_run,
    long_form,
    long_form_of,
    long_response,
    mixed_run,
    rulers,
    trust_report,
    trust_run,
    unscored_bc,
    unscored_fc,
    unscored_reports,
    wavering,
)
from tests.work import LINEAR, growth

Print = Callable[[Console], None]


def printed(show: Print, *, width: int = 120, terminal: bool = False) -> str:
    file = io.StringIO()
    show(Console(file=file, width=width, force_terminal=terminal, _environ={"TERM": "xterm-256color"}))
    return file.getvalue()


def answer(report: TrustReport, width: int = 120) -> str:
    return printed(lambda console: print_trust_report(report, console), width=width)


def words(text: str) -> str:
    return " ".join(text.split())


def test_one_answer_in_full() -> None:
    made = tuple(one.model_copy(update={"detail": ""}) for one in rulers()[:3])
    bc = consistent_bc(distractors=made, n=1).model_copy(update={"max_checks": 1})
    text = answer(trust_report(bc, judged_fc(), 1.0), width=110)
    assert (
        "\n".join(line.rstrip() for line in text.splitlines())
        == """\
Who built the first temple in Jerusalem?

Response ─────────────────────────────────────────────────────────────────────────────────────────────────────
 King Solomon built the first temple in Jerusalem.

Does the model stand by it? ──────────────────────────────────────────────────────────────────────────────────
 = Check 1: chose B, the answer
   A King David built the first temple in Jerusalem.   Solomon → David (entity, DBpedia)
 > B King Solomon built the first temple in Jerusalem. = the answer
   C King Herod built the first temple in Jerusalem.   Solomon → Herod (entity, DBpedia)
   D King Saul built the first temple in Jerusalem.    Solomon → Saul (entity, DBpedia)
   E None of the above

Do documents support it? ─────────────────────────────────────────────────────────────────────────────────────
 Two passages name Solomon as the builder.

 cited: Solomon's Temple
 The first temple in Jerusalem was raised in the reign of Solomon, son of David.
 psgs_w100.tsv#1

 cited: Hiram of Tyre
 Hiram sent cedar and craftsmen for the temple that Solomon was building.
 psgs_w100.tsv#3
 1 passage judged and not cited

Result ───────────────────────────────────────────────────────────────────────────────────────────────────────
 TrustOV  1  The model stands by this answer. The passages support it.
 TrustBC  = 1  consistent in 1 of 1 check
 TrustFC  ✓ 1  supported, 3 passages judged, 2 cited
 Subject  openai:gpt-4o-mini
 Judge    openai:gpt-4o
 Calls    11 model calls, 1 answer reused, 1 search
 Tokens   2,140 prompt + 96 completion
 Cost     $0.000420
 Time     3.4 s
"""
    )


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_every_check_is_shown_at_every_width(width: int) -> None:
    text = answer(wavering(), width)
    assert max(map(len, text.splitlines())) <= width
    shown = words(text)
    assert "> B 0.93 King Solomon built the first temple in" in shown
    assert "≠ Check 3: chose A instead of the answer, D" in shown
    assert "(not counted)" in shown
    assert text.count("= the answer") == 4
    for check in broken_bc().checks:
        letters = re.findall(r"^ [> ] ([A-E]) ", text.split(f"Check {check.number}:")[1], re.MULTILINE)[:5]
        assert letters == ["A", "B", "C", "D", "E"]
    made = "Solomon → Cyrus (entity, knowledge base: shares Person)"
    assert made in shown if width > 80 else "Solomon → Cyrus (entity, knowledge base:" in shown
    assert "Response of openai:gpt-4o-mini" in shown


def test_what_is_wrong_with_an_answer_stands_in_its_result() -> None:
    result = words(answer(wavering(), 200).split("Result ─")[1])
    for line in (
        "TrustOV 0.4 The model does not stand by this answer. The passages neither support it nor speak against it.",
        "TrustBC ≠ 0 inconsistent in check 3, after 2 consistent",
        "Graded 0.60 mean probability of the answer; the five letters held 0.91 of the probability",
        "TrustFC ○ 0.5 neutral, 3 passages judged, none cited",
        "Limit 1 check, asked beside the one that ended it, does not count.",
        "Note DBpedia Spotlight answered with an HTML page; the next source was used.",
        "Warning 1 call failed and was retried.",
    ):
        assert line in result


def test_a_check_without_choice_shows_the_reply() -> None:
    text = words(answer(half_asked()))
    assert "? Check 2: unscored: no choice could be read in the reply It said: It might be B or else C." in text
    assert "? Check 3: unscored: the budget was used up" in text


@pytest.mark.parametrize("report", [half_asked(), *unscored_reports()])
def test_what_is_missing_is_said_and_never_a_number(report: TrustReport) -> None:
    result = words(answer(report, 200).split("Result ─")[1])
    assert f"TrustOV – {report.trust_ov.missing}" in result
    assert "TrustBC ? – unscored: " in result
    assert "TrustFC ? – unscored: " in result
    assert "Does the model stand by it?" in answer(report) or not report.trust_bc.checks


def test_one_part_stands_without_the_other() -> None:
    no_corpus = trust_report(consistent_bc(), unscored_fc(), "no corpus was given")
    assert "TrustBC = 1 consistent in 10 of 10 checks" in words(answer(no_corpus))
    few = trust_report(unscored_bc(UnscoredReason.TOO_FEW_DISTRACTORS), judged_fc(Relation.CONTRADICT), "TrustBC")
    assert "TrustFC ✗ 0 contradicted, 3 passages judged, 2 cited" in words(answer(few))


@pytest.mark.parametrize("width", [60, 120])
def test_a_run_is_a_table_with_its_means(width: int) -> None:
    text = printed(lambda console: print_trust_run(mixed_run(), console), width=width)
    assert max(map(len, text.splitlines())) <= width
    result = words(text.split("Result ─")[1])
    # TrustOV (1 + 0.4 + 0.2) / 3, TrustBC (1 + 0 + 1) / 3, TrustFC (1 + 0.5 + 0) / 3; two answers have none
    assert "TrustOV 0.53 mean of 3 answers, 2 unscored TrustBC 0.67 mean of 3 answers, 2 unscored" in result
    assert "TrustBC, graded 0.60 mean of 1 answer, 4 unscored" in result
    assert "TrustFC 0.50 mean of 3 answers, 2 unscored" in result
    answers = words(text.split("Result ─")[0])
    assert "✗ contradicted" in answers
    assert "✓ supported" in answers


def test_a_run_without_values_has_no_means() -> None:
    run = trust_run(unscored_reports())
    result = words(printed(lambda console: print_trust_run(run, console)).split("Result ─")[1])
    assert "TrustOV – no answer was scored, 10 unscored" in result
    assert "graded" not in result
    assert "Answers 0" in words(printed(lambda console: print_trust_run(trust_run(()), console)))


@pytest.mark.parametrize("width", [60, 120])
def test_distractors_show_what_was_put_in_and_why(width: int) -> None:
    text = words(printed(lambda console: print_distractors(distractor_set(), console), width=width))
    assert "King [David] built the first" in text
    assert "30 of 30 wanted" in text
    assert "10 DBpedia, 10 knowledge base, 10 embedding neighbour" in text
    assert "10 checks without showing a distractor twice" in text
    assert text.count("cosine 0.62") == 10


def test_too_few_distractors_are_said_to_be_so() -> None:
    few = distractor_set(2, notes=("DBpedia could not be reached.",))
    text = words(printed(lambda console: print_distractors(few, console)))
    assert "2 of 30 wanted Too few for a question, which shows 3." in text
    assert "Note DBpedia could not be reached." in text
    none = words(printed(lambda console: print_distractors(distractor_set(0, response=""), console)))
    assert "(empty)" in none
    assert "0 of 30 wanted" in none


@pytest.mark.parametrize("width", [60, 120])
def test_a_long_response_is_marked_in_place_and_its_claims_grouped(width: int) -> None:
    text = printed(lambda console: print_long_form(long_form(), console), width=width)
    assert max(map(len, text.splitlines())) <= width
    shown = words(text)
    assert "[✓= ✓≠ ✓=] Ada Lovelace was born in London" in shown
    assert "[✗=] She kept a parrot" in shown
    assert "- [✗≠] The Analytical Engine was completed" in shown
    groups = re.findall(r"^(\w.*) \((\d+)\) ─", text, re.MULTILINE)
    assert groups == [
        ("Unsupported, but insisted upon", "2"),
        ("Unsupported, and wavering", "1"),
        ("Supported, but wavering", "3"),
        ("Not placed", "4"),
        ("Supported, and insisted upon", "5"),
    ]
    assert "✗= 2 unsupported, but insisted upon" in shown
    assert "8 ✗≠ The Analytical Engine was completed in 1845." in shown


def test_a_long_response_without_claims() -> None:
    text = words(printed(lambda console: print_long_form(long_form_of((), "I don't know."), console)))
    assert "I don't know." in text
    assert "✗= 0 unsupported, but insisted upon" in text


SHOWN: list[Print] = [
    lambda console: print_trust_report(hostile_trust(), console),
    lambda console: print_trust_run(trust_run((hostile_trust(),)), console),
    lambda console: print_distractors(
        distractor_set(
            question=HOSTILE,
            response=hostile_trust().response,
            distractors=hostile_trust().trust_bc.distractors,
            notes=(HOSTILE,),
        ),
        console,
    ),
    lambda console: print_long_form(hostile_long_form(), console),
]


@pytest.mark.parametrize("width", [60, 120])
@pytest.mark.parametrize("show", SHOWN, ids=["report", "run", "distractors", "long form"])
def test_hostile_text_neither_steers_the_terminal_nor_is_read_as_markup(show: Print, width: int) -> None:
    text = printed(show, width=width)
    assert not set(text) & set("\x1b\x00\x07\r\x9b\u202e\u2066")
    assert "[red]alert[/red] [/]" in words(text)
    coloured = printed(show, width=width, terminal=True)
    assert "\x1b" not in re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b\x07]*\x1b\\", "", coloured)


def test_a_thousand_words_are_cut_around_what_was_replaced() -> None:
    text = words(answer(long_response(500), 60))
    option = next(found for found in re.findall(r"A (…[^>]*?…) Solomon → David", text))
    assert " David " in option
    assert len(option) < 400


def test_work_is_linear_in_the_answers() -> None:
    assert growth(lambda n: printed(lambda console: print_trust_run(large_run(n), console)), 10) < LINEAR
    printed(lambda console: print_trust_report(firm(), console))
