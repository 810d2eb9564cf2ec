from __future__ import annotations

from pathlib import Path

import pytest

from factloop import FactChecker
from factloop.core.errors import ConfigError
from factloop.core.files.json import to_json
from factloop.core.records import Record
from factloop.service.results import KINDS, ResultFolder
from tests.evaluation.audit.views.audit_sample import sample_audit
from tests.evaluation.experiments.sample import make_results
from tests.evaluation.experiments.views.experiment_samples import ordinary
from tests.evaluation.runs.finished_runs import judged, write_run
from tests.evaluation.runs.views.run_samples import empty_run, plain_run
from tests.service.asking import ANSWER, Service
from tests.trust.views.trust_sample import firm, long_form, mixed_run


@pytest.fixture
async def folder(home: Path) -> Path:
    """One report under three names, next to files that are not reports."""
    found = home / "results"
    (found / "run").mkdir(parents=True)
    async with FactChecker(cache=False) as checker:
        text = to_json(await checker.acheck(ANSWER, "Who was she?"))
    (found / "ada.json").write_text(text)
    (found / "run" / "report.json").write_text(text)
    (found / "{{7*7}}.json").write_text(text)
    (found / "broken.json").write_text(text[:100])
    (found / "deep.json").write_text("[" * 100_000)
    (found / "other.json").write_text('{"claims": 1}')
    (found / "page.html").write_text("<script>alert(1)</script>")
    (home / "secret.json").write_text(text)
    return found


async def test_reports_are_listed_and_their_pages_drawn_anew(service: Service, folder: Path) -> None:
    async with service(results=folder) as client:
        listed = (await client.get("/v1/results")).json()["results"]
        page = await client.get("/v1/results/ada/page.html")
        text = await client.get("/v1/results/run.json")
        refused = [
            (await client.get(f"/v1/results/{name}")).status_code
            for name in ("secret.json", "..%2fsecret.json", "broken.json", "page/page.html", "deep.json", ".json")
        ]
    assert [(one["name"], one["kind"], one["title"]) for one in listed] == [
        ("ada", "check", "Who was she?"),
        ("run", "check", "Who was she?"),
    ]
    assert page.headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert "Ada Lovelace was born on 12 December 1815." in page.text
    assert text.text == (folder / "ada.json").read_text()
    assert refused == [404] * 6


async def test_two_runs_and_two_experiments_are_compared(service: Service, home: Path) -> None:
    found = home / "results"
    for name, letters in (("june", "ssn"), ("july", "snn")):
        write_run(found / name, [judged(f"p{n}", letters, labels="SNN") for n in range(10)])
        (found / f"of-{name}").mkdir()
        (found / f"of-{name}" / "results.json").write_text(make_results(12).model_dump_json())
        (found / f"of-{name}" / "experiment.json").write_text(ordinary().model_dump_json())
    write_run(found / "other", [judged("q", "s")])
    (found / "june-alone.json").write_text((found / "june" / "summary.json").read_text())
    async with service(results=found) as client:
        listed = (await client.get("/v1/results")).json()["results"]
        asked = "june july", "of-june of-july", "june other", "june june-alone", "june of-july", "of-june none"
        addresses = ("/v1/results/{}/page.html?against={}".format(*pair.split()) for pair in asked)
        runs, experiments, *refused = [await client.get(address) for address in addresses]
    assert {one["name"] for one in listed if one["is_comparable"]} == {"june", "july", "of-june", "of-july", "other"}
    assert "Two evaluators on 10 responses" in runs.text
    assert "B.strict against A.packaged" in experiments.text
    assert [(one.status_code, one.json()["error"]["message"][:45]) for one in refused] == [
        (422, "the runs have no prompts in common, so there "),
        (422, "only the folders of two runs, or of two exper"),
        (422, "of-july is not a run; pass the `--run-dir` of"),  # without the path of the operator's folder
        (404, "there is no such result"),
    ]


def test_no_folder_is_no_result_and_a_wrong_one_an_error(home: Path) -> None:
    assert ResultFolder(None).all() == []
    assert ResultFolder(None).find("ada") is None
    with pytest.raises(ConfigError, match="must be a folder"):
        ResultFolder(home / "absent")


@pytest.mark.parametrize(
    ("record", "names"),
    [
        (firm(), ["TrustOV"]),
        (mixed_run(), ["TrustOV", "TrustBC", "TrustFC"]),
        (long_form(), ["Decided"]),
        (plain_run(), ["F1@64", "Precision", "Fully supported"]),
        (sample_audit(), ["strict", "strict@5", "mild"]),
        (empty_run(), []),
    ],
)
def test_each_kind_of_result_leads_with_its_figures(record: Record, names: list[str]) -> None:
    kind = next(kind for kind in KINDS if kind.record is type(record))
    found = list(kind.figures(record))
    assert [figure.name for figure in found] == names
    assert all(figure.value != "None" and (figure.value != "–" or figure.basis) for figure in found)
