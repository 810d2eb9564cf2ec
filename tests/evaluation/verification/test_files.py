from __future__ import annotations

import json
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import DataError
from factloop.evaluation.datasets.mapping import Spans
from factloop.evaluation.running.log import Log
from factloop.evaluation.verification.pairs import PairSpool, PlacedRow, key_of, load_pairs
from factloop.evaluation.verification.records import PairRow, Prediction, SpanFigures
from factloop.evaluation.verification.run import open_log, summaries


def placed(*rows: dict[str, Any]) -> Iterator[PlacedRow]:
    for line, row in enumerate(rows, 1):
        yield line, PairRow.model_validate({"id": str(line), "claim": "c", "document": "d", **row})


def spooled(*rows: dict[str, Any], limit: int | None = None) -> list[Prediction]:
    with PairSpool(placed(*rows), path="pairs.jsonl", default_dataset="mine", limit=limit) as spool:
        return list(spool)


def test_what_is_not_given_is_made_up_and_what_is_stays() -> None:
    one, other = spooled({}, {"dataset": "x", "system": "s", "response_id": 7, "claim_id": "k", "label": 0})
    assert one == Prediction(
        dataset="mine", system="unknown", response_id="1", claim_id="1", claim="c", document="d", evaluators={}
    )
    assert other.key == ("x", "s", "7", "k")
    assert other.label == 0


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([], "pairs.jsonl: the file has no rows"),
        ([{"document": ""}, {"document": None}], "pairs.jsonl: field 'document': there are no documents"),
        (
            [{"claim_id": "k", "response_id": "r"}, {}, {"claim_id": "k", "response_id": "r"}],
            "pairs.jsonl:3: field 'claim_id': line 1 has the same id, 'k', in the same response",
        ),
        ([{}, {"prompt_id": "p"}], "pairs.jsonl:2: field 'prompt_id': must be set in every row or in none"),
    ],
)
def test_what_the_audit_would_refuse_is_refused_now(rows: list[dict[str, Any]], complaint: str) -> None:
    with pytest.raises(DataError) as caught:
        spooled(*rows)
    assert str(caught.value).startswith(complaint)


def test_only_a_data_set_has_marked_spans(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("claim,document,marked\nc,d,yes\n", encoding="utf-8")
    with PairSpool(load_pairs(tmp_path / "pairs.csv"), path="pairs.csv", default_dataset="mine") as spool:
        assert [one.marked for one in spool] == [None]


def test_a_name_that_has_scores_already_is_refused() -> None:
    rows = placed({}, {"evaluators": {"baseline": 0.5}})
    with PairSpool(rows, path="pairs.jsonl", default_dataset="mine") as spool:
        spool.refuse_scored(["nli:x"])
        with pytest.raises(DataError, match=r"pairs.jsonl:2: field 'evaluators': there are already scores"):
            spool.refuse_scored(["nli:x", "baseline"])


def test_counts_and_the_digest() -> None:
    def digest(*rows: dict[str, Any]) -> str:
        with PairSpool(placed(*rows), path="p", default_dataset="mine") as spool:
            return spool.digest

    rows: list[dict[str, Any]] = [{"label": 1, "system": "s"}, {"document": " "}, {"label": 0}]
    with PairSpool(placed(*rows), path="p", default_dataset="mine") as spool:
        assert (spool.n, spool.n_labelled, spool.n_blank, spool.n_unnamed) == (3, 2, 1, 2)
        assert [one.claim_id for one in spool] == [one.claim_id for one in spool] == ["1", "2", "3"]
        assert spool.digest == digest(*rows)
    assert digest({}) != digest({"claim": "other"})
    assert len({key_of(one) for one in spooled(*rows)}) == 3


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ({"claim": " "}, "claim"),
        ({"document": ["d"]}, "document"),
        ({"label": 2}, "label"),
        ({"evaluators": {"a": 1.5}}, "evaluators.a"),
    ],
)
def test_a_bad_row_names_file_line_and_field(tmp_path: Path, row: dict[str, Any], field: str) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in ({"claim": "c"}, {"claim": "c", **row})))
    with pytest.raises(DataError) as caught:
        list(load_pairs(path))
    assert (caught.value.path, caught.value.line, caught.value.field) == (str(path), 2, field)


