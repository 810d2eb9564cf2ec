from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from factloop import FactChecker, FactualityReport, LongFormTrustReport, TrustReport
from factloop.agents.trustscore.records import ClaimStanding
from factloop.core.records import Counts
from factloop.entrance.asks import NO_TEXT
from factloop.entrance.keys import ApiKeys
from factloop.evaluation.audit.report import AuditReport
from factloop.service import evaluation, work
from factloop.service.app import DEADLINE_S, in_words
from factloop.setup.settings import CheckSettings
from factloop.setup.sources import Sources
from factloop.tools.search.documents.search import DocumentSearch
from factloop.trust.settings import TrustSettings
from tests.checking.simulated import simulated_scorer
from tests.service.asking import ANSWER, ASK, FINISHED_WITHIN_S, Service, finished
from tests.simulator import MODEL, Simulator
from tests.timeless import stable


async def test_a_job_is_followed_from_its_request_to_its_report(service: Service) -> None:
    async with service() as client:
        answer = await client.post("/v1/checks", json=ASK)
        job = answer.json()
        assert (answer.status_code, job["kind"], job["title"]) == (202, "check", "Who was she?")
        assert answer.headers["location"] == f"/v1/jobs/{job['id']}"
        assert job["limits"]["deadline_s"] == DEADLINE_S == 3_600.0
        ended = await finished(client, job["id"])
        assert ended["status"] == "done"
        assert (ended["progress"]["n_claims_found"], ended["progress"]["n_claims_judged"]) == (2, 2)
        assert ended["summary"]["counts"] == Counts(supported=1, not_supported=1).model_dump()
        assert ended["created_at"] <= ended["started_at"] <= ended["finished_at"]
        page = await client.get(f"/v1/jobs/{job['id']}/report.html")
        assert "Ada Lovelace was born on 12 December 1815." in page.text
        too_late = await client.post(f"/v1/jobs/{job['id']}/cancel")
        assert (too_late.status_code, too_late.json()["status"]) == (200, "done")
        assert (await client.get(f"/v1/jobs/{job['id']}/result")).status_code == 200, "a late stop takes nothing away"
        assert (await client.delete(f"/v1/jobs/{job['id']}")).json()["status"] == "done"
        assert (await client.get(f"/v1/jobs/{job['id']}")).status_code == 404


async def test_registered_documents_give_the_evidence_of_the_api_under_their_name(
    service: Service, docs: Path, home: Path
) -> None:
    ask = {"response": ANSWER, "documents": "lives", "mode": "faithfulness"}
    async with service(documents=(f"lives={docs}",)) as client:
        info = (await client.get("/v1/info")).json()
        through = (await client.post("/v1/checks?wait=true", json=ask)).json()
    tool = DocumentSearch([docs], cache_dir=home / "c")
    async with FactChecker(cache_dir=home / "cache") as checker:
        direct = await checker.acheck(ANSWER, sources=Sources((tool,), registered_as="lives"))
    assert info["documents"] == [{"name": "lives", "title": "lives", "n_files": 1}]
    expected = direct.model_dump_json().replace(f"{docs}/ada.txt", "lives/ada.txt")
    assert stable(through) == stable(FactualityReport.model_validate_json(expected).model_dump(mode="json"))
    assert str(docs) not in str(through)
    alone = "Faithfulness: judged only against the documents registered as “lives”; nothing else was searched."
    assert alone in through["warnings"]


async def test_what_is_served_is_said_and_unread_and_changed_documents_are_logged(
    service: Service, docs: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "LOOK_AT_FILES_EVERY_S", 0.01)
    (docs / "scan.pdf").write_bytes(b"%PDF-1.4")
    keys = ApiKeys(["a-key-of-sixteen-letters max_calls_per_day=5", "another-key-of-sixteen"])
    async with service(documents=(f"lives={docs}",), keys=keys) as client, asyncio.timeout(FINISHED_WITHIN_S):
        said = in_words(client._transport.app)  # type: ignore[attr-defined]  # the application
        (docs / "byron.txt").write_text("Lord Byron was born in 1788.\n", encoding="utf-8")
        while len(caplog.messages) < 2:  # noqa: ASYNC110 - the log is no event of ours
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
    assert said == "2 keys, documents lives: 1 file, no model, so checks cost nothing"
    unread, changed = caplog.messages
    assert unread.startswith("Documents that were not read (1): lives/scan.pdf (")
    assert changed == f"documents in {docs} have changed; restart the service to read them again"


