"""The page and its parts, loaded once at the start; and reports as pages under a policy of their own."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import files

from factloop.reports.claims import verdict_table

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
INDEX = "index.html"
VERDICTS = "verdicts.js"
"""The words and signs of verdicts as a module for scripts."""
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_REPORT_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"<>]+)">')
_HEAD = 1_000
"""Characters at the head of a report in which its policy stands, before anything that came from outside."""


@dataclass(frozen=True)
class Asset:
    """One file of the page."""

    body: bytes
    media_type: str


def load_assets() -> dict[str, Asset]:
    """The files of the page by name. Names from callers are looked up here, never on the disk."""
    found = {}
    of_reports = files("factloop.reports").joinpath("pages")
    shared = (of_reports.joinpath(name) for name in ("base.css", "page.js"))
    for entry in (*files("factloop.service").joinpath("page").iterdir(), *shared):
        suffix = entry.name[entry.name.rfind(".") :]
        if entry.is_file() and suffix in TYPES:
            found[entry.name] = Asset(entry.read_bytes(), TYPES[suffix])
    verdicts = f"export const VERDICTS = {json.dumps(verdict_table())};\n"
    return {**found, VERDICTS: Asset(verdicts.encode(), TYPES[".js"])}


EXPIRED = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>factloop: this link has expired</title>
<h1>This link has expired</h1>
<p>A link to a report is good for half a day. Open it again from <a href="../../../">the page of the service</a>.</p>
</html>
"""
"""What a reader sees who opens the address of a report without a key: it stands three steps below the page."""


def report_policy(page: str) -> str:
    """The policy that a report names in its head: the hashes of its own style and script, and nothing else.

    It runs in a sandbox, so that even a script of it could neither ask this service nor read what the page keeps. The
    page of the service alone may show it in a frame. Its links may open other pages, which are in no sandbox.
    """
    found = _REPORT_POLICY.search(page, 0, _HEAD)
    policy = "default-src 'none'" if found is None else found.group(1)
    sandbox = "sandbox allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox"
    return f"{policy}; frame-ancestors 'self'; {sandbox}"
