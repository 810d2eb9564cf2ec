"""Loads, validates and renders prompts.

A prompt is a Markdown file with front matter (`name`, `version`, `variables`, `output`, `source`), followed by a
`# system` and a `# user` section. `{{variable}}` is a placeholder for data. Data is inserted in a single pass, so
placeholders in data stay unchanged. Each value is enclosed in tags that do not occur in it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from textwrap import shorten

from factloop.core.errors import ConfigError, DataError
from factloop.core.files.lines import read_given
from factloop.prompts.layout import FIELDS, PLACEHOLDER, FrontMatterError, decode_prompt, lay_out, read_fields

PACKAGED = Path(__file__).parent
LARGEST = 10_000_000  # maximum size of a prompt file in bytes

Value = str | Sequence[str] | None


@dataclass(frozen=True)
class RenderedPrompt:
    name: str
    system: str
    user: str
    parts: tuple[int, ...] = ()
    """Positions in `user` where values end, except the last. Requests may share the text up to each position."""


@dataclass(frozen=True)
class Prompt:
    name: str
    version: int
    variables: tuple[str, ...]
    output: str | None
    """Title of the reply schema, or None if this is part of another prompt."""
    source: str
    system: str
    user: str
    sha256: str
    """Hash of the file. Any change to the file makes it a different prompt."""
    path: Path = field(compare=False)

    @property
    def own_path(self) -> Path | None:
        """The path of a user's file, or None for a packaged prompt."""
        return None if self.path.is_relative_to(PACKAGED) else self.path

    def render(self, **values: Value) -> RenderedPrompt:
        """Replaces each `{{variable}}` with its value, enclosed in tags.

        Each entry of a list has its own numbered tag. None and the empty list become empty text. Raises ValueError if a
        variable is missing or unknown.
        """
        if strangers := set(values) ^ set(self.variables):
            raise ValueError(
                f"prompt {self.name} has the variables {list(self.variables)}; missing or unknown: {sorted(strangers)}"
            )
        suffix = _free_suffix(self.variables, _texts(values.values()))
        blocks = {name: _blocks(name + suffix, value) for name, value in values.items()}
        system, user, ends = _fill(self.system, blocks), _fill(self.user, blocks), [0]
        for name in PLACEHOLDER.findall(self.user):
            ends.append(user.index(blocks[name], ends[-1]) + len(blocks[name]))
        return RenderedPrompt(self.name, system, user, tuple(sorted({*ends} - {0, ends[-1]})))


class PromptRegistry:
    """Maps names to prompts. A user's files may replace some of the packaged prompts."""

    def __init__(self, prompts: Iterable[Prompt], own: Iterable[str] = ()) -> None:
        self._prompts = {prompt.name: prompt for prompt in prompts}
        self.own = frozenset(own)

    @classmethod
    def load(cls, overlay: Path | None = None) -> PromptRegistry:
        """Reads the packaged prompts and the `.md` files in `overlay` that replace some of them. Raises ConfigError."""
        packaged = packaged_prompts()
        if overlay is None:
            return cls(packaged.values())
        own: dict[str, Prompt] = {}
        for path in prompt_files(overlay):
            prompt = read_variant(path)
            if prompt.name in own:
                raise ConfigError(
                    f"{path}: another file in the folder also has the name {prompt.name!r}; remove one of them"
                )
            own[prompt.name] = prompt
        return cls([*packaged.values(), *own.values()], own)

    def __getitem__(self, name: str) -> Prompt:
        return self._prompts[name]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._prompts))

    def hashes(self, names: Iterable[str]) -> dict[str, str]:
        """Returns the SHA-256 hash of each named prompt's file, for fingerprints."""
        return {name: self._prompts[name].sha256 for name in sorted(names)}

    def first_lines(self, names: Iterable[str]) -> dict[str, str]:
        """Returns the shortened first line of each named prompt, so that people can recognize it."""
        return {
            name: shorten(self._prompts[name].system.partition("\n")[0], 120, placeholder=" …")
            for name in sorted(names)
        }


def prompt_files(folder: Path) -> list[Path]:
    """Lists the prompt files in a user's folder. Raises ConfigError if there are none."""
    try:
        is_folder = folder.is_dir()
    except OSError as error:
        raise ConfigError(f"cannot read {folder} ({error.strerror})") from error
    if not is_folder:
        raise ConfigError(f"{folder} is not a folder")
    files = sorted(folder.rglob("*.md"))
    if not files:
        raise ConfigError(f"{folder} contains no prompt files (.md)")
    return files


