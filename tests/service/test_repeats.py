from __future__ import annotations

import asyncio

import pytest

from factloop.entrance.keys import ApiKeys
from factloop.setup.settings import CheckSettings
from tests.service.asking import ASK, Service, finished
from tests.simulator import MODEL, Simulator

NAME = {"Idempotency-Key": "e7c9-1"}
KEY, OTHER = "a-key-of-sixteen-letters", "another-key-of-sixteen"


async def test_a_request_that_is_sent_again_is_paid_for_once(service: Service, sim: Simulator) -> None:
    check = CheckSettings(model=MODEL, base_url=sim.base_url, cache=False)
    async with service(check) as client:
        answers = await asyncio.gather(*(client.post("/v1/checks", json=ASK, headers=NAME) for _ in range(5)))
        job = answers[0].json()["id"]
        await finished(client, job)
        n_paid = sim.stats().model.requests
        waited = await client.post("/v1/checks?wait=true", json=ASK, headers=NAME)
        late = await client.post("/v1/checks", json=ASK, headers=NAME)
        without = await client.post("/v1/checks?wait=true", json=ASK)
        listed = (await client.get("/v1/jobs")).json()["jobs"]
    assert {(answer.status_code, answer.json()["id"]) for answer in answers} == {(202, job)}
    assert late.json()["status"] == "done"
    assert waited.json()["response"] == ASK["response"]
    assert sim.stats().model.requests == 2 * n_paid > 0, "the one without a name, and one for the seven with it"
    assert (without.status_code, len(listed)) == (200, 2)


async def test_a_name_stands_for_one_body_of_one_caller(service: Service) -> None:
    ours, theirs = ({"Authorization": f"Bearer {key}", **NAME} for key in (KEY, OTHER))
    async with service(keys=ApiKeys([KEY, OTHER])) as client:
        first = await client.post("/v1/checks", json=ASK, headers=ours)
        other = await client.post("/v1/checks", json={**ASK, "question": "Another?"}, headers=ours)
        strangers = await client.post("/v1/checks", json=ASK, headers=theirs)
        await client.post(f"/v1/jobs/{first.json()['id']}/cancel", headers=ours)
        await client.delete(f"/v1/jobs/{first.json()['id']}", headers=ours)
        after = await client.post("/v1/checks", json=ASK, headers=ours)
    assert (other.status_code, other.json()["error"]["type"]) == (422, "key_reused")
    assert other.json()["error"]["field"] == "Idempotency-Key"
    assert len({answer.json()["id"] for answer in (first, strangers, after)}) == 3


@pytest.mark.parametrize("name", ["", "x" * 256, "two words", "ä"])
async def test_a_name_is_a_word_of_ascii(service: Service, name: str) -> None:
    async with service() as client:
        refused = await client.post("/v1/checks", json=ASK, headers={"Idempotency-Key": name.encode()})  # type: ignore[arg-type]  # bytes, as they are sent
        assert (await client.get("/v1/jobs")).json()["jobs"] == []
    assert refused.status_code == 422
