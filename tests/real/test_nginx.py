"""`factloop serve` behind Debian's nginx, set up as docs/serving.md says."""

from __future__ import annotations

import json
import os
import re
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from factloop.service.access import OF_AN_ADDRESS
from tests.real.servers import free_port, running
from tests.real.services import ASK, RunningService, services_over, wait_until
from tests.simulator import INSTANT, Simulator

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(
        not all(map(shutil.which, ("nginx", "openssl", "curl"))),
        reason="Debian's nginx-light, openssl or curl is not installed",
    ),
]

ROOT = Path(__file__).resolve().parents[2]
HOST = "facts.example.org"  # the public name in the document
LEFT_OUT = "".join(f"{name}() {{ :; }}; " for name in ("chgrp", "nginx", "service", "systemctl", "useradd"))
KEY = "a-key-of-sixteen-letters"
GOOD = {"Authorization": f"Bearer {KEY}"}


def shown(words: str) -> str:
    """The commands with these words in the section on a complete setup."""
    section = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8").partition("## A complete setup")[2]
    (found,) = (block for block in re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S) if words in block)
    return str(found)


def within(root: Path, text: str) -> str:
    return re.sub(r"(?<!\w)(?=/(etc|opt|srv|var)\b)", str(root), text)


def in_shell(commands: str, root: Path, at: str = "srv/factloop", **variables: str) -> str:
    """Runs commands in a root of their own, without those that only the system's root may run; returns their output."""
    allowed = re.sub(r"-[go] factloop |/usr/bin/python3 .*|\S+/pip .*", "", within(root, commands))
    shell, variables = ["bash", "-euo", "pipefail", "-c", LEFT_OUT + allowed], variables | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(shell, cwd=root / at, env=os.environ | variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def set_up(root: Path, key: str) -> Path:
    """Runs the steps before the service starts, adds a key and a model, and returns the service's folder."""
    for path in ("etc/nginx/conf.d", "etc/systemd/system", "etc/cron.daily", "opt/factloop/bin", "srv", "var/backups"):
        (root / path).mkdir(parents=True)
    (root / "opt/factloop/bin/factloop").symlink_to(Path(sys.executable).parent / "factloop")
    shutil.copytree(ROOT / "examples", root / "examples")
    for file in (root / "examples/serving").iterdir():
        file.write_text(within(root, file.read_text(encoding="utf-8")), encoding="utf-8")
    in_shell(shown("useradd "), root, ".")
    steps = "".join(map(shown, ("> host", "openssl req", "systemctl ")))
    changes = rf"echo {key} >> keys.txt; sed -i 's/^#\([a-z]\)/\1/' factloop.toml"
    in_shell(steps.replace("DNS:$(cat host)", "DNS:$(cat host),IP:127.0.0.1") + changes, root)
    return root / "srv/factloop"


@contextmanager
def running_nginx(root: Path, port: int, service: str) -> Iterator[ssl.SSLContext]:
    """Runs nginx in front of the service; yields an SSL context that trusts its certificate."""
    folder = root / "nginx"
    folder.mkdir()
    server = (
        (root / "etc/nginx/conf.d/factloop.conf")
        .read_text(encoding="utf-8")
        .replace("listen 80;", f"listen 127.0.0.1:{free_port()};")
        .replace("listen 443 ", f"listen 127.0.0.1:{port} ")
        .replace("http://127.0.0.1:8000/", f"{service}/")
    )
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"pid {folder}/nginx.pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{server}}}\n",
        encoding="utf-8",
    )
    command = ["nginx", "-c", str(configuration), "-p", str(folder), "-e", str(folder / "error.log")]
    user = "user root;" if os.geteuid() == 0 else ""  # whose folder it is
    with running([*command, "-g", f"daemon off; {user}"], port):
        yield ssl.create_default_context(cafile=root / "srv/factloop/factloop.pem")


@dataclass(frozen=True)
class Proxy:
    port: int
    tls: ssl.SSLContext
    service: RunningService
    root: Path

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
    port, root = free_port(), tmp_path_factory.mktemp("nginx")
    folder = set_up(root, KEY)
    with services_over(running, folder) as services:
        service = services.start("--set", f"public_url=https://{HOST}:{port}/factloop/", folder="jobs")
        with running_nginx(root, port, service.url) as tls:
            yield Proxy(port, tls, service, root)


@pytest.fixture
def sim(running: Simulator) -> Iterator[Simulator]:
    yield running
    running.set(**vars(INSTANT))


def test_the_service_does_what_the_document_says(proxy: Proxy) -> None:
    (proxy.root / ".curlrc").write_text(f"resolve = {HOST}:{proxy.port}:127.0.0.1", encoding="utf-8")
    asked = shown("curl ").replace("$(cat host)", f"$(cat host):{proxy.port}")
    for key, said in (("$KEY", '"precision": '), ("wrong", "the key is not valid")):
        assert said in in_shell(asked.replace("$KEY", key), proxy.root, CURL_HOME=str(proxy.root))
    in_shell(shown("sed -i -E") + shown("backup.sh"), proxy.root)
    keys = (proxy.root / "srv/factloop/keys.txt").read_text(encoding="utf-8")
    assert re.findall(r"name=(\w+)", keys) == ["ada", "cleo"]
    assert {path.suffix for path in (proxy.root / "var/backups/factloop").iterdir()} == {".jobs", ".tgz"}


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
        root = browser.get(f"https://127.0.0.1:{proxy.port}/").headers["Location"]
    assert (answer.status_code, answer.headers["X-Request-ID"]) == (202, "mine")
    assert answer.headers["Location"] == f"/factloop/v1/jobs/{job}"
    assert (metrics, root) == ([404] * 3, f"{proxy.origin}/factloop/")
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
