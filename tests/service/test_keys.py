"""Wrong keys are slowed down, and shut out no good one; the OpenAPI document says where a key goes."""

from __future__ import annotations

import json
import logging
from datetime import datetime
from io import StringIO

import pytest

from factloop.entrance.keys import ApiKeys
from factloop.service.access import OF_AN_ADDRESS, OF_ONE_KEY
from factloop.service.logs import Lines
from tests.service.asking import ASK, Service, finished

KEY = "a-key-of-sixteen-letters"
GOOD = {"Authorization": f"Bearer {KEY}"}


async def test_wrong_keys_shut_out_no_good_key_and_no_page(service: Service) -> None:
    async with service(keys=ApiKeys([KEY])) as client:
        one = [await client.get("/v1/info", headers={"Authorization": "Bearer wrong"}) for _ in range(12)]
        n_more = OF_AN_ADDRESS.amount
        many = [await client.get("/v1/info", headers={"Authorization": f"Bearer wrong{n}"}) for n in range(n_more)]
        good = await client.get("/v1/info", headers=GOOD)
        without = [await client.get("/v1/info") for _ in range(3)]
        page = await client.get("/")
    assert [answer.status_code for answer in one] == [401] * OF_ONE_KEY.amount + [429] * 2
    assert (many[0].status_code, many[-1].status_code) == (401, 429)
    assert 0 < int(many[-1].headers["Retry-After"]) <= 61
    assert (many[-1].json()["error"]["type"], many[-1].headers["WWW-Authenticate"]) == ("too_many_attempts", "Bearer")
    assert (good.status_code, page.status_code) == (200, 200)
    assert [answer.status_code for answer in without] == [401] * 3, "a page must be able to ask for the key"


async def test_the_log_names_the_key_of_a_request_and_never_shows_it(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "factloop.service.guard")
    stream = StringIO()
    as_json = logging.StreamHandler(stream)
    as_json.setFormatter(Lines("json"))
    logging.getLogger("factloop.service.guard").addHandler(as_json)
    async with service(keys=ApiKeys([f"{KEY} name=acme"]), rate="1/hour") as client:
        for headers in (GOOD, GOOD, {"Authorization": "Bearer wrong"}):
            await client.post("/v1/checks?ticket=secret", json=ASK, headers={"X-Request-ID": "mine", **headers})
        await client.get("/health")
        metrics = (await client.get("/metrics")).text
    logging.getLogger("factloop.service.guard").removeHandler(as_json)
    assert [message.rpartition(", ")[0] for message in caplog.messages] == [
        "POST /v1/checks: 202 (request mine, key acme",
        "POST /v1/checks: 429 (request mine, key acme",
        "POST /v1/checks: 401 (request mine, wrong key from 127.0.0.1",
    ]
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["level"], line["status"], line.get("key"), line.get("wrong_key")) for line in lines] == [
        ("info", 202, "acme", None), ("info", 429, "acme", None), ("warning", 401, None, True),
    ]  # fmt: skip
    assert datetime.fromisoformat(lines[0]["time"]).tzinfo is not None
    assert (KEY in stream.getvalue() + caplog.text, "secret" in stream.getvalue()) == (False, False)
    assert "factloop_wrong_keys_total 1.0" in metrics


async def test_a_link_that_has_expired_is_said_in_a_page_to_a_browser(service: Service) -> None:
    async with service(keys=ApiKeys([KEY])) as client:
        job = (await client.post("/v1/checks", json=ASK, headers=GOOD)).json()["id"]
        client.headers.update(GOOD)
        await finished(client, job)
        del client.headers["Authorization"]
        expired = f"/v1/jobs/{job}/report.html?ticket=1.{'0' * 64}"
        seen = await client.get(expired, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        program = await client.get(expired)
    assert seen.status_code == program.status_code == 401
    assert seen.headers["Content-Type"].startswith("text/html")
    assert "This link has expired" in seen.text
    assert program.json()["error"]["type"] == "unauthorized"
