"""The folder of data sets, and the error of a command that does not find one."""

from __future__ import annotations

from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.evaluation.datasets.fetch import get
from factloop.evaluation.datasets.folder import data_folder, find_part
from factloop.evaluation.datasets.registry import load_part


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FACTLOOP_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def prompts(folder: Path, name: str = "longfact_objects.jsonl") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text('{"id": "1", "topic": "music", "prompt": "What is a lute?"}\n', encoding="utf-8")
    return file


def test_the_folder_is_named_by_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert data_folder() == folder
    monkeypatch.setenv("FACTLOOP_DATA_DIR", "~/sets")
    assert data_folder() == Path.home() / "sets"
    monkeypatch.setenv("FACTLOOP_DATA_DIR", "")
    assert data_folder().name == "factloop"
    assert data_folder().is_absolute()


def test_what_was_got_is_found_and_loads(folder: Path, tmp_path: Path) -> None:
    get("longfact", folder, prompts(tmp_path / "there").parent, parts=("objects",))
    place = find_part("longfact", "objects", None)
    assert place == folder / "longfact" / "objects"
    (prompt,) = load_part("longfact", "objects", place)
    assert prompt.model_dump()["prompt"] == "What is a lute?"


def test_a_place_that_is_given_is_taken_as_it_is(folder: Path, tmp_path: Path) -> None:
    file = prompts(tmp_path / "there")
    get("longfact", folder, file.parent, parts=("objects",))
    assert find_part("longfact", "objects", str(file)) == file
    assert find_part("longfact", "objects", "-") == Path("-")
    assert find_part("wice", "dev", str(tmp_path / "there")) == tmp_path / "there"
    assert find_part("longfact", "objects", str(folder)) == folder / "longfact" / "objects"
    assert find_part("longfact", "concepts", str(folder)) == folder


@pytest.mark.parametrize(
    ("dataset", "part", "command"),
    [
        ("longfact", "objects", "factloop data get longfact --part objects,"),
        ("mixedqa", "answers", "factloop data get mixedqa,"),
        ("llm-aggrefact", "dev", "factloop data get llm-aggrefact --from-dir FOLDER (from https://"),
    ],
)
def test_a_part_that_is_absent_says_how_to_get_it(folder: Path, dataset: str, part: str, command: str) -> None:
    with pytest.raises(ConfigError) as caught:
        find_part(dataset, part, None)
    assert f"is not in {folder}; get it with: {command}" in str(caught.value)


def test_a_folder_of_many_files_is_searched_for_the_parts_own(folder: Path, tmp_path: Path) -> None:
    many = prompts(tmp_path / "many").parent
    prompts(many, "others.jsonl")
    place = find_part("longfact", "objects", str(many))
    assert place == many / "longfact_objects.jsonl"
    assert len(list(load_part("longfact", "objects", place))) == 1
    assert not folder.exists()


def test_a_folder_without_it_says_which_name_was_looked_for(tmp_path: Path) -> None:
    for name in ("one.jsonl", "other.jsonl"):
        prompts(tmp_path / "many", name)
    place = find_part("wice", "dev", str(tmp_path / "many"))
    with pytest.raises(ConfigError, match=r"there are 2, none of them wice_dev\.jsonl; name the file itself"):
        list(load_part("wice", "dev", place))


def test_a_part_that_is_not_whole_is_not_there(folder: Path) -> None:
    prompts(folder / "longfact" / "objects")
    with pytest.raises(ConfigError, match="get it with"):
        find_part("longfact", "objects", None)


def test_names_that_are_none_are_refused_whatever_is_given(folder: Path) -> None:
    with pytest.raises(ConfigError, match="there is no data set 'longfakt'"):
        find_part("longfakt", "objects", str(folder))
    with pytest.raises(ConfigError, match="longfact has no part 'subjects'"):
        find_part("longfact", "subjects", None)
