"""The checker as a node in a LangGraph graph, and as a tool for agents."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from factloop.checking.views.plain import in_words
from factloop.core.errors import DataError
from factloop.core.records import FactualityReport
from factloop.core.sync import run_blocking
from factloop.integrations.langchain.inputs import documents_at, has_key, value_at
from factloop.integrations.langchain.runnable import AnyChecker, as_check
from factloop.tools.search.handed_over import Documents

DESCRIPTION = "Check a text claim by claim, and cite the evidence. Use it on a draft answer before giving it."


class FactCheckInput(BaseModel):
    response: str = Field(description="The text whose claims are to be checked, in full.")
    question: str | None = Field(default=None, description="The question that the text answers.")


def factcheck_tool(
    check: AnyChecker | None = None,
    *,
    documents: Documents | None = None,
    name: str = "factcheck",
    description: str = DESCRIPTION,
) -> BaseTool:
    """Returns a tool whose result has a short report as the content and the full report as the artifact.

    By default, the offline engine judges the claims. Claims are judged against `documents` or, by default, what
    `check` retrieves. In factuality mode, the checker's sources are searched as well. If a text cannot be checked, the
    agent receives a message, and there is no artifact. Raises ConfigError.
    """
    checking = as_check(check)
    given = documents_at("documents", documents)

    async def acheck(response: str, question: str | None = None) -> tuple[str, FactualityReport | None]:
        try:
            report = await checking.ainvoke(checking.keys.write(response, question, given))
        except DataError as error:
            return f"Not checked: {error}", None
        return in_words(report), report

    def check_now(response: str, question: str | None = None) -> tuple[str, FactualityReport | None]:
        return run_blocking(acheck(response, question))

    return StructuredTool.from_function(
        func=check_now,
        coroutine=acheck,
        name=name,
        description=description,
        args_schema=FactCheckInput,
        response_format="content_and_artifact",
    )


def build_factcheck_node(
    check: AnyChecker | None = None,
    *,
    response: str = "response",
    question: str | None = "question",
    documents: str | None = "documents",
    report: str = "report",
) -> Runnable[Any, dict[str, Any]]:
    """Builds a node that reads `response`, `question` and `documents` from the state and writes `report` to it.

    The arguments are keys of the state, which may be a dictionary, a dataclass or a pydantic model. Except for the
    response, keys that are None or missing are ignored. If there are no documents and the check has no retriever, all
    claims are unscored (`no_source`). In a list of messages, the response is the model's last message, and the question
    is the user's last message with the conversation before it. For MessagesState, use `response="messages",
    question="messages", documents=None`.

    The report is a dictionary, because every checkpointer can save one. Read it with `FactualityReport.model_validate`.
    By default, the offline engine judges the claims. Raises ConfigError or DataError.
    """
    checking = as_check(check)

    def asked(state: Any) -> dict[str, Any]:
        given = value_at(state, response)
        if given is None:
            raise DataError(f"the state has no value for {response!r}; set it to the text to check")
        found, names_documents = value_at(state, documents), has_key(state, documents)
        return checking.keys.write(given, value_at(state, question), found, names_documents=names_documents)

    async def afactcheck(state: Any) -> dict[str, Any]:
        return {report: (await checking.ainvoke(asked(state))).model_dump(mode="json")}

    def factcheck(state: Any) -> dict[str, Any]:
        return run_blocking(afactcheck(state))

    return RunnableLambda(factcheck, afunc=afactcheck, name="factcheck")
