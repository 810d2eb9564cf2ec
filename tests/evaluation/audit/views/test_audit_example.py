from __future__ import annotations

import json
import re
import runpy
import shlex
import shutil
import sys
from pathlib import Path

import pytest
from lxml import etree

from factloop.cli import main
from factloop.evaluation.audit.figures import AuditFigure, Group
from factloop.evaluation.audit.report import AuditAt, AuditReport
from factloop.evaluation.audit.table import Level
from factloop.evaluation.audit.views.tables import SECTIONS, scope_of
from tests.evaluation.audit.random_tables import find

pytestmark = pytest.mark.statistical  # a thousand resamples

FOLDER = Path(__file__).parents[4] / "examples" / "audit"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    (.+)$", README, re.MULTILINE)
ALL = Group(kind="all")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("audit")
    shutil.copy(FOLDER / "predictions.jsonl", folder)
    for command in COMMANDS:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            run(command, patch)
    return folder


def run(command: str, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sys, "argv", shlex.split(command))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0


@pytest.fixture(scope="module")
def report(folder: Path) -> AuditReport:
    return AuditReport.model_validate_json((folder / "audit.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def at(report: AuditReport) -> AuditAt:
    return report.at[0]


def percent(estimate: AuditFigure) -> str:
    assert estimate.value is not None
    return f"{100 * estimate.value:.1f}"


def says(*parts: str) -> bool:
    wanted = ".*".join(re.escape(part) for part in parts)
    return any(re.search(wanted, " ".join(paragraph.split())) for paragraph in README.split("\n\n"))


def test_the_commands_are_those_of_an_audit(folder: Path) -> None:
    assert COMMANDS == [
        "factloop research audit predictions.jsonl --html audit.html --json audit.json --tables pictures.svg"
    ]
    assert (folder / "audit.html").stat().st_size > 100_000


def test_the_rows_are_those_that_the_script_makes(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(FOLDER / "make_predictions.py"), run_name="__main__")
    made = capsys.readouterr().out
    assert made == (FOLDER / "predictions.jsonl").read_text(encoding="utf-8")
    first = json.loads(made.splitlines()[0])
    shown = json.loads(" ".join(re.findall(r"```json\n(.*?)```", README, re.DOTALL)[0].split()))
    assert {**first, "claim": "...", "document": "..."} == shown


def test_the_pictures_are_those_of_the_audit(folder: Path) -> None:
    linked = re.findall(r"!\[[^\]]+\]\(([\w-]+\.svg)\)", README)
    assert sorted(linked) == sorted(file.name for file in FOLDER.glob("*.svg"))
    for name in linked:
        drawn, kept = (etree.parse(place / name) for place in (folder, FOLDER))
        assert [*drawn.getroot().itertext()] == [*kept.getroot().itertext()]


def test_what_it_says_of_rates(report: AuditReport, at: AuditAt) -> None:
    lenient, harsh, wording = (find(at.rates, name, ALL) for name in ("lenient", "harsh", "wording"))
    assert says("`lenient` has a TPR of", f"{percent(lenient.tpr)}%", f"TNR of {percent(lenient.tnr)}%")
    assert says(f"`harsh` has {percent(harsh.tpr)}% and {percent(harsh.tnr)}%")
    balanced = [percent(one.balanced_accuracy) for one in (lenient, harsh, wording)]
    assert says(f"balanced accuracies, {balanced[0]}% and {balanced[1]}%", f"with {balanced[2]}%", "worse than a coin")
    assert says(f"its TNR is {percent(wording.tnr)}%")
    assert (report.data.n_prompts, report.settings.n_resamples, report.settings.level) == (30, 1000, 0.95)
    (findings,) = SECTIONS[0].sheets(scope_of(at, ALL, report.data))
    assert [cell.text for cell in findings.lines[1].cells[2:]] == ["found: 56.7", "found: 12.0", "not shown: -0.8"]
    (ranking,) = (m for m in at.mean_rankings if (m.evaluator, m.level, m.group) == ("harsh", Level.CLAIM, ALL))
    assert says("`harsh` ranks the systems well", f"tau is {ranking.kendall:.2f}")
    assert says("600 labelled claims by five made-up systems")
    assert (report.data.n_claims, len(report.data.systems), len(report.data.datasets)) == (600, 5, 2)
