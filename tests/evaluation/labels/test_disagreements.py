from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy.stats import beta  # type: ignore[import-untyped]  # its stubs are no dependency

from factloop.core.errors import ConfigError, DataError
from factloop.core.figure import Undefined
from factloop.evaluation.labels.adjudication import adjudicate, read_answers, win_rate
from factloop.evaluation.labels.disagreements import SHEET, DisagreementDraw, DisagreementKey, draw_disagreements
from factloop.evaluation.labels.views import render_disagreements_html
from factloop.evaluation.runs.records import JudgedResponse
from factloop.reports.downloads import Cell
from factloop.reports.labels import hash_of
from tests.evaluation.runs.finished_runs import judged

RESPONSES = [judged(f"p{n}", "snsni?", labels="SNNSSS") for n in range(5)]
"""Five responses with five labelled claims that have a verdict: c2 (s, N), c3 (n, S) and c4 (i, S) differ."""


def drawn(
    n: int = 100, seed: int = 0, responses: list[JudgedResponse] | None = None
) -> tuple[list[tuple[Cell, ...]], DisagreementKey]:
    given = RESPONSES if responses is None else responses
    found = draw_disagreements(given, n, seed=seed, data="five responses", cost_usd=1.0)
    return [one.row for one in found.drawn], found.key


def test_what_is_drawn() -> None:
    rows, key = drawn()
    assert (key.n_responses, key.n_labelled, key.n_differing, len(key.disputed)) == (5, 25, 15, 15)
    assert {one.claim_id for one in key.disputed} == {"c2", "c3", "c4"}
    assert [row[0] for row in rows] == [one.item for one in key.disputed] == [str(n) for n in range(1, 16)]
    few, _ = drawn(4)
    assert [row[1:] for row in few] == [row[1:] for row in rows[:4]], "a larger draw goes on where a smaller ends"
    assert drawn(responses=RESPONSES[::-1]) == (rows, key)
    assert drawn(seed=1)[1].disputed != key.disputed


def test_the_sheet_says_what_either_side_says_and_not_whose_it_is() -> None:
    rows, key = drawn()
    said = {
        "c2": {"supported", "not supported"},
        "c3": {"not supported", "supported"},
        "c4": {"irrelevant", "supported"},
    }
    firsts = set()
    for row, one in zip(rows, key.disputed, strict=True):
        cells = dict(zip(SHEET, row, strict=True))
        assert {cells["first"], cells["second"]} == said[one.claim_id]
        judge = cells["first"] if one.judge_is_first else cells["second"]
        assert judge == one.verdict.replace("_", " ")
        assert "said " not in str(row), "a rationale would give the judge away"
        firsts.add(one.judge_is_first)
    assert firsts == {True, False}


@pytest.mark.parametrize(
    ("verdicts", "labels", "said"), [("sn", "", "no claims have both"), ("sn", "SN", "all verdicts agree")]
)
def test_nothing_to_draw_is_refused(verdicts: str, labels: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        drawn(responses=[judged("p", verdicts, labels=labels)])


def answered(key: DisagreementKey, judge: int, people: int, neither: int) -> str:
    wanted = ["judge"] * judge + ["people"] * people + ["neither"] * neither + [""] * len(key.disputed)
    lines = ["item,answer"]
    for one, wins in zip(key.disputed, wanted, strict=False):
        first = (wins == "judge") is one.judge_is_first
        lines.append(f"{one.item},{wins if wins in ('neither', '') else 'first' if first else ' Second '}")
    return "\n".join(lines) + "\n"


def test_win_rates_by_hand(tmp_path: Path) -> None:
    """Of 12 answers 7 for the judge, 3 for people, 2 for neither; 3 rows are empty. 1 USD over 5 responses is 0.20."""
    _, key = drawn()
    (tmp_path / "sheet.csv").write_text(answered(key, 7, 3, 2))
    found = adjudicate(read_answers(tmp_path / "sheet.csv", key), key)
    assert (found.n_drawn, found.n_answered) == (15, 12)
    assert (found.judge_right, found.people_right, found.neither_right) == (7, 3, 2)
    assert found.judge.value == pytest.approx(7 / 12)
    assert found.judge_of_decided.value == pytest.approx(7 / 10)
    assert found.judge.interval == pytest.approx((beta.ppf(0.025, 7, 6), beta.ppf(0.975, 8, 5)))
    assert found.people_usd == 4.0
    assert found.judge_usd == pytest.approx(0.2)
    assert found.times_cheaper == pytest.approx(20.0)


def test_the_papers_wins_have_their_interval() -> None:
    """76 of 100: the exact interval of Clopper and Pearson is 66.4 to 84.0 %."""
    found = win_rate(76, 100)
    assert found.interval == pytest.approx((0.6643, 0.8398), abs=0.0001)
    assert win_rate(0, 0).undefined is Undefined.NOTHING_SCORED


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace("neither", "both"), "answer"),
        (lambda text: text + "1,first\n", "appears twice"),
        (lambda text: text + "99,first\n", "the key does not contain this item"),
        (lambda text: "\n".join(text.splitlines()[:-1]), "item 15 is missing"),
    ],
)
def test_sheets_that_are_not_the_keys_are_refused(tmp_path: Path, change: object, said: str) -> None:
    _, key = drawn()
    (tmp_path / "sheet.csv").write_text(change(answered(key, 7, 3, 2)))  # type: ignore[operator]
    with pytest.raises(DataError, match=said):
        adjudicate(read_answers(tmp_path / "sheet.csv", key), key)


def page_of(seed: int = 0) -> tuple[str, DisagreementDraw]:
    found = draw_disagreements(RESPONSES, 100, seed=seed, data="five responses", cost_usd=1.0)
    return render_disagreements_html(found.drawn, data="five responses"), found


def saved_answers(found: DisagreementDraw, answers: list[str], **changes: object) -> str:
    claims = tuple(one.to_settle for one in found.drawn)
    given = [
        {"response_id": one.response_id, "claim_id": one.claim_id, "answer": answer}
        for one, answer in zip(claims, answers, strict=False)
    ]
    file = {"claims_hash": hash_of(claims), "claims": [one.model_dump() for one in claims], "answers": given}
    return json.dumps({"schema_version": "1.0", "kind": "answers", **file, **changes})


def test_answers_of_a_page_count_as_those_of_a_sheet(tmp_path: Path) -> None:
    _, found = page_of()
    place = tmp_path / "answers.json"
    place.write_text(saved_answers(found, ["first", "neither", "second"]))
    (tmp_path / "sheet.csv").write_text(
        "item,answer\n1,first\n2,neither\n3,second\n" + "".join(f"{n},\n" for n in range(4, 16))
    )
    given = read_answers(place, found.key)
    assert given == read_answers(tmp_path / "sheet.csv", found.key)
    assert adjudicate(given, found.key).n_answered == 3


def test_answers_of_another_page_are_refused(tmp_path: Path) -> None:
    _, found = page_of()
    place = tmp_path / "answers.json"
    for text, said in (
        (saved_answers(page_of(seed=1)[1], ["first"]), "must belong to the same page"),
        (saved_answers(found, ["both"]), "is not a file of answers"),
        (saved_answers(found, ["first"], claims=[]), "the claims differ from those"),
        (saved_answers(found, ["first"], kind="labels"), "is not a file of answers"),
    ):
        place.write_text(text)
        with pytest.raises(DataError, match=said):
            read_answers(place, found.key)
