from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Route

from factloop.trust.settings import TrustSettings
from tests.browser.service.serving import Serving, simulated
from tests.browser.visits import PATIENCE_MS, slow_down
from tests.evaluation.audit.views.audit_sample import sample_audit
from tests.evaluation.runs.finished_runs import judged, write_run
from tests.simulator import MODEL, Simulator

REFUSED = "Failed to load resource"
"""What the console says of each answer that is no success, whether a page deals with it or not."""


class Looking:
    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self.complaints: list[str] = []
        self.strangers: list[str] = []

    def at(self, url: str, *, width: int = 1280, dark: bool = False) -> Page:
        context = self._browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light", reduced_motion="reduce"
        )
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        slow_down(page)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on("request", lambda request: self._asked(url, request.url))
        page.goto(url)
        return page

    def _heard(self, message: ConsoleMessage) -> None:
        if not message.text.startswith(REFUSED):
            self.complaints.append(message.text)

    def _asked(self, url: str, asked: str) -> None:
        if urlsplit(asked).scheme not in ("data", "blob") and urlsplit(asked).netloc != urlsplit(url).netloc:
            self.strangers.append(asked)


@contextmanager
def held(page: Page, addresses: str) -> Iterator[None]:
    """Simulates a slow service: requests to these addresses are held until the block ends."""
    asked: list[Route] = []
    page.route(addresses, lambda route: asked.append(route))
    yield
    for route in asked:
        route.continue_()
    page.unroute(addresses)


@pytest.fixture
def looking(browser: Browser) -> Iterator[Looking]:
    looking = Looking(browser)
    yield looking
    for context in browser.contexts:
        context.close()
    assert looking.complaints == []
    assert looking.strangers == []


@pytest.fixture(scope="module")
def world(running: Simulator) -> Iterator[Simulator]:
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(("FACTLOOP_", "OPENAI_", "SERPER_")):
                patch.delenv(name)
        for name, value in running.environment.items():
            patch.setenv(name, value)
        yield running


@pytest.fixture
def halfway(world: Simulator) -> Iterator[Simulator]:
    world.set(dies_after=40, dies_by="hang")
    yield world
    world.set(dies_after=None)


@pytest.fixture(scope="module")
def service(world: Simulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("service")
    documents = folder / "notes.txt"
    documents.write_text("The Kell bridge was opened in 1931. It is made of granite.\n", encoding="utf-8")
    results = folder / "results"
    results.mkdir()
    (results / "june.json").write_text(sample_audit().model_dump_json(), encoding="utf-8")
    for name, letters in (("first", "ssn"), ("second", "snn"), ("other", "s")):
        write_run(results / name, [judged(f"{name == 'other'}{n}", letters, labels="SNN") for n in range(10)])
    with Serving(
        folder / "state",
        simulated(world, concurrency=4),
        TrustSettings(subject_model=MODEL, base_url=world.base_url, cache=False),
        documents=(f"bridges={documents}",),
        results=results,
    ) as serving:
        yield serving


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with Serving(tmp_path_factory.mktemp("offline")) as serving:
        yield serving
