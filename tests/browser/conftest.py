from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.visits import PATIENCE_MS, Visits

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Closed with its module: while Playwright runs, no other test in the thread can run an event loop."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no chromium or google-chrome on the PATH")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=found, args=list(ARGUMENTS), headless=True)
        yield launched
        launched.close()


@pytest.fixture
def visits(browser: Browser, tmp_path: Path) -> Iterator[Visits]:
    """Fails a test if a page logged a console error or requested anything but itself."""
    visits = Visits(browser, tmp_path)
    yield visits
    for context in browser.contexts:
        context.close()
    assert visits.complaints == []
    assert [url for url in visits.requests if not url.startswith("file://")] == []
