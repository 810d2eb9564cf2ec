"""Failed calls on a tape: what a claim was unscored for is unscored again when it is replayed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from factloop.core.errors import BudgetExceeded, ModelRefusal, ToolError, ToolTimeout

Failure = ToolError | ModelRefusal
KEPT = (ToolError, ModelRefusal)


def as_plain(error: Failure) -> dict[str, Any]:
    """The error as a JSON object, without what caused it."""
    match error:
        case ToolTimeout():
            return {"error": "timeout", "tool": error.tool, "timeout_s": error.timeout_s}
        case BudgetExceeded():
            of = {"of": error.of} if error.of else {}
            return {"error": "budget", "limit": error.limit, **of}
        case ToolError():
            return {"error": "tool", "tool": error.tool, "status": error.status, "message": str(error)}
        case ModelRefusal():
            said = str(error).removeprefix(f"{error.schema}: ")
            return {"error": "refusal", "schema": error.schema, "message": said, "reply": error.reply}


def failed_by_check_budget(plain: Mapping[str, Any]) -> bool:
    """Whether it failed by the budget of one check: another may ask again."""
    return bool(plain.get("of"))


def as_error(plain: dict[str, Any]) -> Failure:
    """The error again, not to be retried. Raises KeyError, TypeError, ValueError for another shape."""
    match plain["error"]:
        case "timeout":
            return ToolTimeout(tool=str(plain["tool"]), timeout_s=float(plain["timeout_s"]))
        case "budget":
            return BudgetExceeded(str(plain["limit"]), str(plain.get("of", "")))
        case "tool":
            return ToolError(str(plain["message"]), tool=str(plain["tool"]), status=plain["status"])
        case "refusal":
            return ModelRefusal(str(plain["message"]), schema=str(plain["schema"]), reply=str(plain["reply"]))
        case other:
            raise ValueError(f"unknown failure {other!r}")
