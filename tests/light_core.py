"""An interpreter that can import only what plain `pip install factloop` installs.

Run as `python -m tests.light_core STEPS`, since imports cannot be undone. Standard input is a JSON object with the
packages and distributions to hide; the output is another one.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from types import ModuleType
from typing import Any


class Without(MetaPathFinder):
    """Wraps a finder and hides some packages from it."""

    def __init__(self, finder: Any, packages: Iterable[str], distributions: Iterable[str]) -> None:
        self._finder, self._packages, self._distributions = finder, frozenset(packages), frozenset(distributions)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in self._packages:
            return None
        found: ModuleSpec | None = self._finder.find_spec(fullname, path, target)
        return found

    def find_distributions(self, context: DistributionFinder.Context) -> Iterable[Distribution]:
        find = getattr(self._finder, "find_distributions", lambda _: ())
        return (found for found in find(context) if found.metadata["Name"] not in self._distributions)


def forget(packages: Sequence[str], distributions: Sequence[str]) -> None:
    sys.meta_path[:] = [Without(finder, packages, distributions) for finder in sys.meta_path]


def command(*arguments: str) -> dict[str, Any]:
    from factloop.cli import main

    out, err = io.StringIO(), io.StringIO()
    sys.argv = ["factloop", *arguments]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
        code: Any = 0
    except SystemExit as left:
        code = left.code
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}


def working(model: str, base_url: str, answer: str, prompt: str, documents: str) -> dict[str, Any]:
    """Does what a web service does that guards a chat model's answers."""
    import factloop
    from factloop.core.sync import run_blocking
    from factloop.guarding import StreamGuard
    from factloop.integrations.langchain import FactCheckMiddleware, FactCheckRunnable, factcheck_tool

    async def chunks() -> AsyncIterator[str]:
        for sentence in answer.splitlines(keepends=True):
            yield sentence

    async def guarded(checker: factloop.FactChecker) -> str:
        return "".join([piece async for piece in StreamGuard(checker, "annotate").aguard(chunks())])

    judge: dict[str, Any] = {"model": model, "base_url": base_url, "cache": False}
    searching = factloop.FactChecker(search="serper", **judge)
    reading = factloop.FactChecker(docs=documents, **judge)
    runnable = FactCheckRunnable(searching, mode="factuality")
    FactCheckMiddleware(runnable)
    with open("answer.txt", "w", encoding="utf-8") as file:
        file.write(answer)
    return {
        "names": [getattr(factloop, name).__name__ for name in factloop.__all__],
        "search": searching.check(answer, prompt).counts.scored,
        "documents": reading.check(answer, prompt).counts.scored,
        "guard": run_blocking(guarded(searching)),
        "correction": factloop.Corrector(searching).correct(answer, prompt).text,
        "chain": runnable.invoke({"response": answer, "question": prompt}).counts.scored,
        "tool": factcheck_tool(runnable).invoke({"response": answer, "question": prompt}),
        "help": command("--help"),
        "doctor": command(
            "doctor",
            "--docs",
            documents,
            "--model",
            model,
            "--base-url",
            base_url,
            "--no-cache",
            "--json",
            "doctor.json",
        ),
        "check": command(
            "check", "answer.txt", "--docs", documents, "--model", model, "--base-url", base_url, "--no-cache"
        ),
    }


def missing(commands: Sequence[Sequence[str]], modules: Sequence[str]) -> dict[str, Any]:
    """How each command ends, and what importing each module raises."""
    from importlib import import_module

    from factloop.core.errors import MissingExtra

    raised = {}
    for module in modules:
        try:
            import_module(module)
        except MissingExtra as error:
            raised[module] = str(error)
    return {"commands": [command(*arguments) for arguments in commands], "modules": raised}


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    forget(asked["packages"], asked["distributions"])
    answered = (working if sys.argv[1] == "working" else missing)(**asked["asked"])
    sys.stdout.write(json.dumps(answered))