async def test_a_model_judges_and_its_cost_is_counted(service: Service, sim: Simulator, home: Path) -> None:
    check = CheckSettings(
        model=MODEL, base_url=sim.base_url, search=("serper",), cache_dir=home / "cache", price_in=1.0, price_out=1.0
    )
    key = "a-key-of-sixteen-letters"
    response = min(sim.world.responses, key=lambda response: len(response.facts))
    keys = ApiKeys([f"{key} name=acme budget_usd_per_day=50", "another-key-of-sixteen"])
    async with service(check, keys=keys) as client:
        client.headers["Authorization"] = f"Bearer {key}"
        said = in_words(client._transport.app)  # type: ignore[attr-defined]  # the application
        assert "openai:sim" in (await client.get("/v1/info")).json()["judge"]
        ask = {"response": response.text, "question": response.prompt, "mode": "factuality"}
        report = FactualityReport.model_validate_json((await client.post("/v1/checks?wait=true", json=ask)).content)
        metrics = (await client.get("/metrics")).text
    assert said == f"2 keys, at most 5.0000 USD a check (some keys allow more), model {MODEL}"
    assert report.counts.unscored == 0
    assert report.usage.calls == sim.stats().model.answered > 0
    assert f'factloop_model_calls_total{{key="acme"}} {float(report.usage.calls)}' in metrics
    assert report.usage.cost_usd
    assert f'factloop_cost_usd_total{{key="acme"}} {report.usage.cost_usd}' in metrics
    assert 'factloop_jobs_total{key="acme",kind="check",status="done"} 1.0' in metrics
    assert 'factloop_requests_total{route="/v1/checks",status="200"} 1.0' in metrics
    assert f'factloop_claims_total{{verdict="supported"}} {float(report.counts.supported)}' in metrics


async def test_a_trust_score_is_that_of_the_api(service: Service, sim: Simulator) -> None:
    question, answer = "Where was Ada Lovelace born?", "London"
    async with simulated_scorer(sim) as scorer:
        direct = await scorer.ascore(question, answer)
    trust = TrustSettings(subject_model=MODEL, base_url=sim.base_url, cache=False)
    async with service(trust=trust) as client:
        assert (await client.get("/v1/info")).json()["has_subject"] is True
        given = await client.post("/v1/trust?wait=true", json={"question": question, "response": answer})
        with_documents = {"question": question, "response": answer, "documents": ASK["documents"]}
        both = TrustReport.model_validate_json((await client.post("/v1/trust?wait=true", json=with_documents)).content)
    through = TrustReport.model_validate_json(given.content)
    assert (through.trust_bc.value, through.trust_bc.n_asked) == (direct.trust_bc.value, direct.trust_bc.n_asked)
    assert both.trust_fc.passages[0].source == "https://a.example"


async def test_a_long_answer_is_checked_and_scored(service: Service, sim: Simulator) -> None:
    check = CheckSettings(model=MODEL, base_url=sim.base_url, cache=False)
    trust = TrustSettings(subject_model=MODEL, base_url=sim.base_url, cache=False)
    ask = {name: ASK[name] for name in ("response", "documents")}
    async with service(check, trust) as client:
        given = await client.post("/v1/trust/long-form?wait=true", json=ask)
        (job,) = (await client.get("/v1/jobs?kind=long_form")).json()["jobs"]
        page = await client.get(f"/v1/jobs/{job['id']}/report.html")
        metrics = (await client.get("/metrics")).text
    report = LongFormTrustReport.model_validate_json(given.content)
    calls = report.factuality.usage.calls + report.usage.calls
    assert report.claims
    assert report.counts[ClaimStanding.UNPLACED] == 0
    assert job["summary"]["counts"] == report.factuality.counts.model_dump()
    assert sum(job["summary"]["standings"].values()) == len(report.claims)
    assert job["summary"]["n_calls"] == calls == sim.stats().model.answered > 0
    assert f'factloop_model_calls_total{{key=""}} {float(calls)}' in metrics
    assert page.status_code == 200


