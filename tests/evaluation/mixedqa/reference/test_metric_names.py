from __future__ import annotations

from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.evaluation.mixedqa.reference.build import build_metrics


def names(*specifications: str) -> list[str]:
    return [metric.name for metric in build_metrics(specifications)]


def test_metrics_by_name_each_once_in_the_order_asked_for() -> None:
    assert names("rouge-l", "em", "rouge-l") == ["ROUGE-L", "Exact Match"]


def test_lexical_stands_for_all_that_need_no_model() -> None:
    found = names("lexical", "em")
    assert found[:4] == ["Exact Match", "BLEU-1", "BLEU-4", "ROUGE-L"]
    assert found[4].startswith("METEOR")
    assert len(found) == 5


def test_metrics_with_a_model_are_named_after_it(tmp_path: Path) -> None:
    model = tmp_path / "tiny@home"
    model.mkdir()
    assert names(
        f"bertscore:{model}@3", "bertscore:org/x", f"bartscore-evid:{model}", "gptscore-src:org/x", "bartscore-ref:m"
    ) == [
        "BERTScore (tiny@home)",
        "BERTScore (org/x)",
        "BARTScore-evid (tiny@home)",
        "GPTScore-src (org/x)",
        "BARTScore-ref (m)",
    ]


@pytest.mark.parametrize("wrong", ["", "rouge", "em:path", "bertscore", "bertscore:", "bartscore:path", "gptscore-x:y"])
def test_a_name_that_is_none_is_refused_with_those_there_are(wrong: str) -> None:
    with pytest.raises(ConfigError, match="there are lexical, em, bleu-1"):
        build_metrics((wrong,))
