"""FactKB (Feng et al. 2023, arXiv 2305.08281): a RoBERTa that rates a summary by its article."""

from __future__ import annotations

from typing import Any, ClassVar

from factloop.core.errors import ConfigError
from factloop.tools.verifiers.classifiers import ClassifierReader
from factloop.tools.verifiers.local import has_vocabulary


class FactKb(ClassifierReader):
    """The claim (summary) first, then the document (article); two labels, P(label 1 = factual).

    The format is that of the model card (huggingface.co/bunsenfeng/FactKB). It names roberta-base's tokenizer, which
    the published weights lie without: where the folder has none, that one is taken, downloaded before or now.

    Departure: the card truncates both texts to 512 tokens; here the document is cut into chunks as large as fit, of
    which the best counts, so that no evidence goes unread.
    """

    kind = "factkb"
    other_tokenizer: ClassVar[str] = "roberta-base"
    """Path or name of the one for weights without their own."""

    def _load_tokenizer(self, local: bool) -> Any:
        from transformers import AutoTokenizer

        try:
            own = super()._load_tokenizer(local)
            if has_vocabulary(own):
                return own
        except (OSError, ValueError):  # the folder has no tokenizer
            pass
        try:
            return AutoTokenizer.from_pretrained(self.other_tokenizer, local_files_only=local)
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"{self.name}: there is no tokenizer beside the weights, and {self.other_tokenizer} is not on this "
                "machine; put its tokenizer files into the folder"
            ) from error

    def _encoded(self, tokenizer: Any, claims: list[str], documents: list[str]) -> Any:
        options = {"padding": True, "max_length": self._window, "return_tensors": "pt"}
        return tokenizer(claims, documents, truncation=True, **options)
