"""Versions of what is installed, as reports name them."""

from __future__ import annotations

import importlib.metadata

import pytest

from factloop import FactChecker
from factloop.core.installed import installed_version


def test_it_is_what_the_installation_says() -> None:
    assert installed_version("pydantic") == importlib.metadata.version("pydantic")
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        installed_version("no-such-distribution")


def test_a_report_names_the_libraries_that_shape_it() -> None:
    versions = FactChecker(cache=False).check("Rome is in Italy.").fingerprint.versions
    assert {"langgraph", "simplemma", "tantivy", "text2num"} <= versions.keys()
    assert versions == {name: importlib.metadata.version(name) for name in versions}
