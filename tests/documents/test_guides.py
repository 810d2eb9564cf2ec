"""Every command and every Python block of the README and of docs/ runs."""

from __future__ import annotations

import csv
import hashlib
import io
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from factloop.reports.downloads import csv_text
from tests.cli.command import Command
from tests.documents.shown import GUIDES, LOCAL_SERVER, ROOT, Document, run_command, run_in_shell, run_python, serving
from tests.simulator import RunningSimulator

SERVICE = "http://127.0.0.1:8000"
README = Document.read("README.md")
DOCUMENTS = {"README.md": README, **GUIDES}
IN_GUIDES = {command for guide in GUIDES.values() for command in guide.commands}
KINDS = {
    "--workers": pytest.mark.ray,
    "minicheck": pytest.mark.torch,
    "search.yaml --run-dir": pytest.mark.statistical,
    **dict.fromkeys(("plan.yaml --run-dir", "--k 6 ", "labelled.jsonl --docs", "table.tex"), pytest.mark.statistical),
    **dict.fromkeys(("mycology", "lengths", "runs/gpt", "runs/mine", "export next.csv"), pytest.mark.statistical),
}
"""Of what is dear to run. The commands on mycology make hundreds of calls, and build on one another."""


def marks(command: str) -> list[pytest.MarkDecorator]:
    return [mark for part, mark in KINDS.items() if part in command]


COMMANDS = [
    pytest.param(name, command, marks=() if name == "prompts.md" else marks(command))  # there each needs the last
    for name, document in DOCUMENTS.items()
    for command in document.commands
    if document is not README or command not in IN_GUIDES
]
PIPED = [  # those of the README take some seconds, and are among the quick tests all the same
    pytest.param(name, command, marks=() if document is README else marks(command) or pytest.mark.process)
    for name, document in DOCUMENTS.items()
    for command in document.piped
]
SERVERS = [(name, command) for name, document in DOCUMENTS.items() for command in document.servers]
BLOCKS = [(name, *block) for name, document in DOCUMENTS.items() for block in document.python]
PYTHON = [block for block in BLOCKS if SERVICE not in block[1]]
HARNESSES = {"deepeval", "inspect_ai", "mlflow", "ragas"}
"""Want other versions of packages than the tests do: `make test-real` has an environment with all of them."""
CALLERS = [(name, code) for name, code, _ in BLOCKS if SERVICE in code]


def test_a_newcomer_reads_the_readme_in_one_sitting() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    for wanted in ("pip install ", "make demo", "source .venv/bin/activate", "make test"):
        assert f"\n    {wanted}" in text
    assert sum("examples/" in command for command in (*README.commands, *README.piped)) >= 3
    assert README.python


def test_each_guide_shows_something_to_run() -> None:
    assert all(guide.commands or guide.piped or guide.servers or guide.python for guide in GUIDES.values())


def label(sheet: Path) -> None:
    """Fills in the sheet between two commands: a claim is right if the source states it."""
    drawn = csv.DictReader(io.StringIO(sheet.read_text(encoding="utf-8")))
    rows = [row | {"label": str(int(row["claim"] in row["document"]))} for row in drawn]
    sheet.write_text(csv_text([*rows[0]], [tuple(row.values()) for row in rows]), encoding="utf-8")


def printed_of(guide: str, command: str) -> set[str]:
    return set(DOCUMENTS[guide].printed.get(command, "").splitlines())


@pytest.mark.parametrize(("guide", "command"), COMMANDS)
def test_command(
    guide: str,
    command: str,
    simulator: RunningSimulator,
    factloop: Command,
    folder_of: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder_of(guide))
    by_words = {"sim": 0.6, "careful": 0.9} if guide == "prompt-decision.md" else {}  # as that page starts it
    simulator.set(reads_by_words=by_words)
    if "labels export next.csv" in command:
        label(Path("next.csv"))
    said = run_command(command, simulator, factloop)
    assert said
    assert printed_of(guide, command) <= {line.rstrip() for line in said.splitlines()}


def test_the_page_on_prompts_measures_the_prompt_that_it_makes(
    factloop: Command, folder_of: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder_of("prompts.md"))
    made, asked = (
        next(command.split()[1:] for command in GUIDES["prompts.md"].commands if part in command)
        for part in ("prompts new", "--dry-run")
    )
    path = Path("variants/strict/safe/assessment.md")
    assert path.exists() or factloop(*made).code == 0
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    assert f"prompt {path} ({digest}): “Judge <claim>" in factloop(*asked).out


def test_the_plan_of_the_page_on_experiments_is_accepted(tmp_path: Path) -> None:
    from factloop.evaluation.experiments.plan import load_plan  # not where harnesses are tested
    from factloop.evaluation.experiments.variants import all_settings

    (plan,) = re.findall(
        r"^```yaml\n(.*?)^```$", (ROOT / "docs/experiments.md").read_text(encoding="utf-8"), re.M | re.S
    )
    shutil.copytree(ROOT / "examples" / "prompt-experiment", tmp_path, dirs_exist_ok=True)
    (tmp_path / "plan.yaml").write_text(plan, encoding="utf-8")
    found = load_plan(tmp_path / "plan.yaml")
    assert found.load().items
    assert all_settings(found, None, {}).keys() == found.variants.keys()


@pytest.mark.parametrize(("guide", "command"), PIPED)
def test_command_in_a_shell(
    guide: str, command: str, simulator: RunningSimulator, environment: dict[str, str], folder_of: Callable[[str], Path]
) -> None:
    said = run_in_shell(command, simulator, environment, folder_of(guide))
    assert said
    assert printed_of(guide, command) <= {line.rstrip() for line in said.splitlines()}


@pytest.mark.process
@pytest.mark.parametrize(("guide", "command"), SERVERS)
def test_server(guide: str, command: str, environment: dict[str, str], folder_of: Callable[[str], Path]) -> None:
    path = "mcp" if " mcp " in command else "health"
    with serving(command, environment, folder_of(guide)) as address:
        try:
            status = urlopen(f"{address}/{path}").status
        except HTTPError as refused:
            status = refused.code
    assert status == {"health": 200, "mcp": 406}[path]  # an MCP client has to say that it takes event streams


@pytest.mark.usefixtures("inside")
@pytest.mark.parametrize(("guide", "code", "output"), PYTHON)
def test_python_block(
    guide: str,
    code: str,
    output: str,
    simulator: RunningSimulator,
    folder_of: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for package in HARNESSES & set(re.findall(r"^from (\w+)", code, re.MULTILINE)):
        pytest.importorskip(package)
    monkeypatch.chdir(folder_of(guide))
    printed = run_python(code.replace(LOCAL_SERVER, simulator.base_url), capsys)
    assert printed
    assert set(output.splitlines()) <= {line.rstrip() for line in printed.splitlines()}


@pytest.mark.process
@pytest.mark.parametrize(("guide", "code"), CALLERS)
def test_python_block_that_asks_the_service(
    guide: str,
    code: str,
    environment: dict[str, str],
    folder_of: Callable[[str], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = next(command for command in GUIDES[guide].servers if "factloop serve" in command)
    with serving(command, environment, folder_of(guide)) as address:
        assert run_python(code.replace(SERVICE, address), capsys)
