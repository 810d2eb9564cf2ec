"""What the style sheets within a page hide. Read by a small rule: in doubt a text is taken to be seen."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_MARK = re.compile(r"([{};])")
_MOST_SHOWING = 50
"""Most rules that show elements of one name; with more of them these are taken to be seen."""
HIDES = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\s*(?=[;!]|$)", re.IGNORECASE)
"""In the declarations of a style."""
_SHOWS = re.compile(r"(?:^|;)\s*(?:display\s*:(?!\s*none)|visibility\s*:\s*visible)", re.IGNORECASE)
_NAME = r"[.#](?:[a-z_]|-[a-z_-])[\w-]*"
_ONE_NAME = re.compile(rf"(?:[a-z][a-z0-9]*)?({_NAME})", re.IGNORECASE)
"""`.note`, `#note`, `p.note`: selectors that hold wherever an element stands and whatever a reader does."""
_NAMES = re.compile(_NAME, re.IGNORECASE)
_COMBINATORS = re.compile(r"[\s>+~]+")


class HiddenNames:
    """Classes (`.note`) and ids (`#note`) whose elements no reader sees, unless another rule shows them."""

    def __init__(self) -> None:
        self._hidden: set[str] = set()
        self._shown: defaultdict[str, set[frozenset[str]]] = defaultdict(set)
        """The names that an element needs to be shown by a rule, under each of them."""

    def read(self, sheet: str) -> None:
        """Takes a style sheet in. Rules that hold for some media alone hide nothing. Linear time."""
        for selectors, declarations in _rules(_COMMENT.sub(" ", sheet)):
            hides, shows = HIDES.search(declarations), _SHOWS.search(declarations)
            for selector in map(str.strip, selectors.split(",")):
                named = _ONE_NAME.fullmatch(selector)
                if hides and named is not None:
                    self._hidden.add(named[1])
                elif shows and not hides:
                    needed = frozenset(_NAMES.findall(_COMBINATORS.split(selector)[-1]))
                    for name in needed:
                        self._shown[name].add(needed)

    def hold(self, attributes: Mapping[str, str]) -> bool:
        """Whether an element with these attributes is hidden."""
        if not self._hidden:
            return False
        names = {f".{name}" for name in attributes.get("class", "").split()}
        names |= {f"#{attributes['id']}"} if "id" in attributes else set()
        hidden = self._hidden & names
        return bool(hidden) and not any(self._shows(name, names) for name in hidden)

    def _shows(self, name: str, names: set[str]) -> bool:
        rules = self._shown.get(name, ())
        return len(rules) > _MOST_SHOWING or any(needed <= names for needed in rules)


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """The selectors and declarations of the rules that stand in no block."""
    depth, selectors = 0, ""
    declarations: list[str] = []
    pieces = _MARK.split(sheet)
    for text, mark in zip(pieces[::2], pieces[1::2], strict=False):  # after the last mark stands no whole rule
        if mark == "{":
            depth += 1
            selectors = text.strip() if depth == 1 else ""
            declarations.clear()
            continue
        declarations.append(text)
        if mark == "}":
            if depth == 1 and selectors and not selectors.startswith("@"):
                yield selectors, ";".join(declarations)
            depth, selectors = max(0, depth - 1), ""
        elif depth == 0:  # of an at-rule without a block
            declarations.clear()
