"""Serves reports and the web page, each with its own security policy."""

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
VERDICTS = "verdicts.js"  # the wording and symbols of verdicts, as a script module
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_REPORT_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"<>]+)">')
_HEAD = 1_000  # number of characters at the start of a report, which contain its policy but no external content


@dataclass(frozen=True)
class Asset:
    body: bytes
    media_type: str


def load_assets() -> dict[str, Asset]:
    """Loads the page's files by name. Requested names are looked up here, never on disk."""
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
<p>A link to a report is valid for 12 hours. Open the report again from <a href="../../../">the service's page</a>.</p>
</html>
"""
"""For people who open a report's URL without a key. This URL is three levels below the main page."""


def report_policy(page: str) -> str:
    """The policy in a report's head, which uses hashes to allow only the report's own style and script. The sandbox
    keeps even an injected script from calling this service or reading the page's data."""
    found = _REPORT_POLICY.search(page, 0, _HEAD)
    policy = "default-src 'none'" if found is None else found.group(1)
    sandbox = "sandbox allow-scripts allow-downloads allow-popups allow-popups-to-escape-sandbox"
    return f"{policy}; frame-ancestors 'self'; {sandbox}"
