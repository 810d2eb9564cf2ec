"""Verifiers that are models of the Hugging Face format on this machine: loading, windows, batches."""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from pickle import UnpicklingError
from threading import Lock
from typing import Any, ClassVar

from factloop.core.errors import ConfigError, ModelOutputError
from factloop.tools.calls.meter import UsageMeter
from factloop.tools.model_files import encodable, loading_model
from factloop.tools.verifiers.chunks import cut_by_words, cut_into_chunks
from factloop.tools.verifiers.pairs import PairScore, VerifierPair

BATCH_SIZE = 16
OVERHEAD = 16
"""Tokens of a window that are left to separators, and to what joins differently once pieces stand together."""
CLAIM_STEP = 32
"""Room for claims is set aside in such steps, so that claims of one document share its chunks."""
KEPT_DOCUMENTS = 64
_SAMPLE = 2**16
"""Bytes looked at in three places of a file of weights."""
_ROBERTA_LIKE = ("roberta", "camembert", "xlm-roberta", "xlm-roberta-xl")
"""Models that count their positions from the padding token's number on."""


class LocalReader(ABC):
    """A `PairReader` of weights in a folder, or of the hub that were downloaded before.

    A document longer than the window is cut into chunks of whole sentences; a claim longer than half of it is read as
    far as that. What looks like a special token in either is spaced out, so that text cannot end its own part. Pairs
    are read in batches of like length. Costs no money. Holds torch to one thread; safe to share between threads.
    `allow_download` lets a hub name go to the network.
    """

    kind: ClassVar[str]
    """First part of the name."""
    longest: ClassVar[int] = 512
    """Tokens of a window, at most."""
    n_words: ClassVar[int | None] = None
    """Words of a chunk where the caller wishes for no other number; None: as many as fit."""
    n_tokens: ClassVar[int | None] = None
    """The same in tokens."""

    def __init__(self, path_or_name: str | Path, *, allow_download: bool = False, device: str = "cpu") -> None:
        self._path_or_name = str(path_or_name)
        self._allow_download = allow_download
        self._device = device
        self._lock = Lock()
        self._kept_chunks = lru_cache(KEPT_DOCUMENTS)(self._chunks)

    @property
    def name(self) -> str:
        path = Path(self._path_or_name)
        return f"{self.kind}:{path.resolve().name if path.is_dir() else self._path_or_name}"

    @property
    def identity(self) -> dict[str, object]:
        """Loads the model, too. Raises ConfigError where it cannot be."""
        self.load()
        path = Path(self._path_or_name)
        weights = _sampled_hash(path) if path.is_dir() else getattr(self._loaded[1].config, "_commit_hash", None)
        return {"verifier": self.name, "weights": weights, "window": self._window}

    def load(self) -> None:
        """Loads the model now, and not at the first pair. Raises ConfigError."""
        with self._lock:
            _ = self._loaded

    def parts(self, claim: str) -> Sequence[str]:
        return (claim,)

    def chunks(self, claim: str, document: str, n_words: int | None) -> list[str]:
        with self._lock:  # a fast tokenizer keeps its truncation settings as state
            n_claim = min(len(self._ends([self._plain(claim)])[0]), self._window // 2)
            steps = CLAIM_STEP if self._window > 8 * CLAIM_STEP else 1
            room = self._window - OVERHEAD - steps * math.ceil(n_claim / steps)
            return list(self._kept_chunks(self._plain(document), n_words, max(room, 1)))

    async def read(self, pairs: Sequence[VerifierPair], *, meter: UsageMeter) -> list[PairScore]:  # noqa: ARG002 - nothing is paid
        return await asyncio.to_thread(self.read_now, pairs)

    def read_now(self, pairs: Sequence[VerifierPair]) -> list[PairScore]:
        """Reads as `read`, in this thread."""
        import torch

        order = sorted(range(len(pairs)), key=lambda place: len(pairs[place].document) + len(pairs[place].claim))
        found: list[float] = [math.nan] * len(pairs)
        for start in range(0, len(order), BATCH_SIZE):
            places = order[start : start + BATCH_SIZE]
            with self._lock, torch.inference_mode():
                values = self._supported([pairs[place] for place in places])
            for place, value in zip(places, values, strict=True):
                found[place] = value
        return [self._scored(value) for value in found]

    def _scored(self, value: float) -> PairScore:
        if math.isfinite(value):
            return PairScore(min(max(value, 0.0), 1.0))
        return PairScore(None, self._no_number(value))

    def _no_number(self, given: object) -> ModelOutputError:
        return ModelOutputError("its output is no number", schema=self.name, reply=str(given))

    def _supported(self, pairs: Sequence[VerifierPair]) -> list[float]:
        """The probability of support of each pair of a batch. Raises ConfigError where the model cannot be run."""
        claims = [self._shortened(self._plain(pair.claim)) for pair in pairs]
        documents = [self._plain(pair.document) for pair in pairs]
        return self._computed(self._probabilities, self._encoded(self._loaded[0], claims, documents))

    def _computed(self, compute: Callable[[Any, dict[str, Any]], Any], inputs: Any) -> list[Any]:
        """What `compute` makes of the model and a batch. Raises ConfigError where the model cannot be run."""
        tensors = {name: tensor.to(self._device) for name, tensor in inputs.items()}
        try:
            values: list[Any] = compute(self._loaded[1], tensors).float().cpu().tolist()
        except (RuntimeError, IndexError) as error:
            raise ConfigError(f"{self.name}: the model cannot be run on its input ({_one_line(error)})") from error
        return values

    @abstractmethod
    def _encoded(self, tokenizer: Any, claims: list[str], documents: list[str]) -> Any:
        """The tensors that the model takes for a batch, cut to `self._window` as a last resort."""

    @abstractmethod
    def _probabilities(self, model: Any, tensors: dict[str, Any]) -> Any:
        """P(supported) of each pair: a tensor of shape (n_pairs,)."""

    @abstractmethod
    def _load_model(self, local: bool) -> Any:
        """The model with its weights. Raises OSError or ValueError if the weights are missing."""

    def _load_tokenizer(self, local: bool) -> Any:
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(self._path_or_name, local_files_only=local)

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        tokenizer, model = self._load_both()
        if not has_vocabulary(tokenizer):
            raise ConfigError(f"{self.name}: there is no tokenizer beside the weights")
        if not tokenizer.is_fast or len(tokenizer) > model.config.vocab_size:
            raise ConfigError(f"{self.name}: the tokenizer beside the weights is not one that goes with them")
        return tokenizer, model.to(self._device).eval()

    def _load_both(self) -> tuple[Any, Any]:
        local = not self._allow_download
        with loading_model(self._path_or_name):
            from safetensors import SafetensorError

            try:
                model = self._load_model(local)
                return self._load_tokenizer(local), model
            except (SafetensorError, UnpicklingError, RuntimeError, TypeError, KeyError, AttributeError) as error:
                raise ConfigError(f"{self.name}: its files cannot be read ({_one_line(error)})") from error

    @cached_property
    def _window(self) -> int:
        """Tokens that the model takes at once. Raises ConfigError for a window too small to be of use."""
        tokenizer, model = self._loaded
        config = model.config
        positions = getattr(config, "max_position_embeddings", None)
        if positions is not None and config.model_type in _ROBERTA_LIKE:
            positions -= config.pad_token_id + 1
        window = min(self.longest, tokenizer.model_max_length, positions or self.longest)
        if window < 2 * OVERHEAD:
            raise ConfigError(f"{self.name}: reads no more than {window} tokens at once, which is too few")
        return int(window)

    def _chunks(self, document: str, n_words: int | None, room: int) -> tuple[str, ...]:
        size = self.n_words if n_words is None else n_words
        if n_words is None and self.n_tokens is not None:
            room = min(room, self.n_tokens)
        pieces = [document] if size is None else cut_by_words(document, size)
        return tuple(chunk for piece in pieces for chunk in cut_into_chunks(piece, room, self._ends))

    def _ends(self, texts: Sequence[str]) -> list[list[int]]:
        """`UnitEnds` of the model's tokens."""
        tokenizer = self._loaded[0]
        given = list(texts)
        if not given:
            return []
        encoded = tokenizer(given, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return [[end for _, end in offsets] for offsets in encoded["offset_mapping"]]

    def _shortened(self, claim: str) -> str:
        (ends,) = self._ends([claim])
        limit = self._window // 2
        return claim if len(ends) <= limit else claim[: ends[limit - 1]]

    def _plain(self, text: str) -> str:
        """The text as tokenizers take it, and without anything that they would take for a special token."""
        return self._special.sub(lambda found: f"{found[0][0]} {found[0][1:]}", encodable(text))

    @cached_property
    def _special(self) -> re.Pattern[str]:
        tokens = sorted(self._loaded[0].all_special_tokens, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, tokens)) or r"(?!)")


def has_vocabulary(tokenizer: Any) -> bool:
    """Whether a tokenizer knows any word: for weights without one transformers makes one that knows none."""
    return len(tokenizer) > len(set(tokenizer.all_special_tokens))


def _sampled_hash(folder: Path) -> str:
    """SHA-256 of the names and sizes of a folder's files with samples of each: other weights, another hash."""
    digest = hashlib.sha256()
    for path in _files(folder):
        size = path.stat().st_size
        digest.update(f"{path.name}\0{size}\0".encode("utf-8", "surrogateescape"))
        with path.open("rb") as file:
            for start in (0, max(0, size // 2 - _SAMPLE // 2), max(0, size - _SAMPLE)):
                file.seek(start)
                digest.update(file.read(_SAMPLE))
    return digest.hexdigest()


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.name.startswith("."):
            yield path


def _one_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
