from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples" / "extending"  # files that recipes add
_SECTION = re.compile(r"^## (?P<title>.+?)\n(?P<body>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"(?P<lead>[^\n]+)\n\n```(?P<language>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
_COPY = re.compile(r"^Copy `(?P<name>[^`]+)` from .+ to `(?P<path>[^`]+)`\.$", re.MULTILINE)
_PLACE = re.compile(r"In `(?P<path>[^`]+)`, (?P<how>after|replace)")
_PROOF = "check:"


@dataclass(frozen=True)
class Edit:
    path: str
    anchor: str
    new: str
    replaces: bool = False

    def applied(self, text: str) -> str:
        """Raises ValueError unless the anchor's lines occur exactly once."""
        places = [found.start() for found in re.finditer(f"^{re.escape(self.anchor)}", text, re.MULTILINE)]
        if len(places) != 1:
            raise ValueError(f"{self.path} has these lines {len(places)} times:\n{self.anchor}")
        start = places[0] if self.replaces else places[0] + len(self.anchor)
        return text[:start] + self.new + text[places[0] + len(self.anchor) :]


@dataclass(frozen=True)
class Recipe:
    title: str
    edits: tuple[Edit, ...]
    language: str
    """Of the proof: `python` or `sh`."""
    proof: str

    @property
    def files(self) -> set[str]:
        return {edit.path for edit in self.edits}

    def apply(self, root: Path) -> None:
        for edit in self.edits:
            path = root / edit.path
            if edit.anchor:
                path.write_text(edit.applied(path.read_text(encoding="utf-8")), encoding="utf-8")
                continue
            if path.exists():
                raise ValueError(f"{edit.path} is there already")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(edit.new, encoding="utf-8")


def read_recipes(page: str) -> dict[str, Recipe]:
    """The recipes by title. Each is a section with edits and, last, a proof; raises ValueError for any other layout."""
    return {found["title"]: _recipe(found["title"], found["body"]) for found in _SECTION.finditer(page)}


def _recipe(title: str, body: str) -> Recipe:
    copies = [(found["path"], EXAMPLES / found["name"]) for found in _COPY.finditer(body)]
    edits = [Edit(path, "", copy.read_text(encoding="utf-8")) for path, copy in copies]
    blocks = [(found["lead"], found["language"], found["code"]) for found in _BLOCK.finditer(body)]
    if len(blocks) != body.count("\n```") // 2:
        raise ValueError(f"{title}: a block of code has no line before it that says what it is")
    *changes, (lead, language, proof) = blocks
    if not lead.lower().endswith(_PROOF):
        raise ValueError(f"{title}: the last block does not show that it works")
    while changes:
        lead, _, code = changes.pop(0)
        if place := _PLACE.fullmatch(lead):
            then, _, added = changes.pop(0)
            if then != {"after": "add", "replace": "with"}[place["how"]]:
                raise ValueError(f"{title}: {lead!r} is followed by {then!r}")
            edits.append(Edit(place["path"], code, added, replaces=place["how"] == "replace"))
        else:
            raise ValueError(f"{title}: {lead!r} does not say which file to edit")
    return Recipe(title, tuple(edits), language, proof)


def install(project: Path, site: Path) -> None:
    """Installs a project into a folder on the path as pip would: its modules and its entry points."""
    about = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    folder = site / f"{about['name'].replace('-', '_')}-{about['version']}.dist-info"
    folder.mkdir(parents=True)
    head = f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n"
    (folder / "METADATA").write_text(head, encoding="utf-8")
    lines: list[str] = []
    for group, named in about["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {place}" for name, place in named.items())]
    (folder / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    for module in project.glob("*.py"):
        (site / module.name).write_bytes(module.read_bytes())
