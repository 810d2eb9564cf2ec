"""Whether variants saw the same evidence: found from what each of them saw, not from how they were set up."""

from __future__ import annotations

from collections.abc import Sequence

from factloop.evaluation.experiments.records import JudgedClaim, Variant
from factloop.evaluation.experiments.variants import ReadyVariant


def evidence_shared(claims: Sequence[JudgedClaim], baseline: str, variant: str, *, by_text: bool) -> tuple[int, int]:
    """Claims, times repeats, in which a variant saw the baseline's very passages; and all that pair up."""
    seen = {
        name: {_place(one, by_text): _seen(one) for one in claims if one.variant == name}
        for name in (baseline, variant)
    }
    pairs = seen[baseline].keys() & seen[variant].keys()
    return sum(seen[baseline][place] == seen[variant][place] for place in pairs), len(pairs)


def _place(one: JudgedClaim, by_text: bool) -> tuple[int, str, str]:
    return one.repeat, one.group, " ".join(one.claim.split()).casefold() if by_text else one.claim_id


def _seen(one: JudgedClaim) -> tuple[tuple[str, str], ...]:
    return tuple((item.source, item.passage) for item in one.evidence)


def describe_variants(
    ready: Sequence[ReadyVariant], claims: Sequence[JudgedClaim], baseline: str, *, by_text: bool
) -> tuple[Variant, ...]:
    """The variants as results name them, with the texts of the prompts in which they differ.

    `by_text`: claims pair up by their text, as variants split for themselves.
    """
    return tuple(_describe(one, ready, claims, baseline, by_text=by_text) for one in ready)


def _describe(
    one: ReadyVariant, ready: Sequence[ReadyVariant], claims: Sequence[JudgedClaim], baseline: str, *, by_text: bool
) -> Variant:
    n_same, n_compared = evidence_shared(claims, baseline, one.name, by_text=by_text)
    return Variant(
        name=one.name,
        changes=one.changes,
        fingerprint=one.fingerprint,
        shares_evidence=n_same == n_compared > 0,
        n_same_evidence=n_same,
        n_compared=n_compared,
        prompt_texts={
            name: text
            for name, text in one.prompt_texts.items()
            if any(other.prompt_texts.get(name, text) != text for other in ready)
        },
    )