async def test_a_subject_that_cannot_be_asked_is_said_before_the_check_is_paid(
    service: Service, sim: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    check = CheckSettings(model=MODEL, base_url=sim.base_url, cache=False)
    async with service(check, TrustSettings(subject_model=MODEL, cache=False)) as client:
        monkeypatch.delenv("OPENAI_API_KEY")
        ask = {name: ASK[name] for name in ("response", "documents")}
        refused = await client.post("/v1/trust/long-form?wait=true", json=ask)
    assert (refused.status_code, refused.json()["error"]["type"]) == (503, "not_set_up")
    assert sim.stats().model.requests == 0


def audit_rows(n_systems: int) -> list[dict[str, Any]]:
    return [
        {
            "dataset": "d", "system": f"s{number % n_systems}", "response_id": str(number), "claim_id": "1",
            "label": number % 2, "evaluators": {"right": number % 2, "wrong": 1 - number % 2},
        }
        for number in range(max(6, n_systems))
    ]  # fmt: skip


async def test_an_audit_is_a_job(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    async with service() as client:
        job = (await client.post("/v1/audits", json={"rows": audit_rows(2)})).json()
        ended = await finished(client, job["id"])
        report = AuditReport.model_validate_json((await client.get(f"/v1/jobs/{job['id']}/result")).content)
        page = await client.get(f"/v1/jobs/{job['id']}/report.html")
        assert (await client.get(f"/v1/jobs/{job['id']}/request")).json() == {"rows": audit_rows(2)}
        monkeypatch.setattr(evaluation, "LONGEST_S", 0)
        late = await client.post("/v1/audits", json={"rows": audit_rows(2)})
        assert "took longer than 0 s" in late.json()["error"]["message"]
    assert ended["summary"] == {"kind": "audit", "n_claims": 6, "n_responses": 6, "evaluators": ["right", "wrong"]}
    assert report.data.n_claims == 6
    assert page.status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "field", "said"),
    [
        ("checks", {"response": ANSWER}, "documents", "pass documents, because this server has no other sources"),
        ("checks", {"response": ANSWER, "mode": "factuality"}, "documents", "nothing to check against"),
        ("checks", {"response": ANSWER, "documents": []}, "documents", "contain no text"),
        ("checks", {"response": ANSWER, "documents": [{"text": " "}], "mode": "factuality"}, "documents", "no text"),
        ("checks", {"response": ANSWER, "documents": "/etc/passwd"}, "documents", "no documents with this name"),
        ("checks", {"response": " \n", "documents": []}, "response", "pattern"),
        ("checks", {"response": ANSWER, "documents": [{"title": "Ada"}]}, "documents.0.text", "Field required"),
        ("checks", {"response": ANSWER, "documents": [{"path": "a"}]}, "documents.0.path", "fields are text, "),
        ("checks", {"response": ANSWER, "colour": "red"}, "colour", "no such field; known fields are response, q"),
        ("checks", {"response": ANSWER, "limits": {"deadline": 5}}, "limits.deadline", "did you mean 'deadline_s'?"),
        ("checks", {"response": ANSWER, "documents": [{"text": ""}] * 1_001}, "documents", "at most 1000 items"),
        ("trust", {"question": "Who?"}, "response", "no subject model"),
        ("trust", {"question": "Who?", "response": "Ada"}, "documents", "nothing to score the response by"),
        ("trust/long-form", {"response": ANSWER, "documents": []}, "", "no subject model"),
        ("audits", {"rows": [{"dataset": "d"}]}, "rows", "row 1"),
        ("audits", {"rows": []}, "rows", "no rows"),
        ("audits", {"rows": [*audit_rows(2), 1]}, "rows", "row 7: must be an object"),
        ("audits", {"rows": [{**audit_rows(1)[0], "dataset": "d" * 1_001}]}, "rows", "row 1: field 'dataset': m"),
        ("audits", {"row": audit_rows(2)}, "rows", "must be an array"),
        ("audits", {"rows": audit_rows(700)}, "rows", "700 systems"),
    ],
)
async def test_what_makes_no_sense_is_refused_at_once(
    service: Service, path: str, body: dict[str, Any], field: str, said: str
) -> None:
    async with service() as client:
        answer = await client.post(f"/v1/{path}", json=body)
        assert (await client.get("/v1/jobs")).json()["jobs"] == []
    error = answer.json()["error"]
    assert (answer.status_code, error["type"]) == (422, "invalid_input")
    assert error.get("field", "").startswith(field)
    assert said in error["message"]


@pytest.mark.parametrize("documents", [[], [{"text": ""}, {"text": " \n", "title": "Ada"}]])
async def test_documents_without_text_are_nothing_to_be_faithful_to(
    service: Service, sim: Simulator, docs: Path, home: Path, documents: list[dict[str, str]]
) -> None:
    """Rejected as on the command line, whatever the service searches; `factuality` also searches that."""
    check = CheckSettings(docs=(str(docs),), cache_dir=home / "cache")
    ask = {"response": ANSWER, "documents": documents}
    async with service(check, TrustSettings(subject_model=MODEL, base_url=sim.base_url, cache=False)) as client:
        refused = [await client.post(f"/v1/{path}", json=ask) for path in ("checks", "trust/long-form")]
        assert (await client.get("/v1/jobs")).json()["jobs"] == []
        searched = await client.post("/v1/checks?wait=true", json={**ask, "mode": "factuality"})
    for answer in refused:
        error = answer.json()["error"]
        assert (answer.status_code, error["type"], error["field"]) == (422, "invalid_input", "documents")
        assert error["message"] == NO_TEXT
    assert searched.json()["counts"] == Counts(supported=1, not_supported=1).model_dump()
