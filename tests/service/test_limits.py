from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from factloop.core.errors import ConfigError
from factloop.entrance.asks import RequestModel
from factloop.entrance.callers import MOST_OPEN
from factloop.entrance.keys import ApiKeys, read_keys
from factloop.service.settings import ServiceSettings
from factloop.service.shapes import CheckAsk, LabelAsk, LongFormAsk, TicketAsk, TrustAsk
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import TrustSettings
from tests.service.asking import ASK, Service, answered, finished
from tests.simulator import MODEL, Simulator

JSON = {"Content-Type": "application/json"}
TWO_LENGTHS = {**JSON, "Content-Length": "5", "Transfer-Encoding": "chunked"}
KEY, OTHER = "a-key-of-sixteen-letters", "another-key-of-sixteen"


def words(answer: httpx.Response) -> tuple[int, str]:
    """Status and type. Every refusal has the same shape and reveals nothing about where it happened."""
    error = answer.json()["error"]
    assert set(error) <= {"type", "message", "field"}
    assert "Traceback" not in answer.text
    assert "/work" not in answer.text
    return answer.status_code, error["type"]


@pytest.mark.parametrize(
    ("method", "path", "options", "expected"),
    [
        ("GET", "/v1/jobs/..%2f..%2fetc%2fpasswd", {}, (404, "not_found")),
        ("GET", "/v1/jobs/%00", {}, (404, "not_found")),
        ("GET", "/assets/..%2f..%2f..%2fetc%2fpasswd", {}, (404, "not_found")),
        ("GET", "/assets/__init__.py", {}, (404, "not_found")),
        ("GET", "/v1/results/..%2f..%2fetc%2fpasswd.json", {}, (404, "not_found")),
        ("GET", "/v1/results/%7B%7B7*7%7D%7D/page.html", {}, (404, "not_found")),
        ("PUT", "/health", {}, (405, "wrong_method")),
        ("OPTIONS", "/v1/checks", {"headers": {"Origin": "http://localhost"}}, (405, "wrong_method")),
        ("GET", "/v1/jobs?limit=" + "9" * 5000, {}, (422, "invalid_input")),
        ("GET", "/v1/jobs?before=%00", {}, (422, "invalid_input")),
        ("GET", "/v1/jobs?kind=<script>", {}, (422, "invalid_input")),
        ("POST", "/v1/checks", {"content": b"{}", "headers": TWO_LENGTHS}, (400, "bad_request")),
        ("POST", "/v1/checks", {"content": b"response=x"}, (415, "wrong_content_type")),
        ("POST", "/v1/checks", {"content": b"{}", "headers": {"Content-Type": "a/b"}}, (415, "wrong_content_type")),
        ("POST", "/v1/checks", {"json": {}, "headers": {"Origin": "https://evil.example"}}, (403, "wrong_origin")),
        ("POST", "/v1/checks", {"json": {}, "headers": {"Origin": "null"}}, (403, "wrong_origin")),
        ("DELETE", "/v1/jobs/1", {"headers": {"Origin": "http://[bad"}}, (403, "wrong_origin")),
        ("GET", "/health", {"headers": {"Host": "rebound.example"}}, (400, "wrong_host")),
        ("GET", "/health", {"headers": {"Host": "localhost.evil.example:8000"}}, (400, "wrong_host")),
        ("GET", "/health", {"headers": {"Host": ""}}, (400, "wrong_host"))
    ]
)  # fmt: skip
async def test_requests_are_refused_with_their_status(
    service: Service, method: str, path: str, options: dict[str, Any], expected: tuple[int, str]
) -> None:
    async with service() as client:
        assert words(await client.request(method, path, **options)) == expected


@pytest.mark.parametrize(
    "value",
    ['"\\ud800"', '{"a":' * 190 + "1" + "}" * 190, "[" * 300 + "]" * 300],
    ids=["half a character", "too deep to read again", "too deep to write"],
)
@pytest.mark.parametrize("path", ["checks", "trust", "trust/long-form"])
async def test_metadata_that_cannot_be_saved_is_refused(service: Service, path: str, value: str) -> None:
    asked = f'{{"question": "q", "response": "x", "documents": ["b", {{"text": "a", "metadata": {{"a": {value}}}}}]}}'
    async with service() as client:
        answer = await client.post(f"/v1/{path}", content=asked, headers=JSON)
    assert words(answer) == (422, "invalid_input")
    assert answer.json()["error"]["field"] == "documents.1.metadata"


@pytest.mark.parametrize(
    ("content", "status"),
    [*((wrong, 422) for wrong in ("!!!", "ééé=", "data:text/plain;base64,YQ==", "YQ")), ("YQ=\r\n=\n", 200)],
)
async def test_only_base64_is_read_as_a_file(service: Service, content: str, status: int) -> None:
    async with service() as client:
        answer = await client.post("/v1/documents", json={"name": "a.txt", "content": content})
    assert answer.status_code == status
    if status == 422:
        assert answer.json()["error"] == {"type": "invalid_input", "message": "must be base64", "field": "content"}


