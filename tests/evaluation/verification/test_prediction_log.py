"""The output while it grows: whole lines, in any order, and in that of the input at the end."""

from __future__ import annotations

import json
from collections.abc import Container
from pathlib import Path
from typing import Any

import pytest

from factloop.core.errors import DataError
from factloop.evaluation.running.log import Log
from factloop.evaluation.verification.pairs import key_of
from factloop.evaluation.verification.records import Prediction
from factloop.evaluation.verification.run import open_log, summaries


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


@pytest.mark.parametrize("line", ["{}", "no JSON", "[]", '"\\ud800"', ""])
def test_a_line_that_is_no_prediction(path: Path, line: str) -> None:
    keep(path, prediction("1"))
    path.write_text(f"{path.read_text()}{line}\n")
    with pytest.raises(DataError, match=r"out.jsonl:2: it is not a prediction of this command"):
        opened(path)


def test_a_line_on_another_claim_is_named(path: Path) -> None:
    keep(path, prediction("1"), prediction("stranger"), prediction("2"))
    whole = path.read_bytes()
    with opened(path, keys=set(map(key_of, map(prediction, ("2", "stranger", "1"))))):
        pass
    with pytest.raises(DataError, match=r"out\.jsonl:2: its claim is not in the input"):
        opened(path, keys=set(map(key_of, map(prediction, ("2", "1", "3")))))
    assert path.read_bytes() == whole
