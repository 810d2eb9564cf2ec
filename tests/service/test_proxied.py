from __future__ import annotations

import pytest

from factloop.core.errors import ConfigError
from factloop.entrance.keys import ApiKeys
from factloop.service.settings import ServiceSettings
from tests.service.asking import ASK, Service, finished

KEY = "a-key-of-sixteen-letters"
PUBLIC = "https://Facts.example:8443/check/"


async def test_the_public_address_is_its_own(service: Service) -> None:
    behind = {"Host": "facts.example:8443", "Origin": "https://facts.example:8443", "Authorization": f"Bearer {KEY}"}
    async with service(public_url=PUBLIC, keys=ApiKeys([KEY])) as client:
        client.headers.update(behind)
        answer = await client.post("/v1/checks", json=ASK)
        with_path = await client.post("/check/v1/checks", json=ASK)
        await finished(client, answer.json()["id"])
        page = f"/v1/jobs/{answer.json()['id']}/report.html"
        ticket = (await client.post("/v1/tickets", json={"page": page})).json()["address"]
        del client.headers["Authorization"]
        path = ticket.removeprefix("https://facts.example:8443")
        opened = [(await client.get(one)).status_code for one in (path, path.removeprefix("/check"))]
        assert (await client.get("/check/")).text == (await client.get("/")).text
        strange = await client.get("/health", headers={"Host": "else.example"})
        foreign = await client.post("/v1/checks", json=ASK, headers={"Origin": "https://else.example"})
        servers = (await client.get("/openapi.json")).json()["servers"]
    assert (answer.status_code, with_path.status_code) == (202, 202)
    assert answer.headers["Location"] == f"/check/v1/jobs/{answer.json()['id']}"
    assert (ticket.partition("?ticket=")[0], opened) == (f"https://facts.example:8443/check{page}", [200, 200])
    assert (strange.status_code, foreign.status_code) == (400, 403)
    assert servers == [{"url": PUBLIC}]


async def test_a_path_cannot_write_lines_of_the_log(service: Service, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "factloop.service.guard")
    async with service(public_url=PUBLIC, keys=ApiKeys([KEY])) as client:
        await client.get("/check/v1/a%0AGET%1B[2J", headers={"Host": "facts.example:8443"})
    assert [message.split(":")[0] for message in caplog.messages] == ["GET /v1/a%0AGET%1B%5B2J"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"public_url": "facts.example"}, "public_url = facts.example: must be https://HOST"),
        ({"public_url": "ftp://facts.example"}, "must be https://HOST"),
        ({"public_url": "https://u:p@facts.example/"}, "must be https://HOST"),
        ({"public_url": "https://facts.example/?a=b"}, "must be https://HOST"),
        ({"public_url": "https://facts.example:99999/"}, "must be https://HOST"),
        ({"public_url": "https://facts.example/"}, "set a key"),
        ({"trusted_proxy": ("proxy.example",)}, "trusted_proxy = proxy.example"),
        ({"trusted_proxy": ("*",)}, r"trusted_proxy = \*"),
    ],
)
def test_a_wrong_proxy_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        ServiceSettings(**wrong)


def test_an_address_of_this_machine_needs_no_key() -> None:
    settings = ServiceSettings(public_url="http://127.0.0.1:9000/facts/", trusted_proxy=("127.0.0.1", "10.0.0.0/8"))
    assert (settings.public_origin, settings.public_path) == ("http://127.0.0.1:9000", "/facts")
    assert ServiceSettings(public_url="http://localhost:80").public_origin == "http://localhost"
