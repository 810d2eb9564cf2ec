"""The checker as a node of the user's own LangGraph graph."""

from __future__ import annotations

from typing import Any

from langchain_core.runnables import Runnable, RunnableLambda

from factloop.core.errors import DataError
from factloop.core.old_names import takes_old_names, with_new_names
from factloop.core.sync import run_blocking
from factloop.integrations.langchain.inputs import has_key, value_at
from factloop.integrations.langchain.runnable import AnyChecker, as_check


@takes_old_names
def build_factcheck_node(
    check: AnyChecker | None = None,
    *,
    response: str = "response",
    question: str | None = "question",
    documents: str | None = "documents",
    report: str = "report",
) -> Runnable[Any, dict[str, Any]]:
    """A node that reads `response`, `question` and `documents` and writes `report`: the names are keys of the state.

    The state may be a dictionary, a dataclass or a pydantic model. A key that is None or absent counts as not given,
    but for the response; where `documents` is None and the check has no retriever, all claims are `no_source`.
    Of a list of messages the response is the last one of the model, the question the last one of the person with the
    conversation before it, so `response="messages", question="messages", documents=None` suits a `MessagesState`.

    What is written is a dictionary, which every checkpointer can keep: `FactualityReport.model_validate(it)`.
    `check` is a FactCheckRunnable or a FactChecker; without one the offline engine judges. Works under `invoke` and
    `ainvoke`; the check takes no part in the graph's own checkpoints. Raises ConfigError, DataError.
    """
    checking = as_check(check)

    def asked(state: Any) -> dict[str, Any]:
        given = value_at(state, response)
        if given is None and response == "response" and (given := value_at(state, "answer")) is not None:
            with_new_names({"answer": given}, {response})  # warns
        if given is None:
            raise DataError(f"the state has no {response!r} to check")
        found, names_documents = value_at(state, documents), has_key(state, documents)
        return checking.keys.write(given, value_at(state, question), found, names_documents=names_documents)

    async def afactcheck(state: Any) -> dict[str, Any]:
        return {report: (await checking.ainvoke(asked(state))).model_dump(mode="json")}

    def factcheck(state: Any) -> dict[str, Any]:
        return run_blocking(afactcheck(state))

    return RunnableLambda(factcheck, afunc=afactcheck, name="factcheck")
