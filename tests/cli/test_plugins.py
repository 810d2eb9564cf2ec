from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from factloop import ConfigError, FactualityReport
from factloop.core.plugins import SEARCH, load_plugin
from factloop.evaluation.datasets import registry
from factloop.tools.search.build import built_in_searches, check_sources
from tests.cli.command import Command

MODULE = """
from factloop.evaluation.datasets.mapping import LabelledClaim
from factloop.evaluation.datasets.registry import Dataset, DatasetPart
from factloop.tools.search.base import SearchHit, SearchTool
from factloop.tools.judges.baseline import Baseline
from factloop.tools.judges.found_pieces import BaselineReader


class MySearch(SearchTool):
    name: str = "mine"
    description: str = "Search my notes."

    @classmethod
    def build(cls, *, timeout_s, replayed):
        return cls()

    @property
    def identity(self):
        return "mine 1"

    def search(self, query, limit):
        passage = "Ada Lovelace was born in London. Ada Lovelace died in London in 1852."
        return [SearchHit(source="mine://ada", passage=passage)]


def build_verifier(target, *, allow_download):
    assert target == "some"
    return BaselineReader(Baseline())


class MyItem(LabelledClaim):
    def labelled_claims(self):
        yield LabelledClaim(id=self.id, claim=self.claim, document=self.document, label=self.label)


def load(place):
    from factloop.core.files.tables import load_items

    return load_items([place], MyItem)


DATASET = Dataset(
    name="my-notes", title="My notes", about="what I noted", homepage="https://x.test", licence="CC0", citation="Me",
    parts=(
        DatasetPart(name="dev", files=(), own_file="mine.jsonl", columns=(), loader="my_plugin:load", one_file=True),
    ),
)
"""
ENTRY_POINTS = """
[factloop.search]
mine = my_plugin:MySearch.build
broken = my_plugin:Nothing

[factloop.verifiers]
my-verifier = my_plugin:build_verifier

[factloop.datasets]
my-notes = my_plugin:DATASET
"""


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    site = tmp_path / "site"
    about = site / "my_plugin-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-plugin\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    (site / "my_plugin.py").write_text(MODULE)
    monkeypatch.syspath_prepend(site)
    registry._by_name.cache_clear()
    yield
    registry._by_name.cache_clear()
    sys.modules.pop("my_plugin", None)


def test_a_search_is_used_by_its_name(factloop: Command, answer: Path) -> None:
    result = factloop("check", answer, "--search", "mine", "--json", "-")
    report = FactualityReport.model_validate_json(result.out)
    assert (report.counts.supported, report.counts.not_supported) == (1, 1)
    assert report.claims[0].evidence[0].source == "mine://ada"
    assert report.fingerprint.search_tools == ("mine 1",)


def test_an_unknown_name_is_answered_with_all_there_are(factloop: Command, answer: Path) -> None:
    result = factloop("check", answer, "--search", "mime")
    assert result.code == 2
    known = ", ".join((*built_in_searches(), "broken", "mine"))
    assert f"use {known}, or a path to documents" in result.complaint


def test_what_cannot_be_imported_says_whose_it_is(factloop: Command, answer: Path) -> None:
    result = factloop("check", answer, "--search", "broken")
    assert result.code == 2
    assert "cannot load 'broken' from my_plugin:Nothing in my-plugin (AttributeError" in result.complaint
    with pytest.raises(ConfigError, match="cannot load"):
        load_plugin(SEARCH, "broken")
    check_sources(["broken"])  # it is known; nothing is imported to see that


def test_a_verifier_and_a_data_set(factloop: Command, home: Path) -> None:
    row = {"id": "1", "claim": "Ada was born.", "document": "Ada was born in 1815.", "label": 1}
    (home / "mine.jsonl").write_text(json.dumps(row) + "\n")
    listed = {
        one["name"]: one for one in json.loads(factloop("research", "data", "list", "--json", "-").out)["datasets"]
    }
    assert listed["my-notes"]["title"] == "My notes"
    flags = ("--dataset", "my-notes:dev", "--data", home / "mine.jsonl", "--out", home / "scores.jsonl")
    result = factloop("research", "verify", "--verifier", "my-verifier:some", *flags, "--json", "-")
    assert result.code == 0, result.err
    assert json.loads(result.out)["n_labelled"] == 1
