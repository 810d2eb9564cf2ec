"""factloop for LangChain and LangGraph: a step in a chain, a tool or guard for an agent, and a node in a graph."""

from __future__ import annotations

from factloop.core.findings import has_unproven
from factloop.integrations.langchain.correction import CorrectionRunnable
from factloop.integrations.langchain.guard import FactCheckStreamGuard
from factloop.integrations.langchain.inputs import Keys, is_revision_request
from factloop.integrations.langchain.middleware import FactCheckMiddleware
from factloop.integrations.langchain.runnable import FactCheckRunnable
from factloop.integrations.langchain.steps import build_factcheck_node, factcheck_tool

__all__ = [
    "CorrectionRunnable",
    "FactCheckMiddleware",
    "FactCheckRunnable",
    "FactCheckStreamGuard",
    "Keys",
    "build_factcheck_node",
    "factcheck_tool",
    "has_unproven",
    "is_revision_request",
]
