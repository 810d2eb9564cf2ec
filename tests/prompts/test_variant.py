from __future__ import annotations

from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.prompts.lint import lint_paths
from factloop.prompts.registry import PromptRegistry, packaged_prompts
from factloop.prompts.variant import find_source, start_variant


def test_every_prompt_can_be_the_start_of_one_variant(tmp_path: Path) -> None:
    packaged = packaged_prompts()
    for name in packaged:
        start_variant("strict", find_source(name), tmp_path)
    made = PromptRegistry.load(tmp_path / "strict")
    assert made.own == set(packaged)
    for name, original in packaged.items():
        one = made[name]
        assert one.path == tmp_path / "strict" / f"{name}.md"
        assert (one.system, one.user, one.variables, one.output) == (
            original.system, original.user, original.variables, original.output,
        )  # fmt: skip
        assert one.version == original.version + 1
        assert one.source == f"Variant strict of version {original.version} ({original.sha256[:16]}). {original.source}"
    assert lint_paths([tmp_path]).findings == ()


def test_a_variant_can_be_the_start_of_another(tmp_path: Path) -> None:
    packaged = find_source("safe/rating")
    first = start_variant("strict", packaged, tmp_path)
    second = start_variant("stricter", find_source(str(first.path)), tmp_path)
    assert (second.version, second.path) == (packaged.version + 2, tmp_path / "stricter/safe/rating.md")
    copied = f"Variant stricter of version {first.version} ({first.sha256[:16]}). Variant strict of version "
    assert second.source.startswith(f"{copied}{packaged.version}")


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    path = start_variant("mine", find_source("safe/rating"), tmp_path).path
    path.write_text("my work", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"rating\.md already exists and will not be overwritten"):
        start_variant("mine", find_source("safe/rating"), tmp_path)
    assert path.read_text(encoding="utf-8") == "my work"


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "/x", ".hidden", "a\nb", "a b", "x" * 101, "\u202ex"])
def test_a_variant_has_a_plain_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="may contain only letters"):
        start_variant(name, find_source("safe/rating"), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"cannot write .*file/v/safe/rating\.md"):
        start_variant("v", find_source("safe/rating"), tmp_path / "file")


def test_a_source_is_a_prompt(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="safe/raiting is neither a packaged prompt"):
        find_source("safe/raiting")
    path = tmp_path / "mine.md"
    path.write_text("no prompt", encoding="utf-8")
    with pytest.raises(ConfigError, match="front matter"):
        find_source(str(path))
