"""The cache folder: its place, its owner, and runs that cannot use it."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.setup.caching.folder import INDEXES, bounds_of, cache_folder, cache_place
from factloop.setup.caching.opening import open_answers
from factloop.setup.settings import RunSettings
from factloop.tools.calls.cache import CacheBounds
from tests.rights import open_to_others
from tests.setup.caching.cache_folders import settings_at


def test_the_folder_of_the_settings_else_the_user_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert cache_place(settings_at(tmp_path / "own")) == tmp_path / "own"
    if os.name == "posix":
        assert cache_place(RunSettings()) == tmp_path / "user" / "factloop"
    assert list(tmp_path.iterdir()) == []


def test_bounds_are_those_of_the_settings() -> None:
    assert bounds_of(RunSettings()) == CacheBounds(max_bytes=1_024_000_000, max_age_s=30 * 86400.0)
    assert bounds_of(RunSettings(cache_mb=1, cache_days=0.5)) == CacheBounds(max_bytes=1_000_000, max_age_s=43200.0)
    for wrong in ({"cache_mb": 0}, {"cache_days": 0.0}, {"cache_days": -1.0}):
        with pytest.raises(ConfigError, match="cache_"):
            RunSettings.of(None, **wrong)


def test_without_a_cache_there_is_no_folder(tmp_path: Path) -> None:
    settings = settings_at(tmp_path / "cache", cache=False)
    assert cache_folder(settings) is None
    with closing(open_answers(settings)) as answers:
        answers.put("key", 1)
        assert answers.get("key") is not None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="rights of this kind")
@pytest.mark.usefixtures("widest_umask")
class TestRights:
    def test_what_is_made_is_its_owner_s_alone(self, tmp_path: Path) -> None:
        settings = settings_at(tmp_path / "a" / "cache")
        assert cache_folder(settings, INDEXES) == tmp_path / "a" / "cache" / "indexes"
        with closing(open_answers(settings)) as answers:
            answers.put("key", 1)
            assert open_to_others(tmp_path / "a") == []

    def test_the_user_s_own_folder_is_narrowed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        (tmp_path / "factloop" / "indexes").mkdir(parents=True)
        assert cache_folder(RunSettings()) == tmp_path / "factloop"
        assert cache_folder(RunSettings(), INDEXES) is not None
        assert open_to_others(tmp_path / "factloop") == []

    def test_a_folder_that_the_user_named_keeps_its_rights_and_what_is_ours_in_it_does_not(
        self, tmp_path: Path
    ) -> None:
        (tmp_path / "shared" / "indexes").mkdir(parents=True)
        (tmp_path / "shared" / "notes.txt").write_text("for all")
        settings = settings_at(tmp_path / "shared")
        cache_folder(settings, INDEXES)
        open_answers(settings).close()
        assert open_to_others(tmp_path / "shared") == [".", "notes.txt"]


@pytest.mark.parametrize("in_the_way", ["cache", "cache/indexes", "."])
def test_a_folder_that_cannot_be_used_is_a_warning_once(
    tmp_path: Path, in_the_way: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "file" / "cache" if in_the_way == "." else tmp_path / "cache"
    file = tmp_path / ("file" if in_the_way == "." else in_the_way)
    file.parent.mkdir(exist_ok=True)
    file.write_text("in the way")
    settings = settings_at(folder)
    for _ in range(3):
        assert cache_folder(settings, INDEXES) is None
    (message,) = caplog.messages
    assert message.startswith(f"{folder}: cannot be used as the cache folder (")
    assert message.endswith(": answers and indexes are kept in memory")
    assert "\n" not in message


def test_answers_that_cannot_be_opened_are_kept_in_memory(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "calls.sqlite").mkdir()
    with closing(open_answers(settings_at(tmp_path))) as answers:
        answers.put("key", 1)
        assert answers.get("key") is not None
    (message,) = caplog.messages
    assert message.startswith(f"{tmp_path}: cannot be used as the cache folder (")
    assert list((tmp_path / "calls.sqlite").iterdir()) == []
