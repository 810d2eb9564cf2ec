from __future__ import annotations

import importlib.metadata
import json
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from factloop.core.errors import ConfigError, MissingExtra
from factloop.core.extras import INCLUDED, PACKAGES, Extra, install_command, require

PYPROJECT = Path(__file__).resolve().parents[2] / "pyproject.toml"
BUNDLES = {"all", "dev", "docs", "real", "correction"}
"""Extras that no feature asks for: bundles, what maintainers need, and a former name."""


@pytest.fixture(scope="module")
def declared() -> Mapping[str, list[Requirement]]:
    extras = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    return {name: [Requirement(text) for text in texts] for name, texts in extras.items() if name not in BUNDLES}


def test_every_extra_is_in_the_table(declared: Mapping[str, list[Requirement]]) -> None:
    assert {*declared} == {*PACKAGES} == {*get_args(Extra)}
    bundled = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]["all"]
    assert set().union(*(Requirement(text).extras for text in bundled)) == {*PACKAGES}


@pytest.fixture(scope="module")
def provided() -> Mapping[str, list[str]]:
    return importlib.metadata.packages_distributions()


@pytest.mark.parametrize("extra", PACKAGES)
def test_the_table_has_what_pyproject_has(
    extra: Extra, declared: Mapping[str, list[Requirement]], provided: Mapping[str, list[str]]
) -> None:
    own = {canonicalize_name(one.name) for one in declared[extra]} - {"factloop"}
    found = {package: {*map(canonicalize_name, provided[package.partition(".")[0]])} for package in PACKAGES[extra]}
    assert all(names & own for names in found.values()), "a package that the extra does not bring"
    assert own <= set().union(*found.values()), "a distribution that the table does not know"
    included = set().union(*(one.extras for one in declared[extra] if one.name == "factloop"))
    assert included == {*INCLUDED.get(extra, ())}


def test_what_is_missing_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    with pytest.raises(MissingExtra) as raised:
        require("documents", "reading PDF")
    assert str(raised.value) == f'reading PDF needs the "documents" extra; run: {install_command("documents")}'
    assert (raised.value.extra, raised.value.retryable) == ("documents", False)
    assert isinstance(raised.value, ConfigError)
    require("documents", "reading HTML", "lxml")


def test_a_package_within_one_that_is_not_there_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "opentelemetry.sdk", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(MissingExtra):
        require("tracing", "tracing", "opentelemetry.sdk")


FROM = "pip install 'factloop[serve] @"


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'factloop[serve]'"),
        ("no JSON", "pip install 'factloop[serve]'"),
        ({"url": "file:///home/ada/fact%20loop", "dir_info": {}}, "pip install '/home/ada/fact loop[serve]'"),
        ({"url": "file:///opt/f", "dir_info": {"editable": True}}, "pip install -e '/opt/f[serve]'"),
        ({"url": "https://a.b/f.git", "vcs_info": {"vcs": "git"}}, f"{FROM} git+https://a.b/f.git'"),
        ({"url": "https://a.b/f.whl", "archive_info": {}}, f"{FROM} https://a.b/f.whl'"),
    ],
)
def test_more_is_installed_from_where_factloop_came(tmp_path: Path, origin: Any, command: str) -> None:
    if origin is not None:
        (tmp_path / "direct_url.json").write_text(origin if origin == "no JSON" else json.dumps(origin))
    assert install_command("serve", importlib.metadata.PathDistribution(tmp_path)) == command