async def test_the_service_answers_to_the_names_of_this_machine(service: Service) -> None:
    async with service() as client:
        for host in ("localhost", "localhost:8000", "127.0.0.1:1", "[::1]:8000", "[::1]", "LOCALHOST"):
            assert (await client.get("/health", headers={"Host": host})).status_code == 200, host


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"null", b"[]", b'"text"', b"[" * 100_000),
        b'{"response": ' + b'{"a":' * 100_000,
        b"\xff\xfe",
        b'{"response": "\\ud800", "documents": []}',
        b'{"response": "x", "documents": [], "\\ud800": 1}',
        b'{"response": "x", "documents": [{"text": "\\udfff"}]}',
        b'{"response": NaN, "documents": []}',
        *(b'{"response": "x", "documents": [], "k": [' + k + b"]}" for k in (b"9" * 5000, b"1e400", b"-1")),
        b'{"response": "x", "documents": [{"text": "x"}], "limits": {"deadline_s": 1e999}}',
        b'{"response": "x", "documents": [], "mode": "{{7*7}}"}',
        b'{"response": "' + b"x" * 200_001 + b'", "documents": []}',
    ],
)
async def test_bodies_that_are_no_request_are_refused_before_anything_is_done(service: Service, body: bytes) -> None:
    async with service() as client:
        answer = await client.post("/v1/checks", content=body, headers=JSON)
        assert answer.status_code in (400, 422)
        assert words(answer)[1] in ("bad_request", "invalid_input")
        assert (await client.get("/v1/jobs")).json()["jobs"] == []


@pytest.mark.parametrize(
    ("shape", "name", "item"),
    [
        *((shape, "documents", 1) for shape in (CheckAsk, TrustAsk, LongFormAsk)),
        *((shape, "documents", dict[str, Any]()) for shape in (CheckAsk, TrustAsk, LongFormAsk)),
        (CheckAsk, "documents", {"text": "a", "z": 1}),
        (CheckAsk, "documents", {"text": 1, **dict.fromkeys("abcdef", 1)}),
        *((CheckAsk, "k", item) for item in ("x", 0)),
        *((shape, "", 1) for shape in (TicketAsk, LabelAsk)),
    ],
)
def test_thousands_of_mistakes_make_a_few_errors(shape: type[RequestModel], name: str, item: object) -> None:
    asked = {name: [item] * 3_000} if name else {str(number): item for number in range(3_000)}
    rest = {"response": "x", "question": "q"} if "response" in shape.model_fields else {}
    with pytest.raises(ValidationError) as refused:
        shape.model_validate({**rest, **asked})
    assert refused.value.error_count() <= 4


async def _chunks(n: int, size: int) -> AsyncIterator[bytes]:
    for _ in range(n):
        yield b" " * size


async def test_bodies_are_counted_while_they_come(service: Service) -> None:
    async with service(max_body_mb=0.01) as client:
        assert words(await client.post("/v1/checks", content=b" " * 10_001, headers=JSON)) == (413, "too_large")
        assert words(await client.post("/v1/checks", content=_chunks(11, 1_000), headers=JSON)) == (413, "too_large")
        lying = {**JSON, "Content-Length": "1" + "0" * 30}
        assert words(await client.post("/v1/checks", content=b"{}", headers=lying)) == (413, "too_large")
        assert words(await client.post("/v1/checks", content=_chunks(10, 1_000), headers=JSON))[0] == 422


async def test_an_audit_is_parsed_elsewhere(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    body, parsed, loads = json.dumps({"rows": [{str(n): n for n in range(9_000)}]}), list[Any](), json.loads

    def noted(text: bytes, **options: Any) -> Any:
        parsed.append(text)
        return loads(text, **options)

    monkeypatch.setattr(json, "loads", noted)
    async with service() as client:
        answer = await client.post("/v1/audits", content=body, headers=JSON)
    assert (answer.status_code, max(map(len, parsed)) < len(body)) == (422, True)


async def test_others_are_served_between_two_large_bodies(service: Service) -> None:
    async with service() as client:
        large = [client.post("/v1/checks", content=b" " * 200_000, headers=JSON) for _ in range(2)]
        sent = [asyncio.create_task(one) for one in (*large, client.get("/health"))]
        await sent[-1]
        assert not any(one.done() for one in sent[:-1])
        await asyncio.gather(*sent)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("documents", '{"name": "a.txt", "content": [' + "[]," * 100_000 + "1]}", 413),
        ("checks", '{"response": "x", "documents": [' + '"",' * 120_000 + '""]}', 413),
        ("checks", '{"response": "x", "documents": [' + '"\\\\","\\",",' * 100_000 + '""]}', 413),
        ("checks", ("[" + "1," * 200_000).encode("utf-16").decode("latin-1"), 413),
        ("checks", '{"response": "x", "documents": [], "question": "' + '[,{\\"' * 1_000_000 + '"}', 422),
        ("audits", '{"rows": [' + '{"a":1},' * 400_000 + "1]}", 422),
        ("audits", '{"rows": [' + "[]," * 500_000 + "1]}", 413),
    ],
    ids=["lists", "texts", "quotes in texts", "UTF-16", "marks in a text", "rows", "too many rows"],
)
async def test_bodies_that_are_dear_are_not_parsed(service: Service, path: str, body: str, status: int) -> None:
    async with service() as client:
        answer = await client.post(f"/v1/{path}", content=body.encode("latin-1"), headers=JSON)
    assert words(answer) == (status, "too_large" if status == 413 else "invalid_input")


