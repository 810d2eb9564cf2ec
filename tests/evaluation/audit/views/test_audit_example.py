"""The example of an audit: its commands run, and what its README says of their results is true."""

from __future__ import annotations

import json
import re
import runpy
import shlex
import shutil
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from lxml import etree

from factloop.cli import main
from factloop.evaluation.audit.adjustment_records import AdjustmentMethod, CalibrationWarning
from factloop.evaluation.audit.advice import Leave, Use
from factloop.evaluation.audit.estimate import AuditFigure, Group
from factloop.evaluation.audit.report import AuditAt, AuditReport
from factloop.evaluation.audit.units import Level

pytestmark = pytest.mark.statistical  # a thousand resamples

FOLDER = Path(__file__).parents[4] / "examples" / "audit"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    (.+)$", README, re.MULTILINE)
ALL = Group(kind="all")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which a reader has run the commands of the README, one after the other."""
    folder = tmp_path_factory.mktemp("audit")
    for file in ("predictions.jsonl", "draw_pictures.py"):
        shutil.copy(FOLDER / file, folder)
    for command in COMMANDS:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(folder)
            run(command, patch)
    return folder


def run(command: str, patch: pytest.MonkeyPatch) -> None:
    """Runs `factloop ...` or `python SCRIPT ...` in this process."""
    program, *arguments = shlex.split(command)
    if program == "factloop":
        patch.setattr(sys, "argv", [program, *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0
    else:
        patch.setattr(sys, "argv", arguments)
        runpy.run_path(arguments[0], run_name="__main__")


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
    """Whether the README has these parts, in this order, in one paragraph."""
    wanted = ".*".join(re.escape(part) for part in parts)
    return any(re.search(wanted, " ".join(paragraph.split())) for paragraph in README.split("\n\n"))


def test_the_commands_are_those_of_an_audit(folder: Path) -> None:
    assert COMMANDS == [
        "factloop audit predictions.jsonl --html audit.html --json audit.json",
        "python draw_pictures.py audit.json",
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
    linked = re.findall(r"!\[[^\]]+\]\((\w+\.svg)\)", README)
    assert sorted(linked) == sorted(file.name for file in folder.glob("*.svg"))
    assert sorted(linked) == sorted(file.name for file in FOLDER.glob("*.svg"))
    for name in linked:
        drawn, kept = (etree.parse(place / name) for place in (folder, FOLDER))
        assert [*drawn.getroot().itertext()] == [*kept.getroot().itertext()]


def test_what_it_says_of_advice(report: AuditReport) -> None:
    leave = {(one.evaluator, each.use): each for one in report.advice if one.group.kind == "all" for each in one.advice}
    for evaluator in ("lenient", "harsh", "wording"):
        assert leave[(evaluator, Use.ERROR_RATE)].leave is Leave.NO
    ranks = leave[("harsh", Use.RANK_SYSTEMS)]
    assert ranks.leave is Leave.YES
    assert "Kendall's tau 0.84 with" in ranks.sentence
    assert says("`harsh` may be used to rank systems", "tau 0.84")


def test_what_it_says_of_rates(report: AuditReport, at: AuditAt) -> None:
    lenient, harsh, wording = (at.rates.find(name, ALL) for name in ("lenient", "harsh", "wording"))
    assert says("`lenient` has a TPR of", f"{percent(lenient.tpr)} %", f"TNR of {percent(lenient.tnr)} %")
    assert says(f"`harsh` has {percent(harsh.tpr)} % and {percent(harsh.tnr)} %")
    balanced = [percent(one.balanced_accuracy) for one in (lenient, harsh, wording)]
    assert says(
        f"balanced accuracies, {balanced[0]} % and {balanced[1]} %", f"with {balanced[2]} %", "worse than a coin"
    )
    assert says(f"its TNR is {percent(wording.tnr)} %")
    assert (report.data.n_prompts, report.settings.n_resamples, report.settings.level) == (30, 1000, 0.95)
    assert says("600 labelled claims of five made-up systems")
    assert (report.data.n_claims, len(report.data.systems), len(report.data.datasets)) == (600, 5, 2)


def test_what_it_says_of_agreement(at: AuditAt) -> None:
    both = at.agreement.find("harsh", "lenient", ALL).unattributable
    assert says(f"both call {percent(both)} % so")


def test_what_it_says_of_error_rates(at: AuditAt) -> None:
    harsh, lenient = (at.quantification.find(name, ALL) for name in ("harsh", "lenient"))
    of_harsh = [one for one in at.quantification.systems if one.evaluator == "harsh" and one.level is Level.CLAIM]
    worst = max(abs(one.bias.value or 0.0) for one in of_harsh)
    assert says(f"{percent(harsh.mean_absolute)} points off on average, and {100 * worst:.1f} at worst")
    assert says(f"`lenient` {percent(lenient.mean_absolute)}, mostly in the other direction")
    assert all((one.bias.value or 0.0) > 0 for one in of_harsh)
    of_lenient = [one for one in at.quantification.systems if one.evaluator == "lenient" and one.level is Level.CLAIM]
    assert sum((one.bias.value or 0.0) < 0 for one in of_lenient) > len(of_lenient) / 2
    responses = at.quantification.find("harsh", ALL, Level.RESPONSE)
    assert says(f"calls too many wrong by {percent(responses.mean_absolute)} points")
    assert says(f"wrong in {percent(harsh.headroom_labelled)} % of its claims")
    assert says(f"the lowest rate is {percent(harsh.headroom_predicted)} %")


def test_what_it_says_of_the_order_of_systems(at: AuditAt) -> None:
    harsh, wording = (
        next(
            one for one in at.mean_rankings if (one.evaluator, one.group.kind, one.level) == (name, "all", Level.CLAIM)
        )
        for name in ("harsh", "wording")
    )
    assert harsh.share_wrong is not None
    assert wording.share_wrong is not None
    assert says(f"disagrees on {100 * harsh.share_wrong:.1f} % of the {harsh.n_pairs} pairs", "reverses none")
    assert harsh.share_reversed == 0
    assert says(f"`wording` disagrees on {100 * wording.share_wrong:.1f} %", f"Its tau is {wording.kendall:.2f}")
    pairs = [pair for one in at.rankings if (one.evaluator, one.level) == ("harsh", Level.CLAIM) for pair in one.pairs]
    missed = [pair for pair in pairs if pair.is_wrong and pair.predicted.value == "no_difference"]
    assert len(missed) > sum(pair.is_wrong for pair in pairs) / 2


def test_what_it_says_of_wording(at: AuditAt) -> None:
    wording, harsh = (
        next(one for one in at.surface if (one.evaluator, one.group.kind) == (name, "all"))
        for name in ("wording", "harsh")
    )
    assert wording.bins[0].tpr == 0
    assert [one.tnr for one in wording.bins[2:]] == [0, 0, 0]
    for rates in ([one.tpr for one in harsh.bins], [one.tnr for one in harsh.bins]):
        steps = [(before or 0.0) < (after or 0.0) for before, after in pairwise(rates)]
        assert True in steps
        assert False in steps


def test_what_it_says_of_chunks(at: AuditAt) -> None:
    (found,) = [one for one in at.chunking if one.group.kind == "all"]
    assert found.across.share_changed is not None
    assert says(f"{found.across.n} claims draw on", f"about {100 * found.across.share_changed:.1f} % of them")
    assert says(f"none of the other {found.within.n}")
    assert found.within.share_changed == 0


def test_what_it_says_of_adjustment(at: AuditAt) -> None:
    means = {one.evaluator: one.methods for one in at.mean_adjustments if one.group.kind == "all"}
    harsh = {one.method: one for one in means["harsh"]}
    zero_bias = harsh[AdjustmentMethod.ZERO_BIAS]
    assert zero_bias.mean_bias is not None
    assert zero_bias.unadjusted_mean_bias is not None
    shown = f"leaves {100 * zero_bias.mean_bias:.1f} points of {100 * zero_bias.unadjusted_mean_bias:.1f}"
    assert says("zero bias", shown)
    assert all((one.mean_bias or 0.0) >= (one.unadjusted_mean_bias or 0.0) for one in means["wording"])
    (council,) = [one for one in at.adjustment if (one.evaluator, one.dataset) == ("harsh", "council minutes")]
    (birch,) = [one for one in council.calibrations if one.system == "birch"]
    assert CalibrationWarning.FEW_ERRORS in birch.warnings
    counts, plain = (birch.by(method) for method in (AdjustmentMethod.ADJUSTED_COUNTS, AdjustmentMethod.UNADJUSTED))
    assert counts.mean_bias is not None
    assert plain.mean_bias is not None
    assert says(
        f"which has {birch.n_errors} errors", f"{100 * counts.mean_bias:.1f} points", f"{100 * plain.mean_bias:.1f}"
    )
