"""How two prompts differ: in their text, in their front matter, and in what a run records of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from factloop.core.errors import ConfigError
from factloop.core.records import Count, Record
from factloop.prompts.registry import Prompt, PromptRegistry, packaged_prompts, read_prompt

COMPARED = ("name", "version", "variables", "output", "source")


class ComparedPrompt(Record):
    """One side of a comparison."""

    name: str
    version: int
    sha256: str
    path: Path | None
    """None for a packaged prompt."""


class FieldDifference(Record):
    """A field of the front matter that differs."""

    field: str
    a: str | int | tuple[str, ...] | None
    b: str | int | tuple[str, ...] | None


class PromptDifference(Record):
    """The difference between two prompts. If only `sha256` differs: line ends, or how the front matter is written."""

    a: ComparedPrompt
    b: ComparedPrompt
    fields: tuple[FieldDifference, ...]
    text: tuple[str, ...]
    """Unified diff of system and user part, line by line without line ends; empty where they are equal."""
    n_removed: Count
    n_added: Count


class PromptsDifference(Record):
    """All pairs of prompts that were compared."""

    pairs: tuple[PromptDifference, ...]


@dataclass(frozen=True)
class PromptSide:
    """One side as the user named it: one prompt, or a folder that replaces some."""

    single: Prompt | None
    prompts: Mapping[str, Prompt]
    own: frozenset[str]

    @classmethod
    def of(cls, word: str) -> PromptSide:
        """A packaged prompt by its name, else a folder, else a file. Raises ConfigError."""
        packaged = packaged_prompts()
        if word in packaged:
            return cls(packaged[word], {}, frozenset())
        path = Path(word)
        if path.is_dir():
            registry = PromptRegistry.load(path)
            return cls(None, {name: registry[name] for name in registry.names}, registry.own)
        if not path.exists():
            raise ConfigError(f"{word}: no packaged prompt has this name, and there is no such file or folder")
        return cls(read_prompt(path), {}, frozenset())


def compare_sides(a: PromptSide, b: PromptSide) -> PromptsDifference:
    """Compares two prompts; a prompt with that of its name in a folder; or all that either of two folders replaces.

    In a folder, a prompt that is not replaced is the packaged one, as in a run. Raises ConfigError where a folder has
    no prompt of the other side's name.
    """
    if a.single is not None and b.single is not None:
        return PromptsDifference(pairs=(compare_prompts(a.single, b.single),))
    alone = a.single or b.single
    names = [alone.name] if alone is not None else sorted(a.own | b.own)
    for name in names:
        if name not in (a.prompts or b.prompts):
            raise ConfigError(f"no prompt of the folder is named {name!r}; to compare any two files, name both")
    pairs = [compare_prompts(a.single or a.prompts[name], b.single or b.prompts[name]) for name in names]
    return PromptsDifference(pairs=tuple(pairs))


def compare_prompts(a: Prompt, b: Prompt) -> PromptDifference:
    """The differences from `a` to `b`."""
    fields = tuple(
        FieldDifference(field=field, a=getattr(a, field), b=getattr(b, field))
        for field in COMPARED
        if getattr(a, field) != getattr(b, field)
    )
    lines = tuple(unified_diff(_text(a), _text(b), f"a: {_place(a)}", f"b: {_place(b)}", lineterm=""))
    changes = [line[0] for line in lines[2:]]
    return PromptDifference(
        a=_compared(a),
        b=_compared(b),
        fields=fields,
        text=lines,
        n_removed=changes.count("-"),
        n_added=changes.count("+"),
    )


def in_words(difference: PromptDifference) -> list[str]:
    """The meaning of the difference to a run, a sentence each."""
    a, b = difference.a, difference.b
    if a.sha256 == b.sha256:
        return ["The same file, byte for byte: to a run they are one prompt."]
    said = [f"Two prompts to a run, which records their hashes: {a.sha256[:16]} and {b.sha256[:16]}."]
    if difference.text:
        said.append(f"The text differs: {difference.n_removed} of its lines removed, {difference.n_added} added.")
        if (a.name, a.version) == (b.name, b.version):
            said.append(f"Both say that they are version {a.version}: give one of them another.")
    else:
        said.append("A model is sent the same text.")
    if not difference.fields and not difference.text:
        said.append("They differ only in line ends, blank lines or how the front matter is written.")
    return said


def _text(prompt: Prompt) -> list[str]:
    return ["# system", *prompt.system.split("\n"), "# user", *prompt.user.split("\n")]


def _compared(prompt: Prompt) -> ComparedPrompt:
    return ComparedPrompt(name=prompt.name, version=prompt.version, sha256=prompt.sha256, path=prompt.own_path)


def _place(prompt: Prompt) -> str:
    return f"{prompt.name}, packaged" if prompt.own_path is None else str(prompt.path)
