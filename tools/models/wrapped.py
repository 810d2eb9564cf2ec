"""Chat models within LangChain's wrappings: `bind`, `with_retry`, `with_fallbacks` and `with_config`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableBinding, RunnableLambda, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase

AnyRunnable = Runnable[Any, Any]
AnyModel = str | BaseChatModel | AnyRunnable
"""A name, a chat model, or one in a wrapping."""


class WrappedChatModel(BaseChatModel):
    """A wrapped model as a chat model. Tools and schemas are bound to each model within, in its provider's form.

    What was bound is bound still, and fallbacks take over as they would; retries are left to the gateway, which counts
    each request.
    """

    runnable: AnyRunnable

    @property
    def models(self) -> Sequence[tuple[BaseChatModel, Mapping[str, Any]]]:
        """The models within, each with what is bound to it; the one that is asked first comes first."""
        return _models(self.runnable, {})

    @property
    def identifying(self) -> str:
        """All that was bound, as far as it can be told."""
        return json.dumps([bound for _, bound in self.models], default=repr, sort_keys=True)

    def with_models(self, others: Mapping[int, BaseChatModel]) -> WrappedChatModel:
        """The same about other models, by the `id` of those in whose place they come; without retries."""
        return WrappedChatModel(runnable=_mapped(self.runnable, lambda model: others[id(model)]))

    def bind_tools(self, tools: Any, **options: Any) -> AnyRunnable:
        return _mapped(self.runnable, lambda model: model.bind_tools(tools, **options))

    def with_structured_output(self, schema: Any, **options: Any) -> AnyRunnable:
        """As of any chat model, with `include_raw=True`; only the raw message is given."""

        def raw(model: BaseChatModel) -> AnyRunnable:
            structured: Any = model.with_structured_output(schema, **options)
            try:
                found: AnyRunnable = structured.first.steps__["raw"]
            except (AttributeError, KeyError) as error:
                raise NotImplementedError("the raw message cannot be had") from error
            return found

        return _mapped(self.runnable, raw) | RunnableLambda(lambda message: {"raw": message})

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **given: Any) -> Any:  # noqa: ARG002 - the base class has it
        return _result(self.runnable.invoke(messages, **given, **({"stop": stop} if stop else {})))

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: Any = None,
        run_manager: Any = None,  # noqa: ARG002 - the base class has it
        **given: Any,
    ) -> ChatResult:
        return _result(await self.runnable.ainvoke(messages, **given, **({"stop": stop} if stop else {})))

    @property
    def _llm_type(self) -> str:
        return "wrapped"


def unwrapped(model: Any) -> Any:
    """A wrapped chat model as a chat model; anything else as it is."""
    is_wrapped = isinstance(model, RunnableBindingBase | RunnableWithFallbacks) and _models(model, {})
    return WrappedChatModel(runnable=model) if is_wrapped else model


def _result(message: Any) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])


def _models(wrapped: object, bound: Mapping[str, Any]) -> list[tuple[BaseChatModel, Mapping[str, Any]]]:
    """The models with what is bound to them; none where one of them is no chat model."""
    if isinstance(wrapped, BaseChatModel):
        return [(wrapped, bound)]
    if isinstance(wrapped, RunnableBindingBase):
        return _models(wrapped.bound, {**wrapped.kwargs, **bound})
    if isinstance(wrapped, RunnableWithFallbacks):
        found = [_models(one, bound) for one in wrapped.runnables]
        return [one for of in found for one in of] if all(found) else []
    return []


def _mapped(wrapped: AnyRunnable, change: Callable[[BaseChatModel], AnyRunnable]) -> AnyRunnable:
    """The wrapping about other models, without its retries."""
    if isinstance(wrapped, BaseChatModel):
        return change(wrapped)
    if isinstance(wrapped, RunnableWithFallbacks):
        first, *others = (_mapped(one, change) for one in wrapped.runnables)
        return wrapped.model_copy(update={"runnable": first, "fallbacks": others})
    assert isinstance(wrapped, RunnableBindingBase)  # `_models` found models in it
    inner = _mapped(wrapped.bound, change)
    return RunnableBinding(bound=inner, kwargs=wrapped.kwargs, config=wrapped.config)
