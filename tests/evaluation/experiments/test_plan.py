from __future__ import annotations

from pathlib import Path

import pytest

from factloop.core.errors import ConfigError, DataError
from factloop.evaluation.experiments.plan import LONGEST_SAID, ExperimentPlan, load_plan
from factloop.evaluation.experiments.variants import all_settings
from factloop.setup.settings import CheckSettings
from tests.evaluation.experiments.small_plans import write_variant

GOOD = """\
name: strict-assessment
data: data/claims.jsonl
baseline: packaged
repeats: 3
k: 32
settings:
  model: openai:sim
  docs: [sources]
variants:
  packaged: {}
  strict:
    prompts: variants/strict
    max_searches: 8
"""


def written(home: Path, text: str) -> Path:
    path = home / "plan.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_plan_is_read_and_its_paths_are_relative_to_it(home: Path) -> None:
    folder = home / "a [b] folder"
    folder.mkdir()
    plan = load_plan(written(folder, GOOD))
    assert (plan.name, plan.baseline_name, plan.repeats, plan.k) == ("strict-assessment", "packaged", 3, (32,))
    assert plan.data_path == folder / "data" / "claims.jsonl"
    (folder / "sources").mkdir()
    settings = plan.settings_of("strict", CheckSettings(max_searches=2, timeout_s=5.0), max_calls=9)
    assert settings.prompts == folder / "variants" / "strict"
    assert (settings.max_searches, settings.timeout_s, settings.max_calls) == (8, 5.0, 9)
    assert settings.docs == (str(folder / "sources"),)
    assert plan.settings_of("packaged").max_searches == 5
    assert plan.settings_of("packaged").k == (32,)


def test_the_plan_is_fused_unless_one_is_named() -> None:
    variants: dict[str, dict[str, str]] = {"a": {}, "b": {"plan": "grounded"}}
    plan = ExperimentPlan.model_validate({"name": "n", "data": "d", "variants": variants})
    assert [plan.settings_of(name).plan for name in "ab"] == ["fused", "grounded"]
    assert [plan.settings_of(name, CheckSettings(plan="paper")).plan for name in "ab"] == ["paper", "grounded"]
    named = plan.model_copy(update={"settings": {"plan": "paper"}})
    assert [named.settings_of(name).plan for name in "ab"] == ["paper", "grounded"]


@pytest.mark.parametrize(
    ("old", "new", "line", "field", "said"),
    [
        ("repeats: 3", "repeats: 0", 4, "repeats", "greater than or equal to 1"),
        ("repeats: 3", "repeat: 3", 4, "repeat", "unknown field"),
        ("repeats: 3", "repeats: 3\nrepeats: 4", 5, None, "'repeats' appears twice"),
        ("repeats: 3", "folder: /etc", 4, "folder", "unknown field"),
        ("baseline: packaged", "baseline: none", 3, "baseline", "must be one of packaged, strict"),
        ("data: data/claims.jsonl\n", "", 1, "data", "is missing"),
        ("name: strict-assessment", "name: '../../etc'", 1, "name", "use up to 64"),
        ("  strict:\n", "  '{{x}}':\n", 11, "variants.{{x}}", "use up to 64"),
        ("  strict:\n", "  no:\n", 11, None, "field names must be strings"),
        ("max_searches: 8", "max_searches: 0", 13, "variants.strict.max_searches", "0: input should be greater"),
        (
            "max_searches: 8",
            "max_serches: 8",
            13,
            "variants.strict.max_serches",
            "unknown setting; did you mean 'max_searches'?",
        ),
        ("max_searches: 8", "k: 8", 13, "variants.strict.k", "K does not affect verdicts"),
        ("max_searches: 8", "max_calls: 8", 13, "variants.strict.max_calls", "must be the same in all variants"),
        ("max_searches: 8", "docs: {a: 1}", 13, "variants.strict.docs", "input should be"),
        ("  docs: [sources]", "  k: 8", 8, "settings.k", "K does not affect verdicts"),
        ("  docs: [sources]", "  cache: true", 8, "settings.cache", "instead of a cache"),
        ("  docs: [sources]", "  plan: thorough", 8, "settings.plan", "'thorough': input should be"),
        ("  docs: [sources]", "  base_url: 'http://u:p@h h'", 8, "settings.base_url", "must be an http"),
        (
            "max_searches: 8",
            "base_url: 'http://h'\n    model:",
            14,
            "variants.strict.model",
            "also set `base_url: null`",
        ),
        ("  model: openai:sim", "  base_url: 'http://h'\n  model:", 7, "settings.base_url", "set `base_url: null`"),
        ("  packaged: {}", "  packaged: {", 12, None, "this is not YAML"),
        ("  packaged: {}", "  packaged: 7", 10, "variants.packaged", "valid dictionary, not 7"),
        ("k: 32", "splitting: nosuch", 5, "splitting", "unknown judge 'nosuch'; use baseline, "),
        ("k: 32", "k: []", 5, "k", "at least 1"),
        ("k: 32", f"k: 0x{'f' * 9_000}", 5, None, "this number is too long"),
        ("k: 32", "<<: {k: 3}", 5, None, "put '<<' in quotes"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    home: Path, old: str, new: str, line: int, field: str | None, said: str
) -> None:
    assert old in GOOD
    with pytest.raises(DataError) as caught:
        load_plan(written(home, GOOD.replace(old, new, 1)))
    error = caught.value
    assert (error.line, error.field) == (line, field), str(error)
    assert said in str(error)
    assert str(error).startswith(str(home / "plan.yaml"))
    assert "\n" not in str(error)
    assert "u:p@" not in str(error)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "must contain fields with values"),
        (b"- a\n- b\n", "must contain fields with values"),
        (b"just words", "must contain fields with values"),
        (b"a: 1\n---\nb: 2\n", "expected a single document"),
        (b"\xff\xfe", "must be UTF-8"),
        (b"name: \x07", "not YAML"),
        (b"name: 2001-99-99", "not YAML"),
        (b"[" * 2_000, "not YAML"),
        (b"\xef\xbb\xbfname: x\n", "is missing"),
    ],
)
def test_rubbish_is_one_line(home: Path, raw: bytes, said: str) -> None:
    path = home / "plan.yaml"
    path.write_bytes(raw)
    with pytest.raises(DataError) as caught:
        load_plan(path)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 2 * LONGEST_SAID + len(str(path))


def test_what_only_shows_together_names_the_variant(home: Path) -> None:
    plan = load_plan(written(home, GOOD))
    with pytest.raises(DataError, match="sources: there is no such file or folder"):
        all_settings(plan, None, {})
    (home / "sources").mkdir()
    (home / "sources" / "a.txt").write_text("Ada was born in London.", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"variant 'strict': .*strict"):
        all_settings(plan, None, {})
    prompt = write_variant(home / "variants" / "strict") / "safe" / "assessment.md"
    assert set(all_settings(plan, None, {})) == {"packaged", "strict"}
    with pytest.raises(ConfigError, match="variant 'packaged': experiments do not support `eligibility`"):
        all_settings(plan, CheckSettings(eligibility=True), {})
    prompt.write_text(prompt.read_text(encoding="utf-8").replace("{{claim}}", "{{claims}}"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"variant 'strict': .*assessment\.md:\d+: .*"):
        all_settings(plan, None, {})
