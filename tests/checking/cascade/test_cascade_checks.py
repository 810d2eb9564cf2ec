from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from factloop import FactChecker, Verdict
from factloop.checking.cascade.records import CascadeFile
from factloop.checking.cascade.stage import cheap_verifier, read_cascade
from factloop.checking.views.shown import render_html
from factloop.core.errors import ConfigError, DataError
from factloop.core.records import FactualityReport
from tests.checking.simulated import simulated_checker
from tests.simulator import Response, Simulator


@pytest.fixture
def response(sim: Simulator) -> Response:
    return min(sim.world.responses, key=lambda response: len(response.facts))


@pytest.fixture
def docs(tmp_path: Path, response: Response) -> Path:
    path = tmp_path / "given.txt"
    path.write_text(response.text, encoding="utf-8")
    return path


def by_hand(folder: Path, **changes: Any) -> Path:
    path = folder / "cascade.json"
    identity = cheap_verifier("baseline").reader.identity
    fields = {"verifier": "baseline", "identity": identity, "upper": 0.5, "lower": None, **changes}
    path.write_text(CascadeFile.model_validate(fields).model_dump_json(), encoding="utf-8")
    return path


@pytest.mark.parametrize("plan", ["fused", "paper"])
async def test_what_the_verifier_settles_the_model_is_not_asked(
    sim: Simulator, response: Response, docs: Path, tmp_path: Path, plan: str
) -> None:
    async with simulated_checker(sim, plan=plan, docs=str(docs), cascade=by_hand(tmp_path)) as checker:
        report = await checker.acheck(response.text, response.prompt)
    saved = report.cascade
    assert saved is not None
    assert saved.n_settled > saved.n_sent_on
    stages = [claim.judgement.stage for claim in report.claims if claim.duplicate_of is None]
    assert stages.count("cheap") == saved.n_settled
    assert None not in stages
    asked = report.usage.stages
    assert sum(asked[name].calls for name in ("assessment", "rating", "search_query") if name in asked) <= (
        7 * saved.n_sent_on
    )
    assert sim.stats().search.requests <= 5 * saved.n_sent_on
    assert report.fingerprint.cascade is not None
    assert (report.fingerprint.cascade.upper, report.fingerprint.cascade.lower) == (0.5, None)
    assert "after baseline" in report.fingerprint.judge
    assert any("set by hand" in warning for warning in report.warnings)
    page = render_html(report)
    assert f"baseline settled {saved.n_settled} of" in page
    assert "the cheap verifier" in page
    assert FactualityReport.model_validate_json(report.model_dump_json()) == report


async def test_a_claim_rejected_without_asking_the_web_is_told_of(sim: Simulator, tmp_path: Path) -> None:
    docs = tmp_path / "other.txt"
    docs.write_text("Rome is the capital of Italy, and a house of many years is there in it.", encoding="utf-8")
    shortest = min(sim.world.responses, key=lambda one: len(one.facts))
    async with simulated_checker(sim, docs=str(docs), cascade=by_hand(tmp_path, upper=None, lower=0.9)) as checker:
        report = await checker.acheck(shortest.text, shortest.prompt)
    rejected = [claim for claim in report.claims if claim.judgement.stage == "cheap"]
    assert rejected
    assert {claim.judgement.verdict for claim in rejected} == {Verdict.NOT_SUPPORTED}
    assert any("based on the documents, without using serper" in warning for warning in report.warnings)


def test_a_run_directory_belongs_to_one_cascade(sim: Simulator, response: Response, docs: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    settings = {"docs": str(docs), "cascade": by_hand(tmp_path)}
    first = simulated_checker(sim, **settings).check(response.text, run_dir=run)
    requests = sim.stats().model.requests
    assert simulated_checker(sim, **settings).check(response.text, run_dir=run).claims == first.claims
    assert sim.stats().model.requests == requests
    by_hand(tmp_path, upper=0.6)
    with pytest.raises(ConfigError, match="changed: cascade"):
        simulated_checker(sim, **settings).check(response.text, run_dir=run)


@pytest.mark.parametrize(
    ("settings", "changes", "said"),
    [
        ({"model": None, "base_url": None}, {}, "set one with --model"),
        ({"docs": ()}, {}, "needs documents: set them"),
        ({}, {"identity": {"verifier": "baseline", "weights": "0" * 64}}, "weights differ.; tune it again"),
        ({}, {"verifier": "llm:openai:sim"}, "calls a server"),
        ({}, {"verifier": "oracle"}, "unknown judge 'oracle'"),
    ],
)
def test_what_cannot_be_right_is_refused_before_anything_is_spent(
    sim: Simulator, docs: Path, tmp_path: Path, settings: dict[str, Any], changes: dict[str, Any], said: str
) -> None:
    cascade = by_hand(tmp_path, **changes)
    checker = simulated_checker(sim, **{"docs": str(docs), "cascade": cascade, **settings})
    with pytest.raises(ConfigError, match=said):
        checker.check("Ada Lovelace was born in London.")
    assert sim.stats().model.requests == sim.stats().search.requests == 0


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("", DataError, "not a cascade"),
        ("{}", DataError, "verifier"),
        ('{"verifier": "baseline", "identity": {}, "upper": 0.2, "lower": 0.5}', DataError, "must be below `upper`"),
        ('{"verifier": "baseline", "identity": {}, "upper": 1.5, "lower": null}', DataError, "upper"),
        ('{"verifier": "baseline", "identity": {}, "upper": NaN, "lower": null}', DataError, "not a cascade|upper"),
        ('{"verifier": "baseline", "identity": {"a": ' + "[" * 100_000, DataError, "not a cascade"),
        ('{"verifier": "\\ud800", "identity": {}, "upper": null, "lower": null}', DataError, "not a cascade"),
        ('{"verifier": "baseline", "identity": {"a": ' + "9" * 5_000 + "}}", DataError, "not a cascade"),
        (None, DataError, "cannot be read"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_file_that_is_no_cascade_is_named(tmp_path: Path, text: str | None, kind: type[Exception], said: str) -> None:
    path = tmp_path / "wrong.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(kind, match=said) as refused:
        read_cascade(path)
    assert "wrong.json" in str(refused.value)
    assert len(str(refused.value)) < 500


def test_documents_that_come_with_an_answer_are_looked_at(sim: Simulator, tmp_path: Path, response: Response) -> None:
    from langchain_core.documents import Document

    from factloop.setup.sources import Sources
    from factloop.tools.search.given import GivenDocuments

    given = Sources((GivenDocuments([Document(response.text)]),))
    checker = FactChecker("openai:sim", base_url=sim.base_url, cache=False, cascade=by_hand(tmp_path))
    report = checker.check(response.text, sources=given)
    assert report.cascade is not None
    assert report.cascade.n_supported > 0
    nothing = checker.check(response.text, sources=Sources(()))
    assert nothing.counts.scored == 0
    assert nothing.counts.unscored > 0
