"""Lints the text of a prompt: its placeholders, how it treats untrusted text, what cannot be seen, its length."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence

from factloop.prompts.layout import PLACEHOLDER, Layout
from factloop.prompts.lint_fields import Lines, declared_variables
from factloop.prompts.lint_rules import LineFinding, Rule, shown
from factloop.prompts.registry import Prompt

LONGEST = 16_000
"""Characters of both parts: about 4,000 tokens of English, which every call pays for, and ten times our longest."""

_SAYS_DATA = re.compile("instruct", re.IGNORECASE)
# Joiners that scripts and emoji need, and the weak marks of direction, which reach no further than their own line.
_HARMLESS = frozenset("\t\n\u200c\u200d\u200e\u200f\u061c")
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Zl", "Zp"})


def lint_characters(text: str) -> Iterator[LineFinding]:
    """Characters that a reader of the file cannot see: controls, reordering, zero width; one a line."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.isprintable():
            continue
        for character in line:
            if character not in _HARMLESS and unicodedata.category(character) in _UNSEEN:
                name = unicodedata.name(character, "a control character")
                yield LineFinding(
                    number, Rule.HIDDEN, f"holds U+{ord(character):04X} ({name.lower()}), which cannot be seen"
                )
                break


def lint_text(
    parts: Layout, fields: Mapping[object, object], lines: Lines, original: Prompt | None
) -> Iterator[LineFinding]:
    """The findings on the two parts, by themselves and against the packaged prompt."""
    declared = declared_variables(fields)
    if declared is not None:
        yield from _lint_placeholders(parts, declared, lines["variables"])
    known = dict.fromkeys([*(declared or ()), *(original.variables if original is not None else ())])
    yield from _lint_braces(parts, tuple(known))
    yield from _lint_data(parts, tuple(known), original)
    yield from _lint_shape(parts, lines["name"])
    if original is not None and isinstance(version := fields.get("version"), int):
        same = (parts.system.strip(), parts.user.strip()) == (original.system, original.user)
        if not same and version <= original.version:
            said = f"the text is not the packaged one, whose version is {original.version}; give it a higher version"
            yield LineFinding(lines["version"], Rule.VERSION, said)


def _numbered(parts: Layout) -> Iterator[tuple[int, str]]:
    yield from enumerate(parts.system.split("\n"), parts.system_line)
    yield from enumerate(parts.user.split("\n"), parts.user_line)


def _lint_placeholders(parts: Layout, declared: Sequence[str], declared_line: int) -> Iterator[LineFinding]:
    used = set()
    for number, line in _numbered(parts):
        for name in PLACEHOLDER.findall(line):
            used.add(name)
            if name not in declared:
                yield LineFinding(number, Rule.VARIABLES, f"uses {shown(name)}, which is not declared")
    for name in dict.fromkeys(declared):
        if name not in used:
            yield LineFinding(declared_line, Rule.VARIABLES, f"declares {shown(name)}, which the text never uses")


def _lint_braces(parts: Layout, known: Sequence[str]) -> Iterator[LineFinding]:
    """JSON never has two opening braces in a row, nor a bare name in braces, so examples of replies pass."""
    names = "|".join(map(re.escape, known)) or "(?!)"
    odd = re.compile(rf"\{{\{{.{{0,30}}|\{{%.{{0,30}}|\$?\{{\s*(?:{names})\s*\}}|%\((?:{names})\)s")
    for number, line in _numbered(parts):
        if match := odd.search(PLACEHOLDER.sub(" ", line)):
            yield LineFinding(
                number, Rule.BRACES, f"{shown(match[0].strip())} is sent as it stands; a placeholder is {{{{name}}}}"
            )


def _lint_data(parts: Layout, known: Sequence[str], original: Prompt | None) -> Iterator[LineFinding]:
    for number, line in enumerate(parts.system.split("\n"), parts.system_line):
        for name in dict.fromkeys(PLACEHOLDER.findall(line)):
            said = f"puts {shown(name)} into the system part, among the instructions; it belongs into the user part"
            yield LineFinding(number, Rule.DATA_AS_INSTRUCTION, said)
    tag = re.compile(rf"<\s{{0,9}}/?\s{{0,9}}(?:{'|'.join(map(re.escape, known)) or '(?!)'})\b[^<>]*>", re.IGNORECASE)
    for number, line in enumerate(parts.user.split("\n"), parts.user_line):
        if match := tag.search(line):
            said = f"writes the tag {shown(match[0])} itself; rendering puts such tags around data"
            yield LineFinding(number, Rule.DATA_AS_INSTRUCTION, said)
    ours = original is not None and _SAYS_DATA.search(original.system)
    if ours and not _SAYS_DATA.search(parts.system) and not _SAYS_DATA.search(parts.user):
        said = "does not say that tagged text is data, never instructions, as the packaged prompt does"
        yield LineFinding(parts.system_line, Rule.DATA_AS_INSTRUCTION, said)


def _lint_shape(parts: Layout, line: int) -> Iterator[LineFinding]:
    for number, text in enumerate(parts.user.split("\n"), parts.user_line):
        if text == "# user":
            yield LineFinding(
                number, Rule.HEADING, f"a second '# user'; the user part begins at line {parts.user_line}"
            )
            break
    for part, text, start in (("system", parts.system, parts.system_line), ("user", parts.user, parts.user_line)):
        if not text.strip():
            yield LineFinding(start, Rule.EMPTY, f"the {part} part is empty")
    if (length := len(parts.system) + len(parts.user)) > LONGEST:
        yield LineFinding(
            line, Rule.TOO_LONG, f"{length:,} characters go out with every call; more than {LONGEST:,} is much"
        )
