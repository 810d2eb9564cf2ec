from __future__ import annotations

import pytest

from factloop.entrance.keys import ApiKeys
from factloop.service.access import GOOD_FOR_S, Tickets
from tests.service.asking import ASK, Service, finished

KEY, OTHER = "a-key-of-sixteen-letters", "another-key-of-sixteen"
PAGE = "/v1/results/june/page.html"


def query(address: str) -> bytes:
    return address.partition("?")[2].encode()


def test_a_ticket_is_good_for_its_page_and_its_time() -> None:
    now = [1000.0]
    keys = ApiKeys([KEY, f"{OTHER} name=bo"])
    bo = list(keys.grants)[1]
    tickets = Tickets(keys, clock=lambda: now[0])
    given = query(tickets.address(bo, PAGE))
    assert tickets.owner(PAGE, given) == bo
    assert tickets.owner("/v1/results/july/page.html", given) is None
    assert Tickets(ApiKeys([KEY]), clock=lambda: now[0]).owner(PAGE, given) is None, "bo's key is not one of its keys"
    # After a restart, in another service, and with one more key.
    more = ApiKeys(["a-new-key-of-sixteen name=bo", f"{OTHER} name=bo", KEY])
    assert Tickets(more, clock=lambda: now[0]).owner(PAGE, given) == bo
    now[0] += GOOD_FOR_S
    assert GOOD_FOR_S >= 12 * 60 * 60  # what is open in a tab can be loaded anew all day
    assert tickets.owner(PAGE, given) == bo
    now[0] += 1
    assert tickets.owner(PAGE, given) is None


@pytest.mark.parametrize(
    "change",
    [
        lambda given: given.replace(b"ticket=4", b"ticket=5"),  # good for longer
        lambda given: given + b"0",
        lambda given: given + b"&" + given,
        lambda given: given[:-1] + (b"0" if given[-1:] != b"0" else b"1"),
        lambda _: b"",
        lambda _: b"ticket=" + b"9" * 400,
        lambda _: b"ticket=\xff.%00",
    ],
)
def test_what_is_not_quite_a_ticket_is_none(change: object) -> None:
    keys = ApiKeys([KEY])
    tickets = Tickets(keys, clock=lambda: 1000.0)
    given = query(tickets.address(next(iter(keys.grants)), PAGE))
    assert callable(change)
    assert tickets.owner(PAGE, change(given)) is None


async def test_a_report_is_opened_without_the_key_and_nothing_else(service: Service) -> None:
    async with service(keys=ApiKeys([KEY, OTHER])) as client:
        mine, theirs = ({"Authorization": f"Bearer {key}"} for key in (KEY, OTHER))
        job = (await client.post("/v1/checks", json=ASK, headers=mine)).json()
        client.headers.update(mine)
        await finished(client, job["id"])
        del client.headers["Authorization"]
        page = f"/v1/jobs/{job['id']}/report.html"
        asked = [await client.post("/v1/tickets", json={"page": page}, headers=who) for who in (mine, theirs, {})]
        address, stranger = asked[0].json()["address"], asked[1].json()["address"]
        assert asked[2].status_code == 401
        opened = await client.get(address)
        assert opened.status_code == 200
        assert "sandbox" in opened.headers["Content-Security-Policy"]
        assert (await client.get(stranger)).status_code == 404
        assert (await client.get(page)).status_code == 401
        assert (await client.get(address.replace("report.html", "result"))).status_code == 401
        assert (await client.delete(address)).status_code == 401


@pytest.mark.parametrize("page", ["/v1/jobs", "/v1/results/../page.html", "https://evil.example/", "", f"{PAGE}\n"])
async def test_tickets_are_for_pages_alone(service: Service, page: str) -> None:
    async with service() as client:
        refused = await client.post("/v1/tickets", json={"page": page})
    assert refused.status_code == 422
    assert refused.json()["error"]["field"] == "page"
