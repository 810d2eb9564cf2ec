from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from factloop.entrance.keys import ApiKeys
from factloop.evaluation.labels.exporting import export_labels
from factloop.reports.labels import GivenLabel, LabelFile, PersonLabel, read_saved
from factloop.service.store import JobStore, read_labels
from tests.service.asking import ASK, Service
from tests.service.test_store import job


async def checked(client: httpx.AsyncClient, **changes: Any) -> tuple[str, list[str]]:
    report = (await client.post("/v1/checks?wait=true", json={**ASK, **changes})).json()
    (one, *_) = (await client.get("/v1/jobs")).json()["jobs"]
    return f"/v1/jobs/{one['id']}/labels", [claim["id"] for claim in report["claims"]]


async def test_labels_are_given_read_taken_back_and_deleted(service: Service, url: str, tmp_path: Path) -> None:
    async with service(database=url) as client:
        path, (first, second) = await checked(client)
        empty = LabelFile.model_validate_json((await client.get(path)).content)
        assert (len(empty.claims), empty.labels) == (2, ())
        given = await client.put(f"{path}/{first}", json={"label": "supported", "comment": "Clear.", "blind": True})
        assert (given.status_code, given.json()["claim_id"]) == (200, first)
        assert given.json()["given_at"]
        await client.put(f"{path}/{second}", json={"label": "cannot_tell"})
        again = await client.put(f"{path}/{second}", json={"label": "not_supported"})
        assert again.json()["label"] == "not_supported"
        (tmp_path / "labels.json").write_bytes((await client.get(path)).content)
        taken = await client.delete(f"{path}/{second}")
        assert taken.json()["label"]["label"] == "not_supported"
        assert (await client.delete(f"{path}/{second}")).json() == {"label": None}
        assert [one["claim_id"] for one in (await client.get(path)).json()["labels"]] == [first]
    async with service(database=url) as client:  # kept over a restart
        assert [one["comment"] for one in (await client.get(path)).json()["labels"]] == ["Clear."]
        assert (await client.delete(path.removesuffix("/labels"))).status_code == 200
        assert (await client.get(path)).status_code == 404
    store = JobStore(url)
    assert store.text(path.split("/")[3], "labels") is None
    store.close()
    assert len(read_saved(tmp_path / "labels.json", LabelFile).labels) == 2
    rows = export_labels([tmp_path / "labels.json"]).rows
    assert [(row["label"], row["blind"]) for row in rows] == [(1, True), (0, False)]
    assert "Ada Lovelace was born in London on 10 December 1815." in rows[0]["document"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"label": "yes"},
        {"label": "supported", "comment": "x" * 2001},
        {"label": "supported", "verdict": "supported"},
        {"label": "supported", "blind": "perhaps"},
        [],
    ],
    ids=["empty", "unknown", "long comment", "unknown field", "no truth value", "a list"],
)
async def test_a_label_that_is_none_is_refused(service: Service, body: object) -> None:
    async with service() as client:
        path, (first, _) = await checked(client)
        refused = await client.put(f"{path}/{first}", json=body)
        assert refused.json()["error"]["type"] == ("too_large" if refused.status_code == 413 else "invalid_input")
        assert refused.status_code in (413, 422)
        assert (await client.get(path)).json()["labels"] == []


async def test_a_job_has_room_for_so_many_labels(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("factloop.service.store.MOST_LABELS", 1_000)
    async with service() as client:
        path, claims = await checked(client)
        label = {"label": "supported", "comment": "x" * 600}
        given = [await client.put(f"{path}/{claim}", json=label) for claim in claims]
        assert [answer.status_code for answer in given] == [200, 507]
        assert (await client.delete(f"{path}/{claims[0]}")).status_code == 200


async def test_claims_and_jobs_that_are_not_there_are_refused(service: Service) -> None:
    async with service() as client:
        path, _ = await checked(client)
        label = {"label": "supported"}
        for claim in ("c99", "%00", "a%2Fb", "x" * 201):
            refused = await client.put(f"{path}/{claim}", json=label)
            assert refused.status_code in (404, 422), claim
        assert (await client.put(f"/v1/jobs/{'0' * 32}/labels/c1", json=label)).status_code == 404
        audit = {"rows": [{"dataset": "d", "system": "s", "response_id": str(n), "claim_id": "1", "label": n % 2,
                           "evaluators": {"e": float(n % 2)}} for n in range(4)]}  # fmt: skip
        asked = (await client.post("/v1/audits", json=audit)).json()
        refused = await client.get(f"/v1/jobs/{asked['id']}/labels")
        assert refused.json()["error"]["message"] == "only the claims of checks can be labelled"


async def test_labels_are_their_owners_alone(service: Service) -> None:
    async with service(keys=ApiKeys(["a" * 32, "b" * 32])) as client:
        client.headers["Authorization"] = f"Bearer {'a' * 32}"
        path, (first, _) = await checked(client)
        assert (await client.put(f"{path}/{first}", json={"label": "supported"})).status_code == 200
        client.headers["Authorization"] = f"Bearer {'b' * 32}"
        assert (await client.get(path)).status_code == 404
        assert (await client.put(f"{path}/{first}", json={"label": "not_supported"})).status_code == 404
        assert (await client.delete(f"{path}/{first}")).status_code == 404
        client.headers["Authorization"] = f"Bearer {'a' * 32}"
        assert [one["label"] for one in (await client.get(path)).json()["labels"]] == ["supported"]


def test_labels_given_at_once_are_all_kept(url: str) -> None:
    """Reading, changing and writing in one transaction loses none of them."""
    store = JobStore(url)
    one = store.add(job(), "{}").job.id
    ids = [f"c{number}" for number in range(24)]

    def give(claim: str) -> None:
        store.change_label(one, claim, GivenLabel(response_id="r", claim_id=claim, label=PersonLabel.SUPPORTED))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(give, ids))
    assert sorted(read_labels(store.text(one, "labels"))) == sorted(ids)
    store.delete(one)
    with pytest.raises(LookupError):
        give("c1")
    store.close()
