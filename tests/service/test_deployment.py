from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from factloop import FactChecker
from factloop.entrance.serving import ServeSettings
from factloop.setup.settings import CheckSettings

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "serving"
RECIPE = (FOLDER.parents[1] / "docs" / "serving.md").read_text(encoding="utf-8")
PROGRAMS = Path(sys.executable).parent


def complaints(*command: str | Path) -> str:
    """The output of a linter that fails or writes to standard error."""
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stderr if found.returncode == 0 else f"{found.returncode}: {found.stdout}{found.stderr}"


def test_the_dockerfile_passes_hadolint() -> None:
    assert complaints(PROGRAMS / "hadolint", FOLDER / "Dockerfile") == ""


def test_the_compose_file_is_one_and_its_variables_are_settings() -> None:
    compose = FOLDER / "compose.yaml"
    assert complaints(PROGRAMS / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", compose) == ""
    service = yaml.safe_load(compose.read_text(encoding="utf-8"))["services"]["factloop"]
    image = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
    known = {f"FACTLOOP_{name.upper()}" for name in (*ServeSettings.model_fields, *CheckSettings.model_fields)}
    asked = {name for name in service["environment"] if name.startswith("FACTLOOP_")} - {"FACTLOOP_SERVICE_KEYS"}
    set_in_image = {word.partition("=")[0] for word in image.split() if word.startswith("FACTLOOP_")}
    assert (asked | set_in_image) - known == set()
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])


def test_the_answer_of_the_recipe_is_supported() -> None:
    (asked,) = re.findall(r"-d '(.*)'", RECIPE)
    report = FactChecker(docs=FOLDER.parent / "lighthouse" / "sources").check(json.loads(asked)["response"])
    assert f'`"precision": {report.precision}`' in RECIPE


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_unit_is_one(tmp_path: Path) -> None:
    unit = (FOLDER / "factloop.service").read_text(encoding="utf-8")
    (command,) = re.findall(r"^ExecStart=(.*)$", unit, re.MULTILINE)
    assert RECIPE.count(f"-c 'exec {command}'") == 1
    mine = tmp_path / "factloop.service"
    mine.write_text(unit.replace("/opt/factloop/bin/factloop", str(PROGRAMS / "factloop")), encoding="utf-8")
    assert complaints("systemd-analyze", "verify", mine) == ""


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
def test_nginx_takes_its_file(tmp_path: Path) -> None:
    server = (FOLDER / "nginx.conf").read_text(encoding="utf-8")
    whole = tmp_path / "nginx.conf"
    places = f"pid {tmp_path}/pid; error_log stderr crit; events {{}}"
    whole.write_text(
        f"{places} http {{ access_log off; {server.replace('server factloop:8000', 'server 127.0.0.1:8000')} }}",
        encoding="utf-8",
    )
    found = subprocess.run(["nginx", "-t", "-q", "-c", whole], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
