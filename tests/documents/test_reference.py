from __future__ import annotations

import re
import runpy

import factloop
from factloop.cli.app import COMMANDS
from factloop.correction.records import CorrectionSettings
from factloop.entrance.serving import ServeSettings
from factloop.setup.settings import CheckSettings
from factloop.tools.judges.hub import JUDGES
from factloop.trust.settings import TrustSettings
from tests.documents.shown import DOCS, GENERATED, NAVIGATION, ROOT


def test_the_reference_has_every_public_name() -> None:
    shown = re.findall(r"^::: factloop\.([A-Z]\w+)$", (DOCS / "reference.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(shown) == sorted(factloop.__all__)


def test_the_page_of_judges_says_what_the_registry_does() -> None:
    page = (DOCS / "judges.md").read_text(encoding="utf-8")
    for kind, known in JUDGES.items():
        (row,) = (line for line in page.splitlines() if re.match(rf"\| `{kind}[:`]", line))
        repo = known.files.repo if known.files is not None else ""
        assert all(said in row for said in (known.good_for, known.size, known.parameters, known.licence, repo)), kind


def test_every_page_stands_in_the_navigation() -> None:
    assert sorted({path.name for path in DOCS.glob("*.md")} | GENERATED) == sorted(NAVIGATION)


def test_agents_and_readers_are_told_of_every_page() -> None:
    for name in ("llms.txt", "index.md"):
        linked = re.findall(r"\]\(([\w-]+\.md)\)", (DOCS / name).read_text(encoding="utf-8"))
        assert sorted(linked) == sorted({*NAVIGATION} - GENERATED - {"index.md"}), name


def test_the_generated_pages_have_every_command_and_every_setting() -> None:
    pages = runpy.run_path(str(ROOT / ".ci" / "pages.py"))
    commands, settings = pages["commands"](), pages["settings"]()
    assert re.findall(r"^## factloop (.+)$", commands, re.MULTILINE) == list(COMMANDS)
    assert all(f"Usage: factloop {path} [OPTIONS]" in commands for path in COMMANDS)
    for kind in (CheckSettings, CorrectionSettings, TrustSettings, ServeSettings):
        assert set(kind.model_fields) <= set(re.findall(r"^\| `(\w+)` \|", settings, re.MULTILINE))
