from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from factloop.core.errors import ToolError
from factloop.tools.calls.json_client import MAX_BODY_BYTES, JsonClient
from factloop.tools.calls.retry import retry_after_s
from tests.tools.fake_server import FakeServer, Reply

KEY = "s3cret-key"
HTML = (("Content-Type", "text/html; charset=utf-8"),)


def client(url: str, timeout_s: float = 5.0) -> JsonClient:
    return JsonClient(
        tool="probe", base_url=url, timeout_s=timeout_s, secret_headers={"X-API-KEY": KEY}, hints={401: "check the key"}
    )


def failure(server: FakeServer, reply: Reply, timeout_s: float = 5.0) -> ToolError:
    server.will(reply)
    with pytest.raises(ToolError) as caught:
        client(server.url, timeout_s).get("/x", {})
    assert len(server.received) == 1, "nothing is retried here"
    assert KEY not in str(caught.value)
    return caught.value


def test_asks_through_the_proxy_of_the_environment(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.will_answer({"a": 1})
    monkeypatch.setenv("http_proxy", server.url)
    assert client("http://made-up.test").get("/x", {}) == {"a": 1}
    assert [request.headers["Host"] for request in server.received] == ["made-up.test"]


def test_forms_and_what_stands_in_the_head(server: FakeServer) -> None:
    server.will(Reply(status=206, body=b'{"a": 1}', headers=(("X-SQL-State", "S1TAT"),)))
    talker = JsonClient(tool="probe", base_url=server.url, timeout_s=5, headers={"Accept": "application/ld+json"})
    for answer in (talker.post_form("/x", {"text": "é & =\n"}), talker.get_answer("/y", {"q": "c"})):
        assert (answer.status, answer.headers["x-sql-state"], answer.value) == (206, "S1TAT", {"a": 1})
    first, second = server.received
    assert (first.method, first.path, first.payload) == ("POST", "/x", {"text": "é & =\n"})
    assert (second.method, second.params) == ("GET", {"q": "c"})
    assert {request.headers["Accept"] for request in server.received} == {"application/ld+json"}


@pytest.mark.parametrize(
    ("reply", "retryable", "said"),
    [
        (Reply(body=b""), True, "empty"),
        (Reply(body=b" \n"), True, "empty"),
        (Reply(body=b'{"organic": [', content_length=400), True, "closed before"),
        (Reply(body=b'{"organic": ['), True, "incomplete JSON"),
        (
            Reply(body=b"<!doctype html><p>Sign in", headers=HTML),
            True,
            "not JSON: text/html, 25 bytes, '<!doctype html>",
        ),
        (Reply(body=b"\xff\xfe\x00"), True, "not JSON"),
        (Reply(body=b"[1, 2]"), False, "not a JSON object"),
        (Reply(body=b"[" * 1_000_000), True, "incomplete JSON"),
        (Reply(body=b'"' + KEY.encode() + b'"'), False, "'\"***\"'"),
        (Reply(body=b"{" + b" " * MAX_BODY_BYTES + b"}"), False, "larger than 8,000,000 bytes"),
        (Reply(body=b"xx", headers=(("Content-Encoding", "gzip"),)), False, "failed (ContentDecodingError)"),
    ],
)
def test_bodies(server: FakeServer, reply: Reply, retryable: bool, said: str) -> None:
    error = failure(server, reply)
    assert said in str(error)
    assert error.retryable is retryable
    assert "\x1b" not in str(error)


def test_retry_after_in_both_forms() -> None:
    now = datetime(2025, 3, 1, 12, 0, 0, tzinfo=UTC)
    assert retry_after_s("1.5", now) == 1.5
    assert retry_after_s(format_datetime(now + timedelta(seconds=90), usegmt=True), now) == 90.0
    assert retry_after_s("Sat, 01 Mar 2025 12:00:10 -0000", now) == 10.0
    assert retry_after_s("-3", now) == 0.0
    assert retry_after_s(format_datetime(now - timedelta(hours=1)), now) == 0.0
    no_date = ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "Sat, 01 Mar 2025 12:00:00 +99999999999999")
    assert [retry_after_s(odd, now) for odd in (None, "", "soon", "nan", "inf", *no_date)] == [None] * 7


def test_redirects_are_bounded_and_never_carry_a_key(server: FakeServer) -> None:
    server.will(Reply(status=302, headers=(("Location", "/again"),)))
    open_client = JsonClient(tool="probe", base_url=server.url, timeout_s=5)
    with pytest.raises(ToolError, match="redirects more than 3 times"):
        open_client.get("/x", {})
    assert len(server.received) == 4
    with pytest.raises(ToolError, match="status 302"):
        client(server.url).get("/x", {})
    assert len(server.received) == 5


OTHERS = ("http://127.0.0.2/", "http://127.0.0.1:9")
NO_ADDRESSES = ("http://\udcff/", "http://[::1", f"http://{'a' * 70}.test/", "http://x:99999999/", "file:///x", *OTHERS)


@pytest.mark.parametrize("location", NO_ADDRESSES)
def test_a_redirect_to_no_address_or_another_server_is_a_failure(server: FakeServer, location: str) -> None:
    server.will(Reply(status=302, headers=(("Location", location),)))
    with pytest.raises(ToolError, match=r"probe: 127\.0\.0\.1 redirects to an invalid address") as caught:
        JsonClient(tool="probe", base_url=server.url, timeout_s=5).get("/x", {})
    assert not caught.value.retryable
    assert len(server.received) == 1


@pytest.mark.parametrize("location", NO_ADDRESSES)
def test_a_redirect_that_is_not_followed_may_lead_anywhere(server: FakeServer, location: str) -> None:
    server.hello = Reply(status=302, headers=(("Location", location),))
    server.will(server.hello)
    client(server.url).reach(timeout_s=5)
    with pytest.raises(ToolError, match="status 302"):
        client(server.url).get("/x", {})


def test_a_server_that_is_not_there_may_come_back() -> None:
    for ask in (
        lambda: client("http://127.0.0.1:9").get("/x", {}),
        lambda: client("http://127.0.0.1:9").reach(timeout_s=5),
    ):
        with pytest.raises(ToolError, match=r"connection refused at 127\.0\.0\.1:9") as caught:
            ask()
        assert (caught.value.status, caught.value.retryable) == (None, True)
