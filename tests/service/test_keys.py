from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import datetime
from io import StringIO
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.entrance import keys
from factloop.entrance.keys import ApiKeys, read_keys
from factloop.reports.visible import VisibleLines
from factloop.service.access import OF_AN_ADDRESS, OF_ONE_KEY
from factloop.service.logs import Lines
from factloop.service.store import JobStore
from tests.service.asking import ASK, FINISHED_WITHIN_S, Service, finished
from tests.service.test_store import job

KEY, OTHER, NEW = "a-key-of-sixteen-letters", "another-key-of-sixteen", "ben-has-a-new-key-now"
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


@pytest.mark.parametrize("lines", [VisibleLines(), Lines("text"), Lines("json")])
def test_a_line_of_the_log_has_no_control_characters(lines: logging.Formatter) -> None:
    record = logging.makeLogRecord({"msg": "HTTP 400: \x1b[2J\u202e\x9b"})
    assert not set(lines.format(record)) & set("\x1b\x9b\u202e")


async def test_the_log_names_the_key_of_a_request_and_never_shows_it(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "factloop.service.guard")
    stream = StringIO()
    as_json = logging.StreamHandler(stream)
    as_json.setFormatter(Lines("json"))
    logging.getLogger("factloop.service.guard").addHandler(as_json)
    async with service(keys=ApiKeys([f"{KEY} name=acme"]), rate="1/hour") as client:
        answers = [
            await client.post("/v1/checks?ticket=secret", json=ASK, headers={"X-Request-ID": "mine", **headers})
            for headers in (GOOD, GOOD, {"Authorization": "Bearer wrong"})
        ]
        job_id = answers[0].json()["id"]
        await client.get("/health")
        metrics = (await client.get("/metrics")).text
    logging.getLogger("factloop.service.guard").removeHandler(as_json)
    assert [message.rpartition(", ")[0] for message in caplog.messages if message.startswith("POST")] == [
        f"POST /v1/checks: 202 (request mine, key acme, job {job_id}",
        "POST /v1/checks: 429 (request mine, key acme",
        "POST /v1/checks: 401 (request mine, wrong key from 127.0.0.1",
    ]
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [[line.get(name) for name in ("level", "status", "key", "wrong_key", "job")] for line in lines] == [
        ["info", 202, "acme", None, job_id], ["info", 429, "acme", None, None], ["warning", 401, None, True, None],
    ]  # fmt: skip
    assert datetime.fromisoformat(lines[0]["time"]).tzinfo is not None
    assert (KEY in stream.getvalue() + caplog.text, "secret" in stream.getvalue()) == (False, False)
    assert "factloop_wrong_keys_total 1.0" in metrics


async def test_the_key_file_is_read_again_when_it_changes(
    service: Service, home: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "LOOK_EVERY_S", 0.0)
    caplog.set_level("INFO", "factloop")
    file = home / "keys.txt"
    file.write_text(f"{KEY} name=ben\n{OTHER} weight=2\n", encoding="utf-8")
    ben, other, new = ({"Authorization": f"Bearer {key}"} for key in (KEY, OTHER, NEW))
    long = {**ASK, "response": " ".join(f"Ada Lovelace met {n} people in London." for n in range(5_000))}
    unread = next(iter(ApiKeys(["a-key-that-was-read-elsewhere"]).grants))
    async with service(keys=read_keys(file, {}), max_jobs=1) as client:
        mine = (await client.post("/v1/checks?wait=true", json=ASK, headers=ben)).headers["Location"]
        theirs = [(await client.post("/v1/checks", json=long, headers=other)).headers["Location"] for _ in range(2)]
        with closing(JobStore(f"sqlite:///{home / 'service' / 'jobs.sqlite'}")) as other_service:
            waiting = other_service.add(job(unread), json.dumps(ASK))
        file.write_text(f"# ben's new key\n{NEW} name=ben\n", encoding="utf-8")
        statuses = [(await client.get(mine, headers=who)).status_code for who in (ben, other, new)]
        async with asyncio.timeout(FINISHED_WITHIN_S):
            while 'status="cancelled"' not in (metrics := (await client.get("/metrics")).text):
                pass
        file.write_text(f"{OTHER} weight=2\nshort", encoding="utf-8")
        kept = [(await client.get(mine, headers=new)).status_code for _ in range(2)]
        file.write_text(f"{OTHER} weight=2\n", encoding="utf-8")
        over = [(await client.get(one, headers=other)).json()["status"] for one in theirs]
    with closing(JobStore(f"sqlite:///{home / 'service' / 'jobs.sqlite'}")) as other_service:
        assert other_service.get(waiting.job.id, unread) == waiting, "it is neither cancelled nor run without limits"
    assert (statuses, kept, over) == ([401, 401, 200], [200, 200], ["cancelled"] * 2)
    assert f'key="sha256:{next(iter(ApiKeys([OTHER]).grants))[:8]}"' in metrics
    said = [message for message in caplog.messages if ("key" in message or "jobs" in message) and "/v1" not in message]
    assert said == [
        f"{file}: reloaded (keys added: 1, keys removed: 2)",
        "unfinished jobs cancelled because their keys were removed: 2",
        "the earlier keys stay valid: API key 2 must have at least 16 printable ASCII characters and no spaces",
        f"{file}: reloaded (keys added: 1, keys removed: 1)",
        "unfinished jobs: 1; they will continue after a restart, or in another service",
    ]


async def test_a_key_that_is_removed_before_its_request_has_arrived_leaves_no_job(
    service: Service, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "LOOK_EVERY_S", 0.0)
    file = home / "keys.txt"
    file.write_text(KEY, encoding="utf-8")
    async with service(keys=read_keys(file, {})) as client:

        async def body() -> AsyncIterator[bytes]:
            yield json.dumps(ASK).encode()
            file.write_text(NEW, encoding="utf-8")
            await client.get("/v1/info", headers={"Authorization": f"Bearer {NEW}"})

        asked = await client.post("/v1/checks", content=body(), headers={**GOOD, "Content-Type": "application/json"})
    assert asked.status_code == 401
    with closing(JobStore(f"sqlite:///{home / 'service' / 'jobs.sqlite'}")) as store:
        assert store.waiting() == (0, None)


def test_a_name_is_one_caller_and_no_hash_of_a_key() -> None:
    one, again, other, unnamed = (
        ApiKeys([f"{key} {options}"]).owner(f"Bearer {key}")
        for key, options in ((KEY, "name=ben"), (OTHER, "name=ben"), (KEY, "name=bo"), (KEY, ""))
    )
    assert one == again
    assert len({one, other, unnamed}) == 3
    assert ApiKeys([f"{NEW} name={unnamed}"]).owner(f"Bearer {NEW}") != unnamed
    with pytest.raises(ConfigError, match="API key 2 and API key 1 have the same name but different options"):
        ApiKeys([f"{KEY} name=ben weight=2", f"{OTHER} name=ben"])


async def test_a_link_that_has_expired_is_said_in_a_page_to_a_browser(service: Service) -> None:
    async with service(keys=ApiKeys([KEY])) as client:
        job_id = (await client.post("/v1/checks", json=ASK, headers=GOOD)).json()["id"]
        client.headers.update(GOOD)
        await finished(client, job_id)
        del client.headers["Authorization"]
        expired = f"/v1/jobs/{job_id}/report.html?ticket=1.{'0' * 64}"
        seen = await client.get(expired, headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        program = await client.get(expired)
    assert seen.status_code == program.status_code == 401
    assert seen.headers["Content-Type"].startswith("text/html")
    assert "This link has expired" in seen.text
    assert program.json()["error"]["type"] == "unauthorized"
