"""Visits to pages in a real browser, which open them from files as a user does."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page

PATIENCE_MS = 60_000
"""For a busy machine: each wait ends as soon as what it waits for is there."""


@dataclass
class Visits:
    """Opens pages from files, and keeps whatever they complained about or asked for."""

    browser: Browser
    folder: Path
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(
        self, html: str, *, width: int = 1280, dark: bool = False, script: bool = True, fragment: str = ""
    ) -> Page:
        file = self.folder / "page.html"
        file.write_text(html, encoding="utf-8")
        context = self.browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme="dark" if dark else "light",
            java_script_enabled=script,
        )
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(file.as_uri() + fragment)
        return page


def reload_with_theme(page: Page, theme: str) -> None:
    """Loads the page anew, with the theme in store that it has to have stored.

    Chromium keeps what pages store in a process of its own. On a busy machine that process can be asked for it before
    it was told, or be started anew without it, so the store is filled again before the page's scripts run.
    """
    assert page.evaluate("localStorage.getItem('factloop-theme')") == theme
    page.add_init_script(f"localStorage.setItem('factloop-theme', '{theme}')")
    page.reload()


def shown(page: Page) -> int:
    """How many items of the list are not filtered away."""
    return page.locator(".claim:visible").count()
