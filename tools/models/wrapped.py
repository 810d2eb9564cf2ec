"""Unwraps chat models from LangChain's `bind`, `with_config`, `with_retry` and `with_fallbacks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableBinding, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase

AnyModel = str | BaseChatModel | Runnable[Any, Any]


class WrappedChatModel(BaseChatModel):
    """Makes a wrapped model usable as a chat model, with its bindings and fallbacks.

    Retries are left to the gateway, which counts every request.
    """

    runnable: Runnable[Any, Any]

    def bind_tools(self, tools: Any, **options: Any) -> Runnable[Any, Any]:
        return mapped(self.runnable, lambda model: model.bind_tools(tools, **options))

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **given: Any) -> ChatResult:  # noqa: ARG002 - required by the base class
        return ChatResult(generations=[ChatGeneration(message=self.runnable.invoke(messages, **given))])

    async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **given: Any) -> ChatResult:  # noqa: ARG002 - required by the base class
        return ChatResult(generations=[ChatGeneration(message=await self.runnable.ainvoke(messages, **given))])

    @property
    def _llm_type(self) -> str:
        return "wrapped"


def unwrapped(model: Any) -> Any:
    is_wrapped = isinstance(model, RunnableBindingBase | RunnableWithFallbacks) and models_in(model, {})
    return WrappedChatModel(runnable=model) if is_wrapped else model


def models_in(wrapped: object, bound: dict[str, Any]) -> list[tuple[BaseChatModel, dict[str, Any]]]:
    """Returns the models with their bindings, in order of use, or none if any of them is not a chat model."""
    if isinstance(wrapped, BaseChatModel):
        return [(wrapped, bound)]
    if isinstance(wrapped, RunnableBindingBase):
        return models_in(wrapped.bound, {**wrapped.kwargs, **bound})
    found = [models_in(one, bound) for one in wrapped.runnables] if isinstance(wrapped, RunnableWithFallbacks) else []
    return [one for of_one in found for one in of_one] if all(found) else []


def mapped(wrapped: Any, change: Callable[[BaseChatModel], Runnable[Any, Any]]) -> Runnable[Any, Any]:
    if isinstance(wrapped, BaseChatModel):
        return change(wrapped)
    if isinstance(wrapped, RunnableWithFallbacks):
        first, *others = (mapped(one, change) for one in wrapped.runnables)
        return wrapped.model_copy(update={"runnable": first, "fallbacks": others})
    return RunnableBinding(bound=mapped(wrapped.bound, change), kwargs=wrapped.kwargs, config=wrapped.config)
