"""The output while it grows: whole lines, in any order, and in that of the input at the end."""

from __future__ import annotations

import json
from collections.abc import Container
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.evaluation.running.log import Log
from factloop.evaluation.verification.log import open_log
from factloop.evaluation.verification.records import Prediction
from factloop.evaluation.verification.spool import key_of
from factloop.evaluation.verification.summary import summaries


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
    """The keys of an input with every claim."""

    def __contains__(self, key: object) -> bool:
        return True


def keep(path: Path, *predictions: Prediction) -> None:
    with opened(path) as log:
        for one in predictions:
            log.append(one)


def opened(path: Path, *columns: str, keys: Container[bytes] = All()) -> Log[Prediction, bytes]:
    return open_log(path, columns or ("a",), keys)


def test_what_is_kept_is_found_again(path: Path) -> None:
    keep(path, prediction("1"), prediction("2"))
    with opened(path) as log:
        assert set(log.finished) == {key_of(prediction("1")), key_of(prediction("2"))}
        log.append(prediction("3"))
    assert ids(path) == ["1", "2", "3"]


@pytest.mark.parametrize("cut", range(1, 120, 7))
def test_a_torn_line_is_dropped(path: Path, cut: int) -> None:
    keep(path, prediction("1"), prediction("2"))
    path.write_bytes(path.read_bytes()[:-cut])
    with opened(path) as log:
        assert set(log.finished) == {key_of(prediction("1"))}
        log.append(prediction("2"))
    assert ids(path) == ["1", "2"]


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


def test_failures_of_other_evaluators_are_none_of_this_run(path: Path) -> None:
    other = prediction("1").model_copy(update={"evaluators": {"a": 0.1, "b": None}, "unscored": {"b": "timeout"}})
    keep(path, other)
    with opened(path) as log:
        assert len(log.finished) == 1


def test_the_share_of_support_is_of_the_scored(path: Path) -> None:
    scores = (0.5, 0.49, 1.0, None)
    keep(path, *(prediction(str(number), score, "refusal") for number, score in enumerate(scores)))
    with opened(path) as log:
        (summary,) = summaries(log, ["a"])
    assert summary.share_supported == pytest.approx(2 / 3)
    with opened(path.with_name("empty")) as log:
        assert summaries(log, ["a"])[0].share_supported is None


@pytest.mark.parametrize("line", ["{}", "no JSON", "[]", '"\\ud800"', ""])
def test_a_line_that_is_no_prediction(path: Path, line: str) -> None:
    keep(path, prediction("1"))
    path.write_text(f"{path.read_text()}{line}\n")
    with pytest.raises(DataError, match=r"out.jsonl:2: it is not a prediction of this command"):
        opened(path)


def test_a_line_without_the_evaluator(path: Path) -> None:
    keep(path, prediction("1"))
    with pytest.raises(DataError, match="no score of 'b'"):
        opened(path, "a", "b")


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be used"):
        opened(tmp_path / "no" / "folder.jsonl")


def test_a_line_on_another_claim_is_named(path: Path) -> None:
    keep(path, prediction("1"), prediction("stranger"), prediction("2"))
    whole = path.read_bytes()
    with opened(path, keys=set(map(key_of, map(prediction, ("2", "stranger", "1"))))):
        pass
    with pytest.raises(DataError, match=r"out\.jsonl:2: its claim is not in the input"):
        opened(path, keys=set(map(key_of, map(prediction, ("2", "1", "3")))))
    assert path.read_bytes() == whole
