"""Says of a request that was not recorded how it differs from the closest one that was."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from factloop.tools.calls.tape_format import Kind, TapeEntry

_COMPARED = 4_000
"""Characters of each request that are compared, and requests at most: this is a message, not a search engine."""
_MOST = 300
_SHOWN = 80
_BEFORE = 20


def described(kind: Kind, request: Mapping[str, Any]) -> str:
    """The request in one line: who was asked, and the end of what, which is where requests differ."""
    match kind:
        case "model":
            texts = [str(message[-1]) for message in request.get("messages", ()) if message]
            wanted = request.get("schema") or "free words"
            return f"model {request.get('model')}, {wanted}, {_tail(texts[-1] if texts else '')}"
        case "search":
            return f"search {request.get('tool')}, query {_tail(str(request.get('query')))}"
        case "web":
            return f"{request.get('tool')}, {_tail(json.dumps(request.get('fields'), ensure_ascii=False))}"


def difference(kind: Kind, request: Mapping[str, Any], entries: Iterable[TapeEntry]) -> str:
    """The difference of the request from the closest of its kind, in one line."""
    alike = list(islice((entry for entry in entries if entry.kind == kind), _MOST))
    if not alike:
        return f"it holds no request of this kind ({kind})"
    wanted = _text(request)
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)

    def likeness(entry: TapeEntry) -> float:
        matcher.set_seq1(_text(entry.request))
        return matcher.quick_ratio()

    closest = max(alike, key=likeness)
    fields = [
        name
        for name in sorted({*request, *closest.request})
        if _plain(request.get(name)) != _plain(closest.request.get(name))
    ]
    where = f"the closest (line {closest.line})" if closest.line else "the closest"
    if not fields:
        return f"{where} looks the same, and differs in what is not shown"
    shown = "; ".join(_place(name, closest.request.get(name), request.get(name)) for name in fields)
    return f"{where} differs in {shown}"


def _place(name: str, recorded: Any, asked: Any) -> str:
    """The first place where two values of a field part."""
    before, now = _plain(recorded), _plain(asked)
    parts = next((place for place, pair in enumerate(zip(before, now, strict=False)) if pair[0] != pair[1]), None)
    start = max(0, (min(len(before), len(now)) if parts is None else parts) - _BEFORE)
    return f"{name}: recorded {_cut(before, start)}, asked {_cut(now, start)}"


def _cut(text: str, start: int) -> str:
    shown = text[start : start + _SHOWN]
    return repr(f"{'…' if start else ''}{shown}{'…' if start + _SHOWN < len(text) else ''}")


def _tail(text: str) -> str:
    flat = " ".join(text[-4 * _SHOWN :].split())
    return repr(flat if len(flat) <= _SHOWN else f"…{flat[-_SHOWN:]}")


def _text(request: Mapping[str, Any]) -> str:
    """The text of a request from its end: instructions come first and are the same in most requests."""
    return _plain(request)[-_COMPARED:]


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
