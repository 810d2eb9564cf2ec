"""Prepares a plan's variants before any money is spent, and describes them in the results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from factloop.agents.safe.schemas import REPLIES
from factloop.checking.preparing import Setup, prepare, refuse_clashes, unsent_prompts
from factloop.core.errors import ConfigError
from factloop.core.records import Fingerprint
from factloop.evaluation.comparing.matching import plain
from factloop.evaluation.experiments.items import Data, Kind
from factloop.evaluation.experiments.plan import WHOLE, ExperimentPlan
from factloop.evaluation.experiments.records import JudgedClaim, PromptFile, Variant
from factloop.prompts.lint import lint_paths
from factloop.prompts.registry import PromptRegistry, packaged_prompts
from factloop.prompts.variant import changed_words
from factloop.setup.search_tools import open_search_tools
from factloop.setup.settings import CheckSettings
from factloop.tools.calls.urls import without_userinfo
from factloop.tools.search.base import SearchTool
from factloop.tools.search.build import check_sources

LONGEST_LINE = 80
SPLITTING = {f"safe/{name}" for name in ("atomic_facts", "grounded_facts", "published/atomic_facts", "sentence_facts")}
"""Prompts that find the claims of a response."""


@dataclass(frozen=True)
class ReadyVariant:
    name: str
    changes: Mapping[str, Any]
    settings: CheckSettings
    tools: tuple[SearchTool, ...]
    """The variant's own search tools. Claims may also have documents of their own."""
    fingerprint: Fingerprint
    prompt_texts: Mapping[str, str]
    prompt_files: tuple[PromptFile, ...] = ()

    @property
    def made_of(self) -> dict[str, Any]:
        return self.fingerprint.configuration


def all_settings(
    plan: ExperimentPlan, defaults: CheckSettings | None, limits: Mapping[str, Any]
) -> dict[str, CheckSettings]:
    """Returns the settings of each variant. Lints the prompts and checks the names of searches, but does not open them.
    Raises ConfigError, which names the variant, or DataError if a file is missing."""
    found: dict[str, CheckSettings] = {}
    for name in plan.variants:
        try:
            settings = plan.settings_of(name, defaults, **limits)
            refuse_clashes(settings, has_model=settings.model is not None)
            check_sources(settings.search, settings.docs)
            _refuse_prompts(settings.prompts)
            if getattr(settings, "recording", None) is not None:
                raise ConfigError("remove `recording`: the run directory of an experiment already stores every call")
            if settings.eligibility:
                raise ConfigError("experiments do not support `eligibility`; remove it, or set it to `no`")
        except ConfigError as error:
            raise ConfigError(f"variant {name!r}: {error}") from error
        found[name] = settings
    return found


def whole_settings(settings: Mapping[str, CheckSettings]) -> CheckSettings:
    first = next(iter(settings.values()))
    return CheckSettings.of(None, **{name: getattr(first, name) for name in WHOLE})


def prompt_warnings(settings: Mapping[str, CheckSettings], kind: Kind) -> Iterator[str]:
    for folder in dict.fromkeys(one.prompts for one in settings.values() if one.prompts is not None):
        for one in lint_paths([folder], REPLIES).findings:
            yield f"{one.path}:{one.line}: {one.message}"
    for name, of_variant in settings.items():
        own = PromptRegistry.load(of_variant.prompts).own if kind == "claims" else frozenset[str]()
        yield from (f"variant {name!r}: {one} is sent for responses, not for claims" for one in sorted(own & SPLITTING))
        for said, needed in unsent_prompts(of_variant) if of_variant.model else ():
            yield f"variant {name!r}: {said}; set {', '.join(f'`{key}: {value}`' for key, value in needed.items())}"


def prompt_files(settings: CheckSettings, baseline: CheckSettings) -> Iterator[PromptFile]:
    """Yields the prompts in a user's folder, with their changes from the baseline's prompts or, for the baseline, from
    the packaged prompts."""
    registry = PromptRegistry.load(settings.prompts)
    compared = PromptRegistry.load(None if baseline.prompts == settings.prompts else baseline.prompts)
    for prompt in (registry[name] for name in sorted(registry.own)):
        packaged, before = packaged_prompts()[prompt.name], compared[prompt.name]
        lines, of_packaged = (f"{one.system}\n{one.user}".splitlines() for one in (prompt, packaged))
        yield PromptFile(
            name=prompt.name,
            path=str(prompt.path),
            sha256=prompt.sha256,
            first_line=next((one for one in lines if one not in of_packaged), lines[0])[:LONGEST_LINE],
            is_changed=(prompt.system, prompt.user) != (packaged.system, packaged.user),
            changes=changed_words(f"{before.system}\n{before.user}", f"{prompt.system}\n{prompt.user}"),
        )


