"""What goes in: one vocabulary at every interface, and documents, searches, models and histories of any usual kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]  # its stubs are no dependency
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, SecretStr

from factloop import ConfigError, Corrector, DataError, FactChecker, TrustScorer
from factloop.guarding import StreamGuard
from factloop.integrations.langchain import FactCheckRunnable, Keys, build_factcheck_node, factcheck_tool
from factloop.service.shapes import CheckAsk
from factloop.setup.sources import Sources
from factloop.testing import assert_factual
from tests.simulator import MODEL, Simulator

TEXT = "John Smeaton built the third tower."
QUESTION = "Who built the third tower?"


def stored() -> InMemoryVectorStore:
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_texts([TEXT])
    return store


async def later(query: str) -> list[str]:  # noqa: ARG001 - it knows one thing
    return [TEXT]


@pytest.mark.parametrize(
    "documents",
    [
        TEXT,
        [TEXT],
        {"text": TEXT, "page": 3},
        [{"page_content": TEXT, "metadata": {"page": 3}}, {"content": "Another."}],
        [(Document(TEXT), np.float32(0.5)), ("Another.", 1)],
        np.array([TEXT, "Another."]),
        {TEXT},
        {1: TEXT}.values(),
        stored(),
    ],
    ids=["text", "texts", "mapping", "mappings", "pairs", "array", "set", "view", "store"],
)
def test_documents_of_every_usual_kind_are_taken(documents: Any) -> None:
    checker = FactChecker(cache=False)
    assert checker.check(TEXT, question=QUESTION, documents=documents).counts.supported == 1
    assert Corrector(checker).correct(TEXT, question=QUESTION, documents=documents).before.counts.supported == 1
    assert list(StreamGuard(checker).guard([TEXT], question=QUESTION, documents=documents)) == [TEXT]
    asked = {"response": TEXT, "question": QUESTION, "documents": documents}
    assert FactCheckRunnable(checker).invoke(asked).counts.supported == 1
    if not isinstance(documents, InMemoryVectorStore):  # what is searched would be recorded
        assert_factual(TEXT, question=QUESTION, documents=documents, min_supported=1, cache=False)


def test_documents_are_searched_beside_what_the_checker_has_and_none_are_none() -> None:
    own = FactChecker(search=lambda _: ["The tower was lit in 1759."], cache=False)
    report = own.check(f"{TEXT} The tower was lit in 1759.", documents=[TEXT])
    assert report.counts.supported == 2
    empty = FactChecker(cache=False).check(TEXT, documents=[])
    assert [claim.judgement.unscored_reason for claim in empty.claims] == ["no_source"]
    with pytest.raises(DataError, match="documents, item 2: none of page_content, text, content is a text"):
        own.check(TEXT, documents=[TEXT, {"body": TEXT}])


def test_a_generator_of_documents_is_taken_and_a_table_refused() -> None:
    checker = FactChecker(cache=False)
    assert checker.check(TEXT, documents=(text for text in [TEXT])).counts.supported == 1
    frame: Any = pd.DataFrame({TEXT: [1]})  # it goes over the names of its columns
    for table in (frame, Plain(text=TEXT)):
        with pytest.raises(DataError, match="documents: a list of documents or texts is needed"):
            checker.check(TEXT, documents=table)


class Plain(BaseModel):
    """Goes over its fields."""

    text: str


@pytest.mark.parametrize(
    "call",
    [
        lambda checker: checker.check(TEXT, document=[TEXT]),
        lambda checker: [*StreamGuard(checker).guard([TEXT], context=[TEXT])],  # type: ignore[call-arg]
        lambda checker: Corrector(checker).correct(TEXT, source=[TEXT]),  # type: ignore[call-arg]
        lambda checker: Corrector(checker).correct(TEXT, facts=[]),  # type: ignore[call-arg]
    ],
    ids=["check", "guard", "correct", "facts"],
)
def test_arguments_of_unknown_names_are_refused(call: Callable[[FactChecker], Any]) -> None:
    with pytest.raises(TypeError, match=r"unexpected keyword argument '(document|context|source|facts)'"):
        call(FactChecker(cache=False))


async def test_old_names_are_taken_where_a_response_is_worked_on_further() -> None:
    checker, old = FactChecker(cache=False), dict[str, Any](prompt=QUESTION)
    with pytest.warns(DeprecationWarning, match="'prompt' is now called 'question'"):
        async with checker.engaged(TEXT, documents=[TEXT], **old) as engaged:
            assert (await engaged(TEXT)).counts.supported == 1


@pytest.mark.parametrize("search", [lambda _: [{"text": TEXT}], later, stored()], ids=["function", "async", "store"])
def test_functions_and_stores_are_searches(search: Any) -> None:
    assert FactChecker(search=search, cache=False).check(TEXT).counts.supported == 1
    assert FactCheckRunnable(FactChecker(cache=False), retriever=search).invoke({"response": TEXT}).precision == 1.0


def test_what_a_function_returns_must_be_documents() -> None:
    report = FactChecker(search=lambda _: 7, cache=False).check(TEXT)
    assert [claim.judgement.unscored_reason for claim in report.claims] == ["tool_failure"]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model, _: model.bind(stop=["END"]),
        lambda model, _: model.with_retry(),
        lambda _, rest: rest("http://127.0.0.1:9/v1").with_fallbacks([rest(None)]),
    ],
    ids=["bind", "with_retry", "with_fallbacks"],
)
async def test_wrapped_models_are_models(wrap: Callable[..., Any]) -> None:
    with Simulator() as sim:

        def model(address: str | None) -> ChatOpenAI:
            key, url = SecretStr("none"), address or sim.base_url
            return ChatOpenAI(model="sim", base_url=url, api_key=key, max_retries=0, temperature=0.1)

        response = min(sim.world.responses, key=lambda one: len(one.facts))
        pages = [one.page for one in sim.world.passages if one.title.startswith(response.subject)]
        checker = FactChecker(wrap(model(None), model), cache=False)
        async with FactChecker(MODEL, base_url=sim.base_url, cache=False) as plain:
            expected = await plain.acheck(response.text, response.prompt, documents=pages)
        async with checker:
            report = await checker.acheck(response.text, response.prompt, documents=pages)
    assert report.counts == expected.counts


def test_what_is_bound_to_a_model_is_in_its_identity() -> None:
    from factloop.tools.models.chat import wrap_chat_model
    from factloop.tools.models.wrapped import unwrapped

    model = ChatOpenAI(model="sim", base_url="http://127.0.0.1:9/v1", api_key=SecretStr("none"))
    one, other = (wrap_chat_model(unwrapped(model.bind(stop=[word]))) for word in ("a", "b"))
    assert (one.name, one.identity == other.identity) == ("sim", False)
    secret = wrap_chat_model(unwrapped(model.bind(extra_headers={"Authorization": "Bearer sk-SECRET"})))
    assert "SECRET" not in str(secret.identity)  # which reports and recordings hold
    assert secret.identity["base_url"] == "http://127.0.0.1:9/v1"


HISTORY: list[Any] = [
    ("system", "Be brief."),
    ("user", "What is the Menai Bridge?"),
    ("assistant", "The Menai Bridge is a suspension bridge in Wales."),
    ("user", "Who designed it?"),
]
MESSAGES = [
    HumanMessage("What is the Menai Bridge?"),
    AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "1"}]),
    ToolMessage("Ada Lovelace.", tool_call_id="1"),
    AIMessage("The Menai Bridge is a suspension bridge in Wales."),
    HumanMessage("Who designed it?"),
    AIMessage("It was designed by Thomas Telford."),
]


@pytest.mark.parametrize("history", [HISTORY, MESSAGES], ids=["pairs", "messages"])
def test_a_history_says_whom_it_means(history: Any) -> None:
    checker, documents = FactChecker(cache=False), ["The Menai Bridge was designed by Thomas Telford."]
    said = "It was designed by Thomas Telford."
    report = checker.check(said, history, documents=documents)
    assert [claim.self_contained for claim in report.claims] == ["The Menai Bridge was designed by Thomas Telford."]
    assert (report.counts.supported, (report.prompt or "").endswith("Who designed it?")) == (1, True)
    chained = FactCheckRunnable(checker).invoke({"response": said, "question": history, "documents": documents})
    assert chained.claims[0].self_contained == report.claims[0].self_contained
    with pytest.raises(DataError, match="none from a user"):
        checker.check(said, [("assistant", "Hello.")])


def old_python() -> Any:
    old: Any = {"prompt": QUESTION}
    return FactChecker(cache=False).check(TEXT, documents=[TEXT], **old).prompt


async def old_guard() -> Any:
    guard = StreamGuard(FactChecker(cache=False))
    old: Any = {"prompt": QUESTION}
    events = [one async for one in guard.aevents(_chunks(), documents=[TEXT], **old)]
    return events[-1].report.prompt  # type: ignore[union-attr]  # the last has it


async def _chunks() -> Any:
    yield TEXT


def old_chain() -> Any:
    asked = {"answer": TEXT, "question": QUESTION, "documents": [TEXT]}
    return FactCheckRunnable(FactChecker(cache=False)).invoke(asked).prompt


def old_keys() -> Any:
    keys = Keys(answer="draft")  # type: ignore[call-arg]  # the old name
    return keys.read({"draft": TEXT, "question": QUESTION}).question


def old_node() -> Any:
    node = build_factcheck_node(FactChecker(cache=False))
    return node.invoke({"answer": TEXT, "question": QUESTION, "documents": [TEXT]})["report"]["prompt"]


def old_tool() -> Any:
    call = {"name": "factcheck", "args": {"answer": TEXT, "question": QUESTION}, "id": "1", "type": "tool_call"}
    return factcheck_tool(FactChecker(cache=False), documents=[TEXT]).invoke(call).artifact.prompt


def old_request() -> Any:
    return CheckAsk.model_validate({"response": TEXT, "prompt": QUESTION}).question


def old_assertion() -> Any:
    old: Any = {"prompt": QUESTION}
    return assert_factual(TEXT, documents=[TEXT], cache=False, **old).prompt


@pytest.mark.parametrize(
    "call", [old_python, old_guard, old_chain, old_keys, old_node, old_tool, old_request, old_assertion]
)
async def test_old_names_are_taken_with_a_warning(call: Callable[[], Any]) -> None:
    async def called() -> Any:
        found = call()
        return await found if hasattr(found, "__await__") else found

    with pytest.warns(DeprecationWarning, match="'(prompt|answer)' is now called '(question|response)'"):
        found = await called()
    assert found == QUESTION


async def test_a_score_takes_documents() -> None:
    async with TrustScorer(cache=False) as scorer:
        report = await scorer.ascore(QUESTION, TEXT, documents=[{"text": TEXT}])
    assert report.trust_fc.relation == "support"
    with pytest.raises(ConfigError, match="give documents or sources, not both"):
        await scorer.ascore(QUESTION, TEXT, documents=[TEXT], sources=Sources())
