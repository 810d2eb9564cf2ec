"""Loads judges in Hugging Face format from this machine, and runs them on batches of claims and chunks."""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from pickle import UnpicklingError
from threading import Lock
from typing import Any, ClassVar

from factloop.core.errors import ConfigError, ModelOutputError
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.judges.chunks import cut_by_words, cut_into_chunks
from factloop.tools.judges.hub import LocalFiles, Source
from factloop.tools.judges.pairs import Judge, PairScore, VerifierPair
from factloop.tools.model_files import encodable, loading_model

BATCH_SIZE = 16
OVERHEAD = 16
"""Tokens reserved in each window for separators, and for tokens that change when texts are joined."""
CLAIM_STEP = 32
"""Tokens for a claim are reserved in multiples of this number, so that claims can share a document's chunks."""
KEPT_DOCUMENTS = 64
_SAMPLE = 2**16
_ROBERTA_LIKE = ("roberta", "camembert", "xlm-roberta", "xlm-roberta-xl")


class LocalJudge(Judge):
    """A judge with weights in a folder or on the hub (see `hub.Source`). It is free and thread-safe.

    A document longer than the model's window is cut into chunks of whole sentences, and a claim longer than half the
    window is truncated. Text that looks like a special token is broken up with a space, so that it cannot change the
    structure of the input. Pairs are read in batches of similar length, on a GPU if there is one.
    """

    kind: ClassVar[str]
    """First part of the name, and key in the registry of judges."""
    longest: ClassVar[int] = 512
    n_words: ClassVar[int | None] = None
    """Maximum number of words in a chunk, unless the caller sets another. None means as many as fit."""
    n_tokens: ClassVar[int | None] = None
    """The same maximum, in tokens."""
    frame: ClassVar[str] = ""
    """Text that surrounds the document, for judges that read a pair."""
    auto_class: ClassVar[str] = "AutoModelForSequenceClassification"

    load_options: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, target: str | Path = "", *, allow_download: bool = False, device: str | None = None) -> None:
        self._source = Source(self.kind, str(target))
        self._allow_download = allow_download
        self._wanted_device = device
        self._lock = Lock()
        self._kept_chunks = lru_cache(KEPT_DOCUMENTS)(self._chunks)

    @property
    def name(self) -> str:
        source = self._source
        return f"{self.kind}:{Path(source.target).resolve().name if source.is_path else source.wanted[0].repo}"

    @property
    def judged_by(self) -> str:
        return f"{self.name} ({'sha256' if self._source.is_path else 'revision'} {str(self.identity['weights'])[:7]})"

    @cached_property
    def identity(self) -> dict[str, object]:
        self.load()
        weights = self._files.revision or _sampled_hash(self._files.folder)
        return {"verifier": self.name, "weights": weights, "window": self._window}

    def load(self) -> None:
        """Loads the model now instead of on first use. Raises ConfigError."""
        with self._lock:
            _ = self._loaded

    def chunks(self, claim: str, document: str, n_words: int | None) -> list[str]:
        with self._lock:  # a fast tokenizer stores its truncation settings as state
            n_claim = min(len(self._ends([self._plain(claim)])[0]), self._window // 2)
            steps = CLAIM_STEP if self._window > 8 * CLAIM_STEP else 1
            room = self._window - self._overhead - steps * math.ceil(n_claim / steps)
            return list(self._kept_chunks(self._plain(document), n_words, max(room, 1)))

    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:  # noqa: ARG002 - nothing is paid
        return await asyncio.to_thread(self.read_now, pairs)

    def read_now(self, pairs: Sequence[VerifierPair]) -> list[PairScore]:
        import torch

        order = sorted(range(len(pairs)), key=lambda place: len(pairs[place].document) + len(pairs[place].claim))
        found: dict[int, PairScore] = {}
        for start in range(0, len(order), BATCH_SIZE):
            places = order[start : start + BATCH_SIZE]
            with self._lock, torch.inference_mode():
                claims = [self._shortened(self._plain(pairs[place].claim)) for place in places]
                documents = [self._plain(pairs[place].document) for place in places]
                try:
                    found |= zip(places, self._read_batch(claims, documents), strict=True)
                except (RuntimeError, IndexError) as error:
                    raise ConfigError(f"{self.name}: the model failed ({_one_line(error)})") from error
        return [found[place] for place in range(len(pairs))]

    def _read_batch(self, claims: list[str], documents: list[str]) -> list[PairScore]:
        tokenizer, model = self._loaded
        tensors = {name: one.to(model.device) for name, one in self._encoded(tokenizer, claims, documents).items()}
        rows: list[list[float]] = self._probabilities(model, tensors).float().cpu().tolist()
        return [self._scored(*row) for row in rows]

    def _scored(self, support: float, against: float = 0.0) -> PairScore:
        if math.isfinite(support) and math.isfinite(against):
            return PairScore(min(max(support, 0.0), 1.0), against=against)
        return PairScore(None, ModelOutputError("the score is not a number", schema=self.name, reply=str(support)))

    def _form(self, document: str, claim: str) -> str | None:  # noqa: ARG002 - for subclasses
        """Returns the single text that the model reads, or None if it reads a pair of texts."""
        return None

    def _encoded(self, tokenizer: Any, claims: list[str], documents: list[str]) -> Any:
        options = {"truncation": True, "padding": True, "max_length": self._window, "return_tensors": "pt"}
        texts = [self._form(document, claim) for document, claim in zip(documents, claims, strict=True)]
        return tokenizer(documents, claims, **options) if None in texts else tokenizer(texts, **options)

    @abstractmethod
    def _probabilities(self, model: Any, tensors: dict[str, Any]) -> Any:
        """Returns P(supported) and, if available, P(contradicted) of each pair, with shape (n_pairs, 1 or 2)."""

    def _load_model(self, files: LocalFiles) -> Any:
        import transformers

        of_kind = getattr(transformers, self.auto_class)
        return of_kind.from_pretrained(files.folder, local_files_only=True, **self.load_options)

    def _load_tokenizer(self, files: LocalFiles) -> Any:
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(files.base or files.folder, local_files_only=True)

    @cached_property
    def _files(self) -> LocalFiles:
        return self._source.located(allow_download=self._allow_download)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        files = self._files
        with loading_model(str(files.folder)):
            import torch
            from safetensors import SafetensorError

            try:
                tokenizer, model = self._load_tokenizer(files), self._load_model(files)
            except (SafetensorError, UnpicklingError, RuntimeError, TypeError, KeyError, AttributeError) as error:
                raise ConfigError(f"{self.name}: cannot read the model's files ({_one_line(error)})") from error
            device = self._wanted_device or ("cuda" if torch.cuda.is_available() else "cpu")
        if len(tokenizer) <= len(set(tokenizer.all_special_tokens)):  # transformers makes one if the folder has none
            raise ConfigError(f"{self.name}: the folder with the weights must also contain the tokenizer")
        if not tokenizer.is_fast or len(tokenizer) > model.config.vocab_size:
            raise ConfigError(f"{self.name}: the tokenizer does not match the weights; use the model's own tokenizer")
        return tokenizer, model.to(device).eval()

    @cached_property
    def _window(self) -> int:
        """Raises ConfigError if the window is too small to be useful."""
        config = self._loaded[1].config
        positions = getattr(config, "max_position_embeddings", None)
        if positions is None or config.model_type == "deberta-v2":  # the positions are relative
            positions = self.longest
        elif config.model_type in _ROBERTA_LIKE:
            positions -= config.pad_token_id + 1
        window = min(self.longest, positions)
        if window < self._overhead + OVERHEAD:
            raise ConfigError(f"{self.name}: a window of {window} tokens is too small; choose another model")
        return int(window)

    @cached_property
    def _overhead(self) -> int:
        return OVERHEAD + len(self._ends([self._form("", "") or self.frame])[0])

    def _chunks(self, document: str, n_words: int | None, room: int) -> tuple[str, ...]:
        size = self.n_words if n_words is None else n_words
        if n_words is None and self.n_tokens is not None:
            room = min(room, self.n_tokens)
        pieces = [document] if size is None else cut_by_words(document, size)
        return tuple(chunk for piece in pieces for chunk in cut_into_chunks(piece, room, self._ends))

    def _ends(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        tokenizer = self._loaded[0]
        encoded = tokenizer(list(texts), add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return [[end for _, end in offsets] for offsets in encoded["offset_mapping"]]

    def _shortened(self, claim: str) -> str:
        (ends,) = self._ends([claim])
        limit = self._window // 2
        return claim if len(ends) <= limit else claim[: ends[limit - 1]]

    def _plain(self, text: str) -> str:
        return self._special.sub(lambda found: f"{found[0][0]} {found[0][1:]}", encodable(text))

    @cached_property
    def _special(self) -> re.Pattern[str]:
        tokens = sorted((*self._loaded[0].all_special_tokens, *self._marks), key=len, reverse=True)
        return re.compile("|".join(map(re.escape, tokens)) or r"(?!)")

    _marks: ClassVar[tuple[str, ...]] = ()


def _sampled_hash(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if not path.is_file() or path.name.startswith("."):
            continue
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode("utf-8", "surrogateescape"))
        with path.open("rb") as file:
            for start in (0, max(0, size // 2 - _SAMPLE // 2), max(0, size - _SAMPLE)):
                file.seek(start)
                digest.update(file.read(_SAMPLE))
    return digest.hexdigest()


def _one_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
