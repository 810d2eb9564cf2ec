from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from factloop import FactChecker, Verdict
from factloop.checking.cascade.records import CascadeFile
from factloop.checking.cascade.stage import cheap_verifier
from factloop.core.errors import ConfigError
from factloop.core.records import FactualityReport, UnscoredReason
from tests.extras import needs
from tests.tools.fake_server import Reply, serving
from tests.tools.judges.tiny_models import save_biased

pytestmark = [needs("transformers", "semantic"), pytest.mark.torch]

TEXT = "Ada paints bridges. Paris is red."
NLI = ["contradiction", "entailment", "neutral"]


def judge_that_says(folder: Path, *biases: float) -> str:
    """The `--judge` name of a tiny NLI encoder whose output depends only on its biases."""
    return f"nli:{save_biased(folder, dict(enumerate(NLI)), biases)}"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    path = tmp_path / "docs" / "ada.txt"
    path.parent.mkdir()
    path.write_text("Ada paints bridges in Paris. The bridges are red.", encoding="utf-8")
    return path


def checked(docs: Path, **settings: Any) -> FactualityReport:
    return FactChecker(docs=docs, cache=False, **settings).check(TEXT)


@pytest.mark.parametrize("plan", ["fused", "paper", "grounded"])
@pytest.mark.parametrize(
    ("biases", "verdict", "contradicted"),
    [
        ((0.0, 9.0, 0.0), Verdict.SUPPORTED, None),
        ((9.0, 0.0, 0.0), Verdict.NOT_SUPPORTED, True),
        ((0.0, 0.0, 9.0), Verdict.NOT_SUPPORTED, False),
    ],
)
def test_the_judge_gives_the_verdict_in_every_plan(
    docs: Path, tmp_path: Path, plan: str, biases: tuple[float, ...], verdict: Verdict, contradicted: bool | None
) -> None:
    report = checked(docs, judge=judge_that_says(tmp_path / "tiny", *biases), plan=plan)
    assert len(report.claims) == 2
    for claim in report.claims:
        judgement = claim.judgement
        assert (judgement.verdict, judgement.contradicted) == (verdict, contradicted)
        assert bool(judgement.cited) == (judgement.verdict is Verdict.SUPPORTED or contradicted is True)
        assert judgement.judged_by.startswith("nli:tiny (sha256 ")
        assert judgement.score == pytest.approx(0.9998 if verdict is Verdict.SUPPORTED else 0.0001, abs=1e-3)
    named = report.fingerprint.verifier
    assert named is not None
    assert report.fingerprint.judge.startswith(f"{named.verifier}, paper plan" if plan == "paper" else named.verifier)
    assert not any("word overlap" in warning for warning in report.warnings)
    assert report.usage.calls == 0


def tuned(folder: Path, judge: str, *, upper: float | None, lower: float | None) -> Path:
    path = folder / "tuned.json"
    identity = cheap_verifier(judge).reader.identity
    file = CascadeFile.model_validate({"verifier": judge, "identity": identity, "upper": upper, "lower": lower})
    path.write_text(file.model_dump_json(), encoding="utf-8")
    return path


def test_thresholds_by_labels_leave_what_lies_between_to_a_reader(docs: Path, tmp_path: Path) -> None:
    judge = judge_that_says(tmp_path / "tiny", 0.0, 0.7, 0.0)  # P(entailment) = e^.7 / (e^.7 + 2) = .50
    for upper, lower, verdict in ((0.4, 0.2, Verdict.SUPPORTED), (0.9, 0.6, Verdict.NOT_SUPPORTED), (0.9, 0.2, None)):
        cascade = tuned(tmp_path, judge, upper=upper, lower=lower)
        report = checked(docs, judge=judge, cascade=cascade)
        judgement = report.claims[0].judgement
        assert judgement.verdict is verdict
        assert judgement.score == pytest.approx(0.502, abs=1e-3)
        if verdict is None:
            assert judgement.unscored_reason is UnscoredReason.NEEDS_READING
            assert (report.counts.scored, report.counts.unscored) == (0, 2)
    with pytest.raises(ConfigError, match="never rejects a claim"):
        checked(docs, judge=judge, cascade=tuned(tmp_path, judge, upper=0.9, lower=None))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"judge": "minicheck", "model": "openai:sim"}, "use --model or --judge, not both"),
        ({"judge": "baseline"}, "if you set neither a judge nor a model"),
        ({"judge": "llm:openai:sim"}, "set a chat model with --model"),
        ({"judge": "oracle"}, "unknown judge 'oracle'"),
        ({"judge": "nli"}, "unknown judge 'nli'"),
        ({"judge": "nli:/no/such/folder"}, "does not exist"),
        ({"judge": "bespoke:minicheck-7b"}, "set its address"),
    ],
)
def test_what_cannot_be_right_is_one_clear_line(docs: Path, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as refused:
        checked(docs, base_url="http://127.0.0.1:9/v1" if "model" in settings else None, **settings)
    assert "\n" not in str(refused.value)


def test_bespoke_is_asked_at_its_server(docs: Path) -> None:
    choice = '{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes"}}'
    body = f'{{"id": "1", "object": "chat.completion", "created": 0, "model": "x", "choices": [{choice}]}}'
    with serving() as server:
        server.respond = lambda _: Reply(body=body.encode())
        report = checked(docs, judge="bespoke:minicheck-7b", base_url=f"{server.url}/v1")
    assert {claim.judgement.verdict for claim in report.claims} == {Verdict.SUPPORTED}
    assert {claim.judgement.judged_by for claim in report.claims} == {"bespoke:minicheck-7b"}
    assert report.usage.calls > 0
