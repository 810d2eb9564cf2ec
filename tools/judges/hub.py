"""Lists the judges that factloop knows by name and downloads their weights.

Weights in a folder or in the user's hub cache require no network access. Other weights are downloaded once, if allowed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from factloop.core.errors import ConfigError
from factloop.core.extras import require

TEXTS = ("*.txt", "*.model", "*.jinja", "*.json")
WEIGHTS = (*TEXTS, "*.safetensors")


@dataclass(frozen=True)
class HubFiles:
    repo: str
    revision: str = "main"
    patterns: tuple[str, ...] = WEIGHTS
    """Glob patterns of the files. At least one file must match the last pattern."""


@dataclass(frozen=True)
class KnownJudge:
    made_by: str
    good_for: str
    files: HubFiles | None = None
    """The default weights, or None if users must name a model."""
    base: HubFiles | None = None
    """Tokenizer and configuration of the base model, if the judge's repository lacks them."""
    size: str = ""
    parameters: str = ""
    licence: str = ""


FLAN_T5_BASE = HubFiles("google/flan-t5-base", "7bcac572ce56db69c1ea7c8af255c5d7c9672fc2", TEXTS)
ROBERTA_LARGE = HubFiles("FacebookAI/roberta-large", "722cf37b1afa9454edce342e7895e588b6ff1d59", TEXTS)

