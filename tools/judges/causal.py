"""Judges that are local language models answering Yes or No: Granite Guardian and Bespoke-MiniCheck."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from factloop.core.errors import ConfigError
from factloop.tools.judges.local import LocalJudge

BESPOKE_SYSTEM = (
    "Determine whether the provided claim is consistent with the corresponding document. Consistency in this context "
    "implies that all information presented in the claim is substantiated by the document. If not, it should be "
    "considered inconsistent. Please assess the claim's consistency with the document by responding with either "
    '"Yes" or "No".'
)
"""The system prompt that the model was trained with. Do not change it."""


def bespoke_question(document: str, claim: str) -> str:
    return f"Document: {document}\nClaim: {claim}"


class YesOrNo(LocalJudge):
    """Reads the probabilities that a reply would begin with "Yes" or "No", without generating text."""

    auto_class = "AutoModelForCausalLM"
    load_options: ClassVar[Mapping[str, Any]] = {"dtype": "auto"}

    def load(self) -> None:
        super().load()
        _ = self._answers, self._form("", "")

    @abstractmethod
    def _support(self, no: Any, yes: Any) -> Any:
        """Returns the score, given P("No") and P("Yes") as tensors of shape (n_pairs,)."""

    def _encoded(self, tokenizer: Any, claims: list[str], documents: list[str]) -> Any:
        texts = [self._form(document, claim) for document, claim in zip(documents, claims, strict=True)]
        return tokenizer(texts, padding=True, padding_side="left", add_special_tokens=False, return_tensors="pt")

    def _probabilities(self, model: Any, tensors: dict[str, Any]) -> Any:
        given = {name: tensors[name] for name in ("input_ids", "attention_mask")}
        shares = model(**given, logits_to_keep=1, use_cache=False).logits[:, -1, :].float().softmax(dim=-1)
        no, yes = (shares[:, list(places)].sum(dim=-1) for places in self._answers)
        return self._support(no, yes)[:, None]

    @cached_property
    def _answers(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        tokenizer = self._loaded[0]
        said = {place: tokenizer.decode([place]).strip().lower() for place in range(len(tokenizer))}
        no, yes = (tuple(place for place, word in said.items() if word == answer) for answer in ("no", "yes"))
        if not no or not yes:
            raise ConfigError(f"{self.name}: the tokenizer must have tokens for Yes and No")
        return no, yes

    def _asked(self, messages: list[dict[str, str]], **options: Any) -> str:
        from jinja2 import TemplateError

        tokenizer = self._loaded[0]
        try:
            text: str = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True, **options)
        except (TemplateError, ValueError, TypeError) as error:
            raise ConfigError(f"{self.name}: cannot apply the model's chat template ({error})") from error
        return text


class GraniteGuardian(YesOrNo):
    """Granite Guardian 3.0 to 3.2 (Padhi et al. 2024, arXiv 2412.07724), which checks for the `groundedness` risk.

    The model's chat template turns the context and the assistant's message into a question. "Yes" means that the risk
    is present. The score is P("No") / (P("No") + P("Yes")), as in the model card. Later versions use another answer
    format and are rejected.
    """

    kind = "granite-guardian"
    longest = 8192
    _marks: ClassVar[tuple[str, ...]] = ("<start_of_turn>", "<end_of_turn>", "<start_of_risk_definition>")

    def _form(self, document: str, claim: str) -> str:
        if "criteria_id" in str(self._loaded[0].chat_template):
            raise ConfigError(f"{self.name}: Granite Guardian 3.3 and later are not supported; use 3.0, 3.1 or 3.2")
        messages = [{"role": "context", "content": document}, {"role": "assistant", "content": claim}]
        return self._asked(messages, guardian_config={"risk_name": "groundedness"})

    def _support(self, no: Any, yes: Any) -> Any:
        return no / (no + yes)


class Bespoke(YesOrNo):
    """Bespoke-MiniCheck with weights that transformers can load without extra code, such as those based on Llama 3.1.

    The score is P("Yes"), as in the authors' package (github.com/Liyan06/MiniCheck, `LLMCheck`). The weights based on
    InternLM2 come with code, which only a server may run (see `served.ServedBespoke`).
    """

    kind = "bespoke"
    longest = 32_768

    def _form(self, document: str, claim: str) -> str:
        asked = bespoke_question(document, claim)
        return self._asked([{"role": "system", "content": BESPOKE_SYSTEM}, {"role": "user", "content": asked}])

    def _support(self, no: Any, yes: Any) -> Any:  # noqa: ARG002 - "No" is ignored, as in the original
        return yes
