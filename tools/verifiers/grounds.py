"""The sentence that decides a claim, and what a reader is told of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from factloop.tools.verifiers.alignment import Alignment
from factloop.tools.verifiers.checks.base import Mismatch, MismatchKind
from factloop.tools.verifiers.features import ClaimComparison
from factloop.tools.verifiers.plain_figures import SCALES, in_plain_figures
from factloop.tools.verifiers.reading import Reading
from factloop.tools.verifiers.terms import (
    FIGURES,
    SentenceTerms,
    Term,
    TermKind,
    sentence_texts,
)
from factloop.tools.verifiers.verbs import is_verb

MAX_QUOTED_CHARS = 240
"""Of a sentence quoted in a rationale; the whole one stands in the quote beside it."""
MAX_NAMED = 3
"""Words that a rationale names."""
MAX_NUMBER_WORDS = 5

_ITEM_MARK = re.compile(r"\A[-*+•–]\s+(?=[^\W\d_])")

NOTHING_FOUND = "No sentence of the sources speaks of anything in this claim."

_DIFFERENCES: dict[MismatchKind, str] = {
    "value": "The source says {instead}, the claim {wrong}",
    "date": "The source says {instead}, the claim {wrong}",
    "limit": "The source gives {instead} as another limit than the claim",
    "currency": "The source gives {instead} in another currency than the claim",
    "opposite": "The source says {instead}, the claim {wrong}",
    "quantity": "The source says {instead}, the claim {wrong}",
    "person": "The source says this of {instead}, not of {wrong}",
    "sides": "In the source the two sides are the other way round",
    "exclusiveness": "The claim says {wrong}, which the source does not",
}

_NEAREST: dict[MismatchKind, str] = {
    "value": "has {instead} where the claim has {wrong}",
    "date": "has {instead} where the claim has {wrong}",
    "limit": "gives {instead} as another limit than the claim",
    "currency": "gives {instead} in another currency than the claim",
    "opposite": "has {instead} where the claim has {wrong}",
    "quantity": "has {instead} where the claim has {wrong}",
    "person": "says this of {instead}, not of {wrong}",
    "sides": "has the two sides the other way round",
    "exclusiveness": "does not say {wrong}",
    "denial": "says",
}
"""What the nearest sentence has otherwise, where that does not show the claim to be false."""


@dataclass(frozen=True)
class Grounds:
    """What a verdict rests on."""

    rationale: str
    quote: str = ""
    wrong: str = ""
    instead: str = ""


def for_support(comparison: ClaimComparison, passage: str) -> Grounds:
    """The sentence that bears the claim out, or the one that holds most of it."""
    sentence = _deciding(comparison.alignment, None)
    missing = [term for term in comparison.terms if all(term.key != other.key for other in sentence.terms)]
    begins = (
        "Borne out by" if 2 * len(missing) <= len(comparison.terms) else "Borne out by several sentences, above all"
    )
    return Grounds(f"{begins}: {_quoted(sentence)}", as_written(sentence, passage))


def for_contradiction(alignment: Alignment, mismatch: Mismatch, passage: str) -> Grounds:
    """The difference in words, with the sentence in which it stands."""
    sentence = _deciding(alignment, mismatch)
    wrong, instead = _differing(alignment, mismatch, sentence)
    rationale = f"{_difference(mismatch, wrong, instead)}: {_quoted(sentence)}"
    return Grounds(rationale, as_written(sentence, passage), wrong, instead)


def for_mismatch(alignment: Alignment, mismatch: Mismatch, passage: str) -> Grounds:
    """The same, where it does not show that the claim is false: no evidence was found, and the nearest is told."""
    sentence = _deciding(alignment, mismatch)
    wrong, instead = map(_marked, _differing(alignment, mismatch, sentence))
    said = _NEAREST[mismatch.kind].format(wrong=wrong, instead=instead)
    rationale = f"No sentence of the sources says this. The nearest {said}: {_quoted(sentence)}"
    return Grounds(rationale, as_written(sentence, passage))


def for_nothing(comparison: ClaimComparison, gap: Sequence[Term], passage: str) -> Grounds:
    """What was looked for and is missing, with the sentence that comes nearest."""
    sentence = _deciding(comparison.alignment, None)
    missing = comparison.missing()
    told = [term for term in missing if term.kind in {TermKind.NAME, *FIGURES}] or list(missing)
    claim = comparison.alignment.claim
    if told:
        said = f"No sentence of the sources speaks of {_listed(told, claim)}"
    else:
        essential = [term for term in comparison.terms if term.kind in {TermKind.NAME, *FIGURES}]
        apart = gap or essential or comparison.terms
        listed, held = _listed(apart, claim), {term.key for term in sentence.terms}
        rest = "" if '" and "' in listed else " and the rest of the claim"
        said = f"No one sentence of the sources speaks of {listed}{rest} together"
        if all(term.key in held for term in apart):
            said = "No one sentence of the sources says all of this"
    return Grounds(f"{said}. The nearest says: {_quoted(sentence)}", as_written(sentence, passage))


def _differing(alignment: Alignment, mismatch: Mismatch, sentence: SentenceTerms) -> tuple[str, str]:
    """The words of the claim, and those of the sentence in their place, as each spells them; none that stand apart."""
    claim = " ".join(one.text for one in alignment.claim.sentences)
    if mismatch.kind == "sides":
        return "", ""
    return _spelt(mismatch.wrong(alignment), claim), _spelt(mismatch.instead(alignment), sentence.text)


def _difference(mismatch: Mismatch, wrong: str, instead: str) -> str:
    form = _denial(wrong, instead) if mismatch.kind == "denial" else _DIFFERENCES[mismatch.kind]
    return form.format(wrong=_marked(wrong), instead=_marked(instead))


def _deciding(alignment: Alignment, mismatch: Mismatch | None) -> SentenceTerms:
    """The sentence of a mismatch, else the one that holds the most of the claim."""
    sentence = alignment.sentence
    if mismatch is not None and mismatch.said:
        return sentence.sentences[sentence.sentence_of[sentence.clauses[mismatch.said[0]]]]
    held: Counter[int] = Counter()
    for place in alignment.partners:
        for one in {sentence.sentence_of[clause] for clause in alignment.clauses_of(place)}:
            held[one] += _weight(alignment.claim, place)
    telling = {
        sentence.sentence_of[clause]
        for clause, term in zip(sentence.clauses, sentence.terms, strict=True)
        if is_verb(term)
    }  # not a heading
    return sentence.sentences[max(held, key=lambda one: (held[one], one in telling, -one), default=0)]


def _weight(claim: Reading, place: int) -> int:
    """What a word of the claim tells of the sentence that holds it: the subject is named once for many sentences, and
    what is said of it in one; a figure stands nearly nowhere else."""
    term = claim.terms[place]
    if term.kind in FIGURES:
        return 3
    return 1 if place < claim.first_verb or term.kind is TermKind.NAME else 2


def as_written(sentence: SentenceTerms, passage: str) -> str:
    """The sentence as its passage spells it, before compatibility forms were folded, without the mark of its item;
    empty where it is not there."""
    text = sentence.text.strip()
    if text not in passage:
        text = next((raw.strip() for folded, raw in sentence_texts(passage) if folded.strip() == text), "")
    return _ITEM_MARK.sub("", text)


def _denial(wrong: str, instead: str) -> str:
    if wrong and instead:
        return "The source denies something else ({instead}) than the claim ({wrong})"
    return "The source denies this ({instead})" if instead else "The claim denies ({wrong}) what the source says"


def _spelt(words: str, text: str) -> str:
    """Words as a text spells them: *seven* where they were read as 7, *120 million* where as 120000000."""
    if re.search(rf"(?<![\w.,]){re.escape(words)}(?![\w]|[.,]\d)", text):
        return words
    tokens = [token.strip(".,;:()\"'") for token in text.split()]
    for length in range(1, MAX_NUMBER_WORDS + 1):
        for start in range(len(tokens) - length + 1):
            written = " ".join(tokens[start : start + length])
            if _is_spelt(written, words):
                return written
    whole = (token for token in tokens if _is_scaled(token, words) or _ends_in(in_plain_figures(token), words))
    glued = words.replace(" ", "")
    return next(whole, glued if words not in text and glued in text else words)


def _is_spelt(written: str, words: str) -> bool:
    """Whether a text in figures is these words, or a sum with this figure: *an hour and a half*, for 1.5."""
    plain = in_plain_figures(written)
    return plain == words or (plain != written and " and " in written and plain.split(" ")[:-1] == [words])


def _ends_in(figures: str, words: str) -> bool:
    """Whether these words are but the end of a word in figures: *rds* of *3rds*, which was written as *thirds*."""
    return words.isalpha() and figures.endswith(words) and figures[: -len(words)].isdigit()


def _is_scaled(token: str, words: str) -> bool:
    """Whether a figure is this one without the scale that its column gives: 102, for 102000000."""
    figure = token.replace(",", "")
    is_figure = figure.replace(".", "", 1).isdigit() and words.isdigit()
    return is_figure and any(Decimal(figure) * scale == Decimal(words) for scale in SCALES.values())


def _marked(words: str) -> str:
    return f'"{words}"'


def _quoted(sentence: SentenceTerms) -> str:
    text = _ITEM_MARK.sub("", " ".join(sentence.text.split()))
    if len(text) > MAX_QUOTED_CHARS:
        text = text[:MAX_QUOTED_CHARS].rsplit(" ", 1)[0] + " …"
    return "“" + "".join(letter if letter.isprintable() else " " for letter in text) + "”"


def _listed(terms: Sequence[Term], claim: Reading) -> str:
    """*A, B and C* as the claim spells them: words of one name together, names that stand apart each for itself."""
    text = " ".join(sentence.text for sentence in claim.sentences)
    names: list[str] = []
    for term in terms:
        joined = f"{names[-1]} {term.surface}" if names else ""
        if joined and term.kind is TermKind.NAME and joined in text:
            names[-1] = joined
        else:
            names.append(term.surface)
    shown = [_marked(_spelt(name, text)) for name in names[:MAX_NAMED]]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
