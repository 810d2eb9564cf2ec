from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Download, Locator, Page
from playwright.sync_api import TimeoutError as NothingCame

PATIENCE_MS = 60_000  # for a busy machine: each wait ends as soon as what it waits for is there
SLOWER, LATER_MS = map(int, os.environ.get("FACTLOOP_TEST_SLOWLY", "1,0").split(","))
"""How many times as long the scripts of pages take, and how much later the service answers."""

# Plain JavaScript: opens all that is folded, until the page has heard of it and filled what it fills only then.
OPEN_ALL = """() => Promise.all([...document.querySelectorAll('details:not([open])')].map((e) => new Promise((done) => {
  e.addEventListener('toggle', () => done(), { once: true });
  e.open = true;
})))"""
# Plain JavaScript: until what was changed has been laid out and drawn.
TWO_FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


@dataclass
class Visits:
    browser: Browser
    folder: Path
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, html: str, *, dark: bool = False, script: bool = True, fragment: str = "") -> Page:
        file = self.folder / "page.html"
        file.write_text(html, encoding="utf-8")
        context = self.browser.new_context(
            viewport={"width": 1280, "height": 800},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
        )
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        slow_down(page)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(file.as_uri() + fragment)
        return page


def slow_down(page: Page) -> None:
    if SLOWER > 1:
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})


def reload_with_store(page: Page) -> None:
    """Reloads the page with what it has stored.

    Chromium keeps storage in a separate process, which may lag or restart on a busy machine, so this fills the store
    again before the page's scripts run.
    """
    stored = page.evaluate("({ ...localStorage })")
    page.add_init_script(f"Object.assign(localStorage, {json.dumps(stored)})")
    page.reload()


def reload_with_theme(page: Page, theme: str) -> None:
    assert page.evaluate("localStorage.getItem('factloop-theme')") == theme
    reload_with_store(page)


def shown(page: Page) -> Locator:
    return page.locator(".claim:visible")


def save_by(link: Locator, place: Path) -> Download:
    """Saves what a click downloads. Clicks again if Chromium, on a busy machine, drops the download."""
    for left in (2, 1, 0):
        try:
            with link.page.expect_download(timeout=PATIENCE_MS / 2) as started:
                link.click()
        except NothingCame:
            if not left:
                raise
        else:
            break
    started.value.save_as(place)
    return started.value
