"""`factloop serve` behind nginx, configured as docs/serving.md says."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from factloop.service.access import OF_AN_ADDRESS
from tests.real.nginx import HOST, ROOT, in_shell, is_installed, running_nginx, service_flags, set_up, shown
from tests.real.servers import free_port
from tests.real.services import ASK, RunningService, services_over, wait_until
from tests.simulator import INSTANT, Simulator

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not is_installed(), reason="Debian's nginx-light, openssl or curl is not installed"),
]

KEY = "a-key-of-sixteen-letters"
GOOD = {"Authorization": f"Bearer {KEY}"}


@dataclass(frozen=True)
class Proxy:
    port: int
    tls: ssl.SSLContext
    service: RunningService
    folder: Path

    @property
    def origin(self) -> str:
        return f"https://{HOST}:{self.port}"

    def client(self, address: str = "127.0.0.1", headers: dict[str, str] | None = None) -> httpx.Client:
        named = {"Host": f"{HOST}:{self.port}", **(GOOD if headers is None else headers)}
        transport = httpx.HTTPTransport(verify=self.tls, local_address=address)
        base = f"https://127.0.0.1:{self.port}/factloop"
        return httpx.Client(base_url=base, headers=named, transport=transport, timeout=60.0)


@pytest.fixture(scope="module")
def proxy(running: Simulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    port, folder = free_port(), set_up(tmp_path_factory.mktemp("nginx"))
    with (folder / "keys.txt").open("a", encoding="utf-8") as keys:
        keys.write(f"{KEY}\n")
    with services_over(running, folder) as services:
        service = services.start(*service_flags(port, folder))
        with running_nginx(folder, port, service.url) as tls:
            yield Proxy(port, tls, service, folder)


@pytest.fixture
def sim(running: Simulator) -> Iterator[Simulator]:
    yield running
    running.set(**vars(INSTANT))


def test_the_service_names_its_documents_as_the_document_says(proxy: Proxy) -> None:
    (proxy.folder / ".curlrc").write_text(f"resolve = {HOST}:{proxy.port}:127.0.0.1", encoding="utf-8")
    asked = shown("/v1/info").replace("$(cat host)", f"$(cat host):{proxy.port}")
    said = in_shell(asked, proxy.folder, CURL_HOME=str(proxy.folder))
    assert f"\n```text\n{said}```\n" in (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")


def test_a_check_is_asked_for_and_its_report_opened(proxy: Proxy) -> None:
    with proxy.client() as client:
        answer = client.post("/v1/checks", json=ASK, headers={"Origin": proxy.origin, "X-Request-ID": "mine"})
        job = answer.json()["id"]
        wait_until(lambda: client.get(f"/v1/jobs/{job}").json()["status"] == "done")
        page = f"/v1/jobs/{job}/report.html"
        ticket = client.post("/v1/tickets", json={"page": page}, headers={"Origin": proxy.origin}).json()["address"]
        foreign = client.post("/v1/checks", json=ASK, headers={"Origin": "https://else.example"})
    with proxy.client(headers={}) as browser:
        opened = browser.get(ticket.removeprefix(f"{proxy.origin}/factloop"))
        strange = browser.get("/health", headers={"Host": "else.example"})
        metrics = [browser.get(path).status_code for path in ("/metrics", "/factloop/metrics", "/.//%6detrics")]
    assert (answer.status_code, answer.headers["X-Request-ID"]) == (202, "mine")
    assert answer.headers["Location"] == f"/factloop/v1/jobs/{job}"
    assert metrics == [404] * 3
    assert (opened.status_code, opened.headers["Content-Type"].partition(";")[0]) == (200, "text/html")
    assert (foreign.status_code, strange.status_code) == (403, 400)


def test_events_come_while_the_job_is_at_work(proxy: Proxy, sim: Simulator) -> None:
    sim.set(llm_latency_s=1.0)
    with proxy.client() as client:
        job = client.post("/v1/checks", json=ASK).json()["id"]
        with client.stream("GET", f"/v1/jobs/{job}/events") as stream:
            lines = stream.iter_lines()
            first = next(line for line in lines if line.startswith("event: "))
            status = client.get(f"/v1/jobs/{job}").json()["status"]
            sim.set(llm_latency_s=0.0)
            data = [line for line in lines if line.startswith("data: ")]
    assert (first, status) == ("event: response_split", "running")
    assert json.loads(data[-1].removeprefix("data: "))["status"] == "done"


def test_callers_behind_the_proxy_are_told_apart(proxy: Proxy) -> None:
    with proxy.client("127.0.0.2", {}) as client:
        tried = [
            client.get("/v1/info", headers={"Authorization": f"Bearer wrong{number}"}).status_code
            for number in range(OF_AN_ADDRESS.amount + 1)
        ]
        good = client.get("/v1/info", headers=GOOD).status_code
    with proxy.client("127.0.0.3", {"Authorization": "Bearer wrong"}) as client:
        other = client.get("/v1/info").status_code
        lying = client.get("/v1/info", headers={"X-Forwarded-For": "127.0.0.2"}).status_code
    assert (tried[0], tried[-1], good, other, lying) == (401, 429, 200, 401, 401)


@pytest.mark.browser
def test_a_reader_checks_through_the_proxy(proxy: Proxy, tmp_path: Path) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = Path("/usr/bin/chromium")
    if not chromium.exists():
        pytest.skip("Debian's chromium is not installed")
    rules = f"--host-resolver-rules=MAP {HOST} 127.0.0.1"
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(chromium), args=["--no-sandbox", rules])
        page = browser.new_context(ignore_https_errors=True).new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{proxy.origin}/factloop")  # nginx adds the slash
        page.get_by_label("API key for this service").fill(KEY)
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Load an example").click()
        page.get_by_role("button", name="Check", exact=True).click()
        report = page.frame_locator("iframe")
        sync_api.expect(report.locator(".figures dt").first).to_have_text("Precision", timeout=60_000)
        protocols = page.evaluate("performance.getEntries().map(one => one.nextHopProtocol).filter(Boolean)")
        assert set(protocols) == {"h2"}  # the page, its parts and its requests
        page.screenshot(path=str(tmp_path / "page.png"))
        browser.close()