async def test_routes_with_small_requests_read_no_large_ones(service: Service) -> None:
    async with service() as client:
        for method, path in (("POST", "/v1/tickets"), ("PUT", f"/v1/jobs/{'0' * 32}/labels/c1")):
            for content, status in ((_chunks(101, 1_000), 413), (b" " * 100_001, 413), (_chunks(100, 1_000), 422)):
                answer = await client.request(method, path, content=content, headers=JSON)
                assert answer.status_code == status, (method, path)
        for metadata in ({str(n): n for n in range(101)}, {"a": "é" * 50_000}):
            document = {"text": "a", "metadata": metadata}
            refused = await client.post("/v1/checks", json={**ASK, "documents": [document]})
            assert refused.json()["error"]["field"] == "documents.0.metadata"


async def test_too_many_requests_are_told_when_to_come_back(service: Service) -> None:
    async with service(rate="2/hour") as client:
        statuses = [(await client.post("/v1/checks", json=ASK)).status_code for _ in range(3)]
        refused = await client.post("/v1/checks", json=ASK)
        reads = [(await client.get("/v1/jobs")).status_code for _ in range(21)]
        assert (await client.get("/health")).status_code == 200
    assert statuses == [202, 202, 429]
    assert 0 < int(refused.headers["retry-after"]) <= 3601
    assert reads == [200] * 20 + [429]  # ten times as many