@cache
def packaged_prompts() -> Mapping[str, Prompt]:
    prompts = [read_prompt(path) for path in sorted(PACKAGED.rglob("*.md"))]
    return {prompt.name: prompt for prompt in prompts}


def read_variant(path: Path) -> Prompt:
    """Reads a file that replaces a packaged prompt with the same name, variables and output. Raises ConfigError."""
    prompt = read_prompt(path)
    packaged = packaged_prompts()
    original = packaged.get(prompt.name)
    if original is None:
        raise ConfigError(f"{path}: there is no prompt {prompt.name!r}; use one of {', '.join(sorted(packaged))}")
    if set(prompt.variables) != set(original.variables) or prompt.output != original.output:
        raise ConfigError(
            f"{path}: a variant must keep the variables {list(original.variables)} and the output {original.output!r}"
        )
    return prompt


def read_prompt(path: Path) -> Prompt:
    """Reads a prompt file. Raises a ConfigError that names the path and the problem."""
    try:
        raw = read_given(path, LARGEST)
        text = decode_prompt(raw)
    except (DataError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot read the prompt ({error})") from error
    if (parts := lay_out(text)) is None:
        raise ConfigError(f"{path}: write front matter between '---' lines, then a '# system' and a '# user' section")
    try:
        fields = read_fields(parts.front_matter)
    except FrontMatterError as error:
        raise ConfigError(f"{path}: the front matter is not valid YAML") from error
    if not isinstance(fields, dict) or set(fields) != set(FIELDS):
        raise ConfigError(f"{path}: the front matter must have exactly the fields {sorted(FIELDS)}")
    variables, version = fields["variables"], fields["version"]
    if not isinstance(variables, list) or not all(isinstance(item, str) and item.isidentifier() for item in variables):
        raise ConfigError(f"{path}: 'variables' must be a list of names")
    if len(set(variables)) < len(variables):
        raise ConfigError(f"{path}: 'variables' must not contain a name twice")
    if type(version) is not int or version < 1:  # YAML's `true` is an int to isinstance
        raise ConfigError(f"{path}: 'version' must be a whole number of at least 1")
    if not all(isinstance(fields[key], str) and fields[key] for key in ("name", "source")):
        raise ConfigError(f"{path}: 'name' and 'source' must be nonempty text")
    if not isinstance(fields["output"], str | None):
        raise ConfigError(f"{path}: 'output' must be the title of a schema or null")
    used = {name for part in (parts.system, parts.user) for name in PLACEHOLDER.findall(part)}
    if used != set(variables):
        raise ConfigError(f"{path}: every variable must be declared and used; check {sorted(used ^ set(variables))}")
    return Prompt(
        name=fields["name"],
        version=version,
        variables=tuple(variables),
        output=fields["output"],
        source=fields["source"],
        system=parts.system.strip(),
        user=parts.user.strip(),
        sha256=hashlib.sha256(raw).hexdigest(),
        path=path,
    )


def _texts(values: Iterable[Value]) -> list[str]:
    return [text for value in values if value is not None for text in ([value] if isinstance(value, str) else value)]


def _free_suffix(names: Sequence[str], texts: Sequence[str]) -> str:
    """Returns a suffix for the tags: empty unless the data contains one of this prompt's tags.

    The suffix is a hash of all values, so the author of one value cannot guess it, and equal requests get the same one.
    """
    if not names:
        return ""
    tag = re.compile(rf"<\s*+(?:/\s*+)?(?:{'|'.join(map(re.escape, names))})(?:-(\d{{1,9}}))?", re.IGNORECASE)
    taken = {int(match[1] or 0) for text in texts for match in tag.finditer(text)}
    if not taken:
        return ""
    drawn = int(hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest(), 16) % 10**6
    return f"-{next(number for number in count(drawn) if number not in taken)}"


def _blocks(tag: str, value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f"<{tag}>{value}</{tag}>"
    return "\n".join(f'<{tag} id="{number}">{text}</{tag}>' for number, text in enumerate(value, 1))


def _fill(template: str, blocks: Mapping[str, str]) -> str:
    """Removes lines that consist only of empty placeholders."""
    lines = []
    for line in template.split("\n"):
        filled = PLACEHOLDER.sub(lambda match: blocks[match[1]], line)
        if filled.strip() or not PLACEHOLDER.search(line):
            lines.append(filled)
    return "\n".join(lines).strip()
