"""The measured figures of the pages: `measurements.toml`, held against the pages and against what was measured.

    python -m benchmarks.measurements                  # what does not match
    python -m benchmarks.measurements ID               # after ID was measured again: today's date, commit and digests
    python -m benchmarks.measurements ID --since "…"   # what has changed since, and why the figures still hold

A figure is a number with a decimal point, percent, "of", "+" or a unit, and every number in a table row with one. Code
and the targets of links are not read.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).with_suffix(".toml")
PAGES = ("*.md", "docs/*.md", "docs/llms.txt", "benchmarks/*.md", "examples/*/README.md")
FIELDS = {"command", "data", "looked_at", "date", "commit", "machine", "figures", "of"}
CODE = re.compile(r"^```(?s:.*?)^```$|^    .*$|`[^`\n]*`|\]\([^)]*\)", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w.])(?:\d[\d,]*)?\.?\d+")
UNIT = r"%| of \d| of these \d| \+ \d| (?:m?s|seconds|minutes|[MG]B|tokens|calls|points|times)\b"
FIGURE = re.compile(rf"{NUMBER.pattern}(?={UNIT})|(?<![\w.])\d*\.\d+(?!\.?\d)")
ROW = re.compile(r"^\|.*$", re.MULTILINE)


def pages() -> dict[str, str]:
    """The text of each page, without digits in code and in links."""
    paths = sorted(path for pattern in PAGES for path in ROOT.glob(pattern))
    texts = ((str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) for path in paths)
    return {name: CODE.sub(lambda code: re.sub(r"\d", "_", code[0]), text) for name, text in texts}


def problems(file: str, texts: Mapping[str, str]) -> Iterator[str]:
    """Figures that nobody measured, that no page shows, and that are older than what they measure."""
    tables = tomllib.loads(file)
    others = [pattern for patterns in tables.pop("not-measured").values() for pattern in patterns]
    owners = {pattern.replace(" ", r"\s+"): "not-measured" for pattern in others}
    for name, one in tables.items():
        if set(one) - {"reader", "since"} != FIELDS or not all(re.search("[A-Za-z|]", it) for it in one["figures"]):
            yield f"{name}: has {sorted(one)}, and its figures are phrases or cells"
        owners |= {r"\s+".join(map(re.escape, figure.split())): name for figure in one["figures"]}
        for place in (place for place, was in one["of"].items() if was != digest(place)):
            yield f"{name}: {place} has changed. Measure again, or say with --since why the figures still hold"
    for name, text in texts.items():
        known = [found.span() for pattern in owners for found in re.finditer(pattern, text, re.DOTALL)]
        rows = [row.span() for row in ROW.finditer(text) if FIGURE.search(row[0])]
        figures = [*FIGURE.finditer(text), *(one for row in rows for one in NUMBER.finditer(text, *row))]
        for start, end in sorted({one.span() for one in figures}):
            if not any(first <= start and end <= last for first, last in known):
                yield f"{name}: {text[start:end]} is not in {FILE.name}: {text[max(0, start - 50) : end + 30]!r}"
    everything = "\n".join(texts.values())
    unseen = (pattern for pattern in owners if not re.search(pattern, everything, re.DOTALL))
    yield from (f"{owners[pattern]}: no page shows {pattern!r}" for pattern in unseen)


def digest(place: str) -> str:
    """Of a file, a folder or `module.py:name`; docstrings and comments of Python do not count."""
    path, _, name = place.partition(":")
    files = sorted(one for one in (ROOT / path).rglob("*") if one.is_file()) or [ROOT / path]
    parts = [_code(one, name) if one.suffix == ".py" else one.read_bytes() for one in files]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]


def _code(file: Path, name: str) -> bytes:
    lines, tree = (text := file.read_text(encoding="utf-8")).splitlines(), ast.parse(text)
    for one in ast.walk(tree):
        if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and one.end_lineno:
            lines[one.lineno - 1 : one.end_lineno] = [""] * (one.end_lineno - one.lineno + 1)
    if name:
        (found,) = (one for one in tree.body if re.match(rf"(class |def )?{name}\b", lines[one.lineno - 1]))
        lines = lines[found.lineno - 1 : found.end_lineno]
    bare = (re.sub(r"(?:^ *|  )#.*", "", line) for line in lines)
    return "\n".join(line for line in bare if line.strip()).encode()


def renewed(file: str, name: str, since: str | None) -> str:
    """The file with the present digests of a measurement, and either `since` or today's date and commit."""
    (section,) = re.finditer(rf"^\[{re.escape(name)}\]\n(?:(?!\[).*\n)*", file, re.MULTILINE)
    new = re.sub(r'(?m)^(of\."(.+)") = .*$', lambda line: f'{line[1]} = "{digest(line[2])}"', section[0])
    new = re.sub(r"(?m)^since = .*\n", "", new)
    if since is not None:
        new = new.replace("\n", f"\nsince = {json.dumps(since, ensure_ascii=False)}\n", 1)
    else:
        head = subprocess.check_output(("git", "rev-parse", "--short=8", "HEAD"), cwd=ROOT, text=True).strip()
        new = re.sub(r"(?m)^date = .*$", f"date = {datetime.now(UTC).date()}", new)
        new = re.sub(r"(?m)^commit = .*$", f'commit = "{head}"', new)
    return file[: section.start()] + new + file[section.end() :]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("id", nargs="?")
    parser.add_argument("--since")
    given = parser.parse_args()
    if given.id is not None:
        text = FILE.read_text(encoding="utf-8")
        if f"[{given.id}]\n" not in text:
            parser.error(f"{FILE.name} has no {given.id}")
        FILE.write_text(renewed(text, given.id, given.since), encoding="utf-8")
    found = list(problems(FILE.read_text(encoding="utf-8"), pages()))
    sys.exit("\n".join(found) or 0)