def prediction(claim_id: str, score: float | None = 0.5, reason: str = "timeout", **fields: Any) -> Prediction:
    return Prediction(
        dataset="d", system="s", response_id="r", claim_id=claim_id, claim="c\n€", document="x", **fields,
        evaluators={"a": score}, unscored={} if score is not None else {"a": reason},
    )  # fmt: skip


def ids(path: Path) -> list[str]:
    return [json.loads(line)["claim_id"] for line in path.read_text().splitlines()]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out.jsonl"


class All:
    def __contains__(self, key: object) -> bool:
        return True


def keep(path: Path, *predictions: Prediction) -> None:
    with opened(path) as log:
        for one in predictions:
            log.append(one)


def opened(path: Path, *columns: str, keys: Container[bytes] = All()) -> Log[Prediction, bytes]:
    return open_log(path, columns or ("a",), keys)


def test_what_failed_for_a_passing_reason_is_done_again(path: Path) -> None:
    keep(path, *(prediction(reason, None, reason) for reason in ("timeout", "refusal", "budget", "no_source")))
    with opened(path) as log:
        assert ids(path) == ["refusal", "no_source"]
        for name in ("timeout", "budget"):
            log.append(prediction(name))
        log.put_in_order(key_of(prediction(name)) for name in ("timeout", "refusal", "budget", "no_source"))
        (summary,) = summaries(log, ["a"])
    assert ids(path) == ["timeout", "refusal", "budget", "no_source"]
    assert (summary.n_scored, summary.unscored) == (2, {"refusal": 1, "no_source": 1})


def test_the_share_of_support_is_of_the_scored(path: Path) -> None:
    scores = (0.5, 0.49, 1.0, None)
    keep(path, *(prediction(str(number), score, "refusal") for number, score in enumerate(scores)))
    with opened(path) as log:
        (summary,) = summaries(log, ["a"])
    assert summary.share_supported == pytest.approx(2 / 3)
    with opened(path.with_name("empty")) as log:
        assert summaries(log, ["a"])[0].share_supported is None


def test_spans_are_counted_in_characters() -> None:
    """Each claim has three characters; the first is accepted, two are rejected, and the last is not scored."""
    marks: list[tuple[float | None, Spans]] = [(0.9, ((0, 1), (0, 2))), (0.1, ()), (0.1, ((1, 9),)), (None, ((0, 3),))]
    (found,) = summaries([prediction(str(marked), score, marked=marked) for score, marked in marks], ["a"])
    assert found.spans == SpanFigures(precision=2 / 6, recall=2 / 4, f1=4 / 10, n_predicted=6, n_marked=4)
    (accepted,) = summaries([prediction("1", 0.9, marked=((0, 1),))], ["a"])
    assert accepted.spans == SpanFigures(precision=None, recall=0.0, f1=0.0, n_predicted=0, n_marked=1)


@pytest.mark.parametrize("line", ["{}", "no JSON", "[]", '"\\ud800"', ""])
def test_a_line_that_is_no_prediction(path: Path, line: str) -> None:
    keep(path, prediction("1"))
    path.write_text(f"{path.read_text()}{line}\n")
    with pytest.raises(DataError, match=r"out.jsonl:2: `factloop research verify` did not"):
        opened(path)


def test_a_line_on_another_claim_is_named(path: Path) -> None:
    keep(path, prediction("1"), prediction("stranger"), prediction("2"))
    whole = path.read_bytes()
    with opened(path, keys=set(map(key_of, map(prediction, ("2", "stranger", "1"))))):
        pass
    with pytest.raises(DataError, match=r"out\.jsonl:2: the claim on this line is not in the input"):
        opened(path, keys=set(map(key_of, map(prediction, ("2", "1", "3")))))
    assert path.read_bytes() == whole
