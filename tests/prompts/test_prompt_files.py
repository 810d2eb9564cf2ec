from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from factloop.core.errors import ConfigError
from factloop.prompts.registry import PACKAGED, PromptRegistry, read_prompt
from tests.work import LINEAR, growth

GOOD = """---
name: safe/rating
version: 3
variables: [question, sentence, fact, evidence]
output: Rating
source: "A variant."
---

# system
Rate it.
# user
{{question}}
{{sentence}}
{{fact}}
{{evidence}}
"""


def put(folder: Path, text: str | bytes, name: str = "rating.md") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_file_is_read_whole(tmp_path: Path) -> None:
    path = put(tmp_path, GOOD)
    prompt = read_prompt(path)
    assert (prompt.name, prompt.version) == ("safe/rating", 3)
    assert prompt.variables == ("question", "sentence", "fact", "evidence")
    assert (prompt.output, prompt.source) == ("Rating", "A variant.")
    assert (prompt.system, prompt.user) == ("Rate it.", "{{question}}\n{{sentence}}\n{{fact}}\n{{evidence}}")
    assert prompt.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("change", [lambda raw: raw.replace(b"\n", b"\r\n"), lambda raw: b"\xef\xbb\xbf" + raw])
def test_files_of_windows_are_read_alike(tmp_path: Path, change: object) -> None:
    assert callable(change)
    theirs, ours = read_prompt(put(tmp_path, change(GOOD.encode()), "w.md")), read_prompt(put(tmp_path, GOOD))
    assert (theirs.system, theirs.user) == (ours.system, ours.user)
    assert theirs.sha256 != ours.sha256


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "front matter between '---' lines"),
        ("just text", "front matter between '---' lines"),
        (GOOD.replace("# system", "# sys"), "front matter between '---' lines"),
        (GOOD.replace("# user", "# usr"), "front matter between '---' lines"),
        (b"\xff\xfe\x00", "cannot read the prompt"),
        (b"a" * 10_000_001, "this file has more than 10,000,000 bytes"),
        (GOOD.replace("version: 3", "version: [3"), "not valid YAML"),
        (GOOD.replace("version: 3", "version: !!python/object/apply:os.getcwd []"), "not valid YAML"),
        (GOOD.replace("version: 3", f"version: {'1' * 5000}"), "not valid YAML"),
        (GOOD.replace("version: 3", f"version: {'[' * 500}"), "not valid YAML"),
        (GOOD.replace("version: 3\n", ""), "must have exactly the fields"),
        (GOOD.replace("version: 3", "version: 0"), "'version' must be a whole number of at least 1"),
        (GOOD.replace("version: 3", "version: true"), "'version' must be a whole number of at least 1"),
        (GOOD.replace("[question, sentence, fact, evidence]", "fact"), "'variables' must be a list of names"),
        (GOOD.replace("evidence]", "2]"), "'variables' must be a list of names"),
        (GOOD.replace("evidence]", "evi-dence]"), "'variables' must be a list of names"),
        (GOOD.replace("evidence]", "evidence, fact]"), "must not contain a name twice"),
        (GOOD.replace(", evidence]", "]"), r"must be declared and used; check \['evidence'\]"),
        (GOOD.replace("{{fact}}", "{{ fact }}"), r"must be declared and used; check \['fact'\]"),
        (GOOD.replace("name: safe/rating", "name: 7"), "'name' and 'source' must be"),
        (GOOD.replace('source: "A variant."', "source: [a]"), "'name' and 'source' must be"),
        (GOOD.replace("output: Rating", "output: 7"), "'output' must be the title of a schema or null"),
        (GOOD.replace("safe/rating", "safe/other"), "there is no prompt 'safe/other'; use one of correction/revision"),
        (GOOD.replace("output: Rating", "output: null"), "must keep the variables"),
        (
            GOOD.replace("evidence", "passages"),
            r"must keep the variables \['question', 'sentence', 'fact', 'evidence'\] and the output 'Rating'",
        ),
    ],
)
def test_a_malformed_file_of_an_overlay_is_named(tmp_path: Path, text: str | bytes, said: str) -> None:
    path = put(tmp_path, text)
    with pytest.raises(ConfigError, match=said) as caught:
        PromptRegistry.load(tmp_path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_a_variant_takes_the_place_of_its_original_alone(tmp_path: Path) -> None:
    put(tmp_path, GOOD, "deep/any name.md")
    put(tmp_path, "not a prompt", "notes.txt")
    packaged, overlaid = PromptRegistry.load(), PromptRegistry.load(tmp_path)
    assert overlaid.names == packaged.names
    changed = [name for name in packaged.names if overlaid[name] != packaged[name]]
    assert changed == ["safe/rating"]
    assert overlaid["safe/rating"].version == 3
    assert overlaid.hashes(["safe/rating"]) != packaged.hashes(["safe/rating"])


def test_what_a_folder_replaces_is_known(tmp_path: Path) -> None:
    path = put(tmp_path, GOOD)
    packaged, overlaid = PromptRegistry.load(), PromptRegistry.load(tmp_path)
    assert (sorted(packaged.own), sorted(overlaid.own)) == ([], ["safe/rating"])
    assert (packaged["safe/rating"].own_path, overlaid["safe/rating"].own_path) == (None, path)


@pytest.mark.parametrize("text", ["---\n# system\n" * 100_000, "---\n" + "\n---\n\n" * 100_000, "---\n" * 300_000])
def test_a_long_file_that_is_no_prompt_is_refused(tmp_path: Path, text: str) -> None:
    """Quadratic work would exceed the test's time limit."""

    def read(n_characters: int) -> None:
        with pytest.raises(ConfigError, match="front matter between '---' lines"):
            read_prompt(put(tmp_path, text[:n_characters]))

    read(len(text))
    assert growth(read, 2_000) < LINEAR


def test_the_order_of_variables_is_free(tmp_path: Path) -> None:
    put(tmp_path, GOOD.replace("fact, evidence]", "evidence, fact]"))
    assert PromptRegistry.load(tmp_path)["safe/rating"].variables == ("question", "sentence", "evidence", "fact")


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    put(tmp_path, GOOD, "a.md")
    second = put(tmp_path, GOOD.replace("Rate it.", "Rate it well."), "b.md")
    with pytest.raises(ConfigError, match="another file in the folder also has the name 'safe/rating'") as caught:
        PromptRegistry.load(tmp_path)
    assert str(caught.value).startswith(str(second))


def test_a_folder_without_prompts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"contains no prompt files \(\.md\)"):
        PromptRegistry.load(tmp_path)
    with pytest.raises(ConfigError, match="is not a folder"):
        PromptRegistry.load(tmp_path / "none")
    with pytest.raises(ConfigError, match="is not a folder"):
        PromptRegistry.load(put(tmp_path, GOOD))


def test_a_folder_that_is_called_like_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    with pytest.raises(ConfigError, match="cannot read the prompt"):
        PromptRegistry.load(tmp_path)


def test_the_packaged_folder_is_a_valid_overlay_of_itself() -> None:
    assert PromptRegistry.load(PACKAGED).names == PromptRegistry.load().names
