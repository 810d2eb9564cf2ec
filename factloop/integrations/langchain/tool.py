"""The checker as a tool that an agent may call."""

from __future__ import annotations

from typing import Any

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field, model_validator

from factloop.checking.views.plain import in_words
from factloop.core.errors import DataError
from factloop.core.old_names import with_new_names
from factloop.core.records import FactualityReport
from factloop.core.sync import run_blocking
from factloop.integrations.langchain.inputs import documents_at
from factloop.integrations.langchain.runnable import AnyChecker, as_check
from factloop.tools.search.handed_over import Documents

DESCRIPTION = "Check a text claim by claim, and cite the evidence. Use it on a draft answer before giving it."


class FactCheckInput(BaseModel):
    response: str = Field(description="The text whose claims are to be checked, in full.")
    question: str | None = Field(default=None, description="The question that the text answers.")

    @model_validator(mode="before")
    @classmethod
    def _takes_old_names(cls, given: Any) -> Any:
        return with_new_names(given, cls.model_fields) if isinstance(given, dict) else given


def factcheck_tool(
    check: AnyChecker | None = None,
    *,
    documents: Documents | None = None,
    name: str = "factcheck",
    description: str = DESCRIPTION,
) -> BaseTool:
    """A tool of `response` and `question`: content is the report in a few lines, the artifact is the report.

    `check` is a FactCheckRunnable or a FactChecker; without one the offline engine judges. Judged against `documents`;
    without them against the retriever of `check`, and in its factuality mode what its checker searches. A text that
    cannot be checked is told to the agent, with no artifact; ConfigError is raised.
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