async def refuse_unready(plan: ExperimentPlan, settings: Mapping[str, CheckSettings], data: Data) -> None:
    """Raises the errors of `ready_variants`, except for missing keys and for variants that may download weights."""
    local = {name: one for name, one in settings.items() if not one.allow_download}
    keyless = {name: one.model_copy(update={"recording": plan.folder}) for name, one in local.items()}
    await ready_variants(plan, keyless, data)


async def ready_variants(plan: ExperimentPlan, settings: Mapping[str, CheckSettings], data: Data) -> list[ReadyVariant]:
    """Reads the documents, and checks that every model can be called. Makes no network calls.

    Variants with the same search settings share the documents. Raises DataError or ConfigError, in particular if two
    variants would send exactly the same requests, or if a claim would have nothing to be judged against.
    """
    ready: list[ReadyVariant] = []
    read: dict[CheckSettings, tuple[SearchTool, ...]] = {}
    for name, of_variant in settings.items():
        try:
            tools = _tools(of_variant, read)
            setup = prepare(of_variant, tools)
        except ConfigError as error:
            raise ConfigError(f"variant {name!r}: {error}") from error
        for chat in setup.chats:
            await chat.aclose()
        own = prompt_files(of_variant, settings.get(plan.baseline_name, of_variant))
        files = [one for one in own if one.name in setup.fingerprint.prompts]
        texts = _prompt_texts(setup)
        one = ReadyVariant(name, _shown(plan.variants[name]), of_variant, tools, setup.fingerprint, texts, (*files,))
        same = next((other.name for other in ready if other.made_of == one.made_of), None)
        if same is not None:
            changed = ", ".join(sorted({*plan.variants[same], *plan.variants[name]})) or "nothing"
            raise ConfigError(
                f"variants {same!r} and {name!r} would send the same requests, because their only difference "
                f"({changed}) has no effect in the {of_variant.plan!r} plan; change another setting"
            )
        if not tools and all(item.run.documents is None for item in data.items):
            raise ConfigError(
                f"variant {name!r} has nothing to judge against; set `docs` or `search` in the plan's settings, "
                "or add a `document` to each claim or `documents` to each response"
            )
        ready.append(one)
    return ready


def _tools(settings: CheckSettings, read: dict[CheckSettings, tuple[SearchTool, ...]]) -> tuple[SearchTool, ...]:
    key = settings.of_search_tools
    if key not in read:
        read[key] = open_search_tools(settings)
    return read[key]


def _prompt_texts(setup: Setup) -> dict[str, str]:
    used = (setup.prompts[name] for name in setup.fingerprint.prompts)
    return {one.name: f"# system\n{one.system}\n# user\n{one.user}\n" for one in used}


def _refuse_prompts(folder: Path | None) -> None:
    if folder is None:
        return
    wrong = [one for one in lint_paths([folder], REPLIES).findings if one.severity == "error"]
    if wrong:
        raise ConfigError("; ".join(f"{one.path}:{one.line}: {one.message}" for one in wrong))


def _shown(changes: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: without_userinfo(value) if name == "base_url" and isinstance(value, str) else value
        for name, value in changes.items()
    }


def describe_variants(
    ready: Sequence[ReadyVariant], claims: Sequence[JudgedClaim], baseline: str, *, by_text: bool
) -> tuple[Variant, ...]:
    shared = shared_evidence([one.name for one in ready], claims, baseline, by_text=by_text)
    return tuple(
        Variant(
            name=one.name, changes=one.changes, fingerprint=one.fingerprint, **shared[one.name],
            prompt_files=one.prompt_files,
            prompt_texts={
                name: text for name, text in one.prompt_texts.items()
                if any(other.prompt_texts.get(name, text) != text for other in ready)
            },
        )
        for one in ready
    )  # fmt: skip


def shared_evidence(
    names: Sequence[str], claims: Sequence[JudgedClaim], baseline: str, *, by_text: bool
) -> dict[str, dict[str, Any]]:
    """Returns each variant's fields that say whether it saw the same evidence as the baseline.

    Compares the passages that each variant saw, not the settings. With `by_text`, claims are paired by text, because
    each variant splits responses separately.
    """
    seen: dict[str, dict[tuple[int, str, str], list[tuple[str, str]]]] = {name: {} for name in names}
    for claim in claims:
        place = claim.repeat, claim.group, plain(claim.claim) if by_text else claim.claim_id
        seen[claim.variant][place] = [(item.source, item.passage) for item in claim.evidence]
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        shared = seen[baseline].keys() & seen[name].keys()
        n_same = sum(seen[baseline][place] == seen[name][place] for place in shared)
        found[name] = {
            "shares_evidence": n_same == len(shared) > 0, "n_same_evidence": n_same, "n_compared": len(shared)
        }  # fmt: skip
    return found
