"""Adds to the site, besides the pages of docs/: every command and every setting, and the pages as Markdown.

`mkdocs.yml` lists this file as a hook. `llms.txt` lists the Markdown pages.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import factloop
from factloop.cli.app import COMMANDS, app
from factloop.cli.help import ALL
from factloop.cli.options import help_of, spelling
from factloop.correction.records import CorrectionSettings
from factloop.entrance.serving import ServeSettings
from factloop.setup.marks import in_order, mark_of
from factloop.setup.settings import CheckSettings
from factloop.trust.settings import TrustSettings

SETTINGS = {
    "Checks": CheckSettings,
    "Corrections, in addition to those of checks": CorrectionSettings,
    "TrustScores": TrustSettings,
    "The service, in addition to those of checks and TrustScores": ServeSettings,
}


def commands() -> str:
    """Every command with its help, including rarely used options."""
    return "\n".join(["# Commands\n", *(f"## factloop {path}\n\n```text\n{_help(path)}```\n" for path in COMMANDS)])


def settings() -> str:
    """Every setting with its flag, if it has one, and its help."""
    head = "# Settings\n\n[Limits and settings](limits.md#settings) says where each can be set.\n"
    return "\n".join([head, *(line for title in SETTINGS for line in _table(title))])


def _help(path: str) -> str:
    return CliRunner().invoke(app, [*path.split(), ALL], prog_name="factloop", env={"COLUMNS": "100"}).output.lstrip()


def _table(title: str) -> Iterator[str]:
    yield f"## {title}\n\n| setting | flag | |\n|---|---|---|"
    shared = CheckSettings.model_fields if title != "Checks" else {}
    for name, field in in_order(SETTINGS[title]):
        if name not in shared or title == "TrustScores":
            flag = f"`{spelling(name)}`" if mark_of(field).group is not None else f"`--set {name}=`"
            yield f"| `{name}` | {flag} | {help_of(field).replace('|', '&#124;')} |"
    yield ""


def on_files(files: Any, config: Any) -> Any:
    """Adds the generated pages to those in docs/. MkDocs calls this function by its name."""
    from mkdocs.structure.files import File

    for name, content in {"commands.md": commands(), "settings.md": settings()}.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Rejects a reference that lacks a public name, or one of its fields or members. MkDocs calls it by its name."""
    from mkdocs.exceptions import PluginError

    if page.file.src_uri == "reference.md" and (missing := [name for name in _public() if f'id="{name}"' not in html]):
        raise PluginError(f"the reference lacks {', '.join(missing)}")
    return html


def _public() -> Iterator[str]:
    """The names of `factloop`, with the fields of records and the members of enums."""
    for name in factloop.__all__:
        found = getattr(factloop, name)
        yield f"factloop.{name}"
        members = getattr(found, "__members__", None) or getattr(found, "model_fields", {})
        yield from (f"factloop.{name}.{member}" for member in members)


def on_post_build(config: Any) -> None:
    """Copies the Markdown of each page next to it. MkDocs calls this function by its name."""
    for page in Path(config.docs_dir).glob("*.md"):
        shutil.copy(page, config.site_dir)