JUDGES: Mapping[str, KnownJudge] = {
    "minicheck": KnownJudge(
        "t5:MiniCheckT5",
        "A good default: trained on synthetic documents to check claims made by language models. Runs on a CPU.",
        HubFiles("lytang/MiniCheck-Flan-T5-Large", "96eafd01cee2d16cf81aaa2fb226b14f422a37b3"),
        size="3.1 GB", parameters="783 million", licence="MIT",
    ),
    "minicheck-roberta": KnownJudge(
        "classifiers:MiniCheckRoberta",
        "Half MiniCheck's size and runtime, but slightly less accurate in its paper. Reads 512 tokens at a time.",
        HubFiles("lytang/MiniCheck-RoBERTa-Large"),
        size="1.4 GB", parameters="355 million", licence="MIT",
    ),
    "hhem": KnownJudge(
        "t5:Hhem",
        "The smallest and fastest judge, made for summaries and RAG answers.",
        HubFiles("vectara/hallucination_evaluation_model", "8e4a2e6e96c708cc76c2344f7e4757df2515292c"),
        base=FLAN_T5_BASE, size="0.4 GB", parameters="110 million", licence="Apache-2.0",
    ),
    "alignscore": KnownJudge(
        "classifiers:AlignScore",
        "Distinguishes contradiction from missing support. An established metric for summaries.",
        HubFiles("yzha/AlignScore", "8509e78d25bb914939fc585c626500c9b2944249", ("AlignScore-large.ckpt",)),
        base=ROBERTA_LARGE, size="4.9 GB", parameters="355 million", licence="MIT",
    ),
    "factcg": KnownJudge(
        "classifiers:FactCg",
        "Trained for claims that draw on several sentences of a document. Reads 550 words at a time.",
        HubFiles("yaxili96/FactCG-DeBERTa-v3-Large", "0430e3509dbd28d2dff7a117c0eae25359ff3e80"),
        size="1.7 GB", parameters="435 million", licence="MIT",
    ),
    "nli": KnownJudge(
        "classifiers:Nli",
        "Any cross-encoder for natural language inference, in any language. Finds contradictions in short passages.",
    ),
    "lettucedetect": KnownJudge(
        "classifiers:LettuceDetect",
        "Marks the words in a claim that the passages do not support. Reads 4,096 tokens at a time.",
        HubFiles("KRLabsOrg/lettucedect-base-modernbert-en-v1"),
        size="0.6 GB", parameters="150 million", licence="MIT",
    ),
    "granite-guardian": KnownJudge(
        "causal:GraniteGuardian",
        "A language model designed to guard RAG answers. Slow without a GPU.",
        HubFiles("ibm-granite/granite-guardian-3.2-3b-a800m", "3de033d89b499a18d9a573b5192bf3b967ef48c5"),
        size="6.6 GB", parameters="3.3 billion (0.8 billion active)", licence="Apache-2.0",
    ),
    "bespoke": KnownJudge(
        "causal:Bespoke",
        "A 7B MiniCheck model. Its authors call it the most accurate judge here. Runs on a server or from a folder.",
        parameters="7 to 8 billion", licence="CC BY-NC 4.0: not for commercial use",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class LocalFiles:
    folder: Path
    base: Path | None = None
    """The folder of the tokenizer and configuration, if they are not next to the weights."""
    revision: str | None = None
    """The hub commit, or None for a user's own folder."""


@dataclass(frozen=True)
class Source:
    """The weights that a judge's name refers to: a folder, or repositories on the hub."""

    kind: str
    target: str

    @property
    def is_path(self) -> bool:
        path = Path(self.target)
        looks_so = path.is_absolute() or self.target.startswith((".", "~")) or self.target.count("/") > 1
        return bool(self.target) and (looks_so or path.expanduser().exists())

    @property
    def wanted(self) -> tuple[HubFiles, ...]:
        """The required repositories, weights first. A path needs none. Raises ConfigError if no model is named."""
        known = JUDGES[self.kind]
        if self.is_path:
            return ()
        own = known.files
        if own is None and not self.target:
            raise ConfigError(f"{self.kind} needs a model: use {self.kind}:FOLDER, or {self.kind}:NAME for a hub model")
        if own is None or self.target not in ("", own.repo):
            own = HubFiles(self.target)
        return (own,) if known.base is None else (own, known.base)

    @property
    def size(self) -> str:
        known = JUDGES[self.kind]
        is_ours = known.files is not None and self.target in ("", known.files.repo)
        return f"{known.size}, licence {known.licence}" if is_ours else f"see https://huggingface.co/{self.target}"

    def missing(self) -> tuple[HubFiles, ...]:
        """Returns the repositories that must be downloaded first, without using the network."""
        return tuple(files for files in self.wanted if _cached(files) is None)

    def located(self, *, allow_download: bool) -> LocalFiles:
        """Returns the local files, after downloading any that are missing if allowed. Raises ConfigError."""
        if self.is_path:
            folder = Path(self.target).expanduser()
            if not folder.is_dir():
                raise ConfigError(f"{self.kind}: the folder {self.target!r} does not exist")
            inside = [folder / base.repo.rpartition("/")[2] for base in (JUDGES[self.kind].base,) if base is not None]
            return LocalFiles(folder, next((one for one in inside if one.is_dir()), None))
        require("semantic", f"the judge {self.kind}", "torch", "transformers")
        if not allow_download and self.missing():
            raise ConfigError(self.refusal)
        folder, *base = [_cached(files) or _fetched(files, self.kind) for files in self.wanted]
        return LocalFiles(folder, base[0] if base else None, folder.name)

    @property
    def refusal(self) -> str:
        repo = self.wanted[0].repo
        return (
            f"{self.kind}: the model is not on this machine; pass `--allow-download` to download {repo} once "
            f"({self.size}) into the huggingface_hub cache, or use {self.kind}:FOLDER with a folder that contains it"
        )


def _cached(files: HubFiles) -> Path | None:
    try:
        folder = Path(_snapshot(files, local_files_only=True))
    except (OSError, ValueError):  # missing, incomplete, or not a valid repository name
        return None
    if not any(folder.glob(files.patterns[-1])):
        return None
    indexes = folder.glob("*.safetensors.index.json")
    parts = [part for index in indexes for part in json.loads(index.read_bytes())["weight_map"].values()]
    return folder if all((folder / part).exists() for part in parts) else None


def _fetched(files: HubFiles, kind: str) -> Path:
    try:
        _snapshot(files, local_files_only=False)
    except (OSError, ValueError) as error:
        said = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise ConfigError(f"{kind}: cannot download {files.repo} from the hub ({said})") from error
    folder = _cached(files)
    if folder is None:
        raise ConfigError(f"{kind}: {files.repo} has no safetensors weights on the hub; choose another model")
    return folder


def _snapshot(files: HubFiles, *, local_files_only: bool) -> str:
    from huggingface_hub import snapshot_download

    patterns = list(files.patterns)
    return snapshot_download(
        files.repo, revision=files.revision, allow_patterns=patterns, local_files_only=local_files_only
    )