async def test_few_large_requests_are_in_progress(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("factloop.entrance.callers.MOST_HELD", 200_000)
    large = {**ASK, "documents": ["a" * 150_000]}
    async with service(max_body_mb=0.2) as client:
        for _ in range(2):
            asked = (client.post("/v1/checks?wait=true", json=one) for one in (large, large, ASK))
            assert sorted(one.status_code for one in await asyncio.gather(*asked)) == [200, 200, 429]


async def test_too_many_jobs_are_refused_and_none_is_lost(service: Service) -> None:
    async with service(max_jobs=1, max_queued=1) as client:
        answers = await asyncio.gather(*(client.post("/v1/checks", json=ASK) for _ in range(6)))
        taken = [answer.json()["id"] for answer in answers if answer.status_code == 202]
        refused = [answer for answer in answers if answer.status_code != 202]
        assert 2 <= len(taken) < 6
        assert all(words(answer) == (503, "busy") and answer.headers["retry-after"] for answer in refused)
        assert {(await finished(client, job))["status"] for job in taken} == {"done"}
        listed = (await client.get("/v1/jobs")).json()["jobs"]
    assert sorted(job["id"] for job in listed) == sorted(taken)


async def test_a_key_with_many_streams_is_refused_more_while_others_and_probes_are_answered(service: Service) -> None:
    theirs = {"Authorization": f"Bearer {OTHER}"}
    long = {**ASK, "response": " ".join(f"Ada Lovelace met {n} people in London." for n in range(300))}
    async with service(keys=ApiKeys([KEY, OTHER]), max_jobs=1) as client:
        client.headers["Authorization"] = f"Bearer {KEY}"
        _, queued = [f"/v1/jobs/{(await client.post('/v1/checks', json=long)).json()['id']}" for _ in range(2)]
        streams = [asyncio.create_task(client.get(f"{queued}/events")) for _ in range(MOST_OPEN + 1)]
        (refused,), followed = await asyncio.wait(streams, return_when=asyncio.FIRST_COMPLETED)
        assert (*words(refused.result()), refused.result().headers["retry-after"]) == (429, "too_many_requests", "10")
        assert (await client.get(queued)).status_code == 429
        assert (await client.get("/health")).status_code == 200
        assert (await client.get("/v1/jobs", headers=theirs)).status_code == 200
        followed.pop().cancel()
        await answered(client, queued, 200)
        for stream in followed:
            stream.cancel()
        await asyncio.wait(followed)


async def test_a_key_opens_its_own_jobs_and_nobody_elses(service: Service) -> None:
    ours, theirs = ({"Authorization": f"Bearer {key}"} for key in (KEY, OTHER))
    async with service(keys=ApiKeys([KEY, OTHER])) as client:
        for wrong in ({}, {"Authorization": KEY}, {"Authorization": "Bearer "}, {"Authorization": f"Bearer {KEY}x"}):
            answer = await client.get("/v1/jobs", headers=wrong)
            assert words(answer) == (401, "unauthorized")
            is_key = wrong.get("Authorization", "").startswith("Bearer ") and wrong["Authorization"] != "Bearer "
            said = "the key is not valid" if is_key else "an API key is required: send the header"
            assert answer.json()["error"]["message"].startswith(said)
            assert answer.headers["www-authenticate"] == "Bearer"
            assert (await client.post("/v1/checks", json=ASK, headers=wrong)).status_code == 401
        job = (await client.post("/v1/checks", json=ASK, headers=ours)).json()["id"]
        for path in ("", "/events", "/result", "/report.html", "/labels"):
            assert words(await client.get(f"/v1/jobs/{job}{path}", headers=theirs)) == (404, "not_found")
        for path in ("", "/labels/c1"):
            assert (await client.delete(f"/v1/jobs/{job}{path}", headers=theirs)).status_code == 404
        assert (await client.get("/v1/jobs", headers=theirs)).json()["jobs"] == []
        assert len((await client.get("/v1/jobs", headers=ours)).json()["jobs"]) == 1
        assert (await client.get("/health")).status_code == (await client.get("/metrics")).status_code == 200
        assert KEY not in (await client.get("/metrics")).text


@pytest.mark.parametrize("wrong", [{"host": "example.org"}, {"host": "::"}, {"documents": "=x"}])
def test_a_wrong_set_up_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        ServiceSettings(**wrong)


def test_keys_are_read_and_weak_ones_refused(home: Any) -> None:
    file = home / "keys"
    file.write_text(f"# ours\n\n{KEY}\n  {OTHER}  \n")
    keys = read_keys(file, {"FACTLOOP_SERVICE_KEYS": "unused-as-a-file-is-given"})
    assert keys.owner(f"Bearer {OTHER}") != keys.owner(f"bearer {KEY}") is not None
    assert keys.owner(f"Basic {KEY}") is keys.owner(None) is keys.owner("Bearer \udcff") is None
    assert read_keys(None, {"FACTLOOP_SERVICE_KEYS": f"{KEY}, {OTHER}"}).owner(f"Bearer {OTHER}")
    assert not read_keys(None, {})
    for content in ("", "# nothing\n", "short\n", "with space in a key\n", "ä" * 20):
        file.write_text(content)
        with pytest.raises(ConfigError):
            read_keys(file, {})
    with pytest.raises(ConfigError, match="cannot read"):
        read_keys(home / "absent", {})


@pytest.mark.parametrize(
    ("asked", "holds"),
    [
        (None, {"deadline_s": 60.0, "max_calls": 5, "budget_usd": None}),
        ({"deadline_s": 900, "max_calls": 50}, {"deadline_s": 60.0, "max_calls": 5, "budget_usd": None}),
        ({"deadline_s": 20, "max_calls": 2}, {"deadline_s": 20.0, "max_calls": 2, "budget_usd": None}),
    ],
)
async def test_a_job_says_which_limits_hold_as_soon_as_it_is_taken(
    service: Service, sim: Simulator, asked: dict[str, float] | None, holds: dict[str, float]
) -> None:
    """The tightest of the caller's limit and the service's two limits, for each check and each job."""
    own = CheckSettings(
        model=MODEL, base_url=sim.base_url, cache=False, deadline_s=60.0, max_calls_per_check=7, max_calls=5
    )
    subject = TrustSettings(subject_model=MODEL, base_url=sim.base_url, cache=False)
    async with service(own, subject) as client:
        most = (await client.get("/v1/info")).json()["limits"]["each_check"]
        answer = await client.post("/v1/checks", json={**ASK, "limits": asked})
        score = await client.post("/v1/trust", json={"question": "Who?", "response": "Ada"})
        ended = await finished(client, answer.json()["id"])
        await finished(client, score.json()["id"])
    assert most == {"deadline_s": 60.0, "max_calls": 5, "budget_usd": None}
    assert (answer.status_code, answer.json()["limits"], ended["limits"]) == (202, holds, holds)
    cut = [one.partition(" ")[0] for one in ended["summary"]["warnings"] if "exceeds the limit" in one]
    assert cut == (["deadline_s", "max_calls"] if asked and asked["deadline_s"] == 900 else [])
    assert (score.status_code, score.json()["limits"]) == (202, None)
