"""A Python assertion for promptfoo, which runs the user's file. Needs no extra package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from factloop.core.errors import FactloopError
from factloop.core.records import Verdict
from factloop.core.sync import run_blocking
from factloop.integrations.harnesses.scoring import NAME, ascore
from factloop.integrations.langchain.runnable import AnyChecker, as_check
from factloop.reports.claims import views_of


def factuality_assert(
    check: AnyChecker | None = None, threshold: float = 1.0
) -> Callable[[Any, Mapping[str, Any]], dict[str, Any]]:
    """Returns a `get_assert` function for an assertion file.

    The question is read from `vars`, and documents from `vars`, the assertion's `config` or the provider's `metadata`,
    each under its key in `check.keys`. The assertion passes if the score reaches the threshold and no claims are
    unscored. If no claims were scored, `get_assert` raises FactloopError, which promptfoo reports. Raises ConfigError
    or DataError.
    """
    checking = as_check(check)

    def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
        others = (context.get(place) or {} for place in ("config", "metadata"))
        found = run_blocking(ascore(checking, output, context.get("vars") or {}, *others))
        if found.value is None:
            raise FactloopError(f"no claims were scored\n{found.comment}")
        claims = [one for one in views_of(found.report.claims) if one.claim.judgement.verdict in SCORED]
        return {
            "pass": found.passes(threshold),
            "score": found.value,
            "reason": found.comment,
            "namedScores": {NAME: found.value, **{n: found.metadata[n] for n in ("n_scored", "n_unscored")}},
            "componentResults": [
                {"pass": holds, "score": float(holds), "reason": f"{one.words}: {one.text}"}
                for one in claims
                for holds in [one.claim.judgement.verdict is Verdict.SUPPORTED]
            ],
        }

    return get_assert


SCORED = (Verdict.SUPPORTED, Verdict.NOT_SUPPORTED)
