"""Compares a claim with a source sentence by their parses: who did what, and what is negated or hypothetical."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from factloop.tools.judges.figures import Figure
from factloop.tools.judges.source_sentences import Sentence, figures_in, stem, subject_of_row
from factloop.tools.text.pieces import SUBJECTS
from factloop.tools.text.pipeline import load_pipeline, parsed_part

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

MAX_KEPT = 2_048
MAX_PATH = 2
"""Two connected words of a claim may be at most this many content words apart in the source."""
NEAR = 1
"""The same limit if one of the words is a figure."""
ACROSS_CLAUSES = 3
AROUND = 0.7
"""Score of a pair of words if one or both of them occur only in the context of the sentence."""

_CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM"})
NOMINAL = frozenset({"NOUN", "PROPN", "ADJ"})
_FUNCTION = frozenset({"ADP", "AUX", "DET", "PART", "PRON", "SCONJ", "CCONJ", "PUNCT"})
_CLAUSES = frozenset({"conj", "advcl"})
_BROKEN = frozenset({"ccomp", "parataxis", "dep"})
DENIERS = frozenset(
    {"no", "not", "n't", "n’t", "none", "nobody", "nothing", "never", "neither", "nor", "without", "cannot"}
    | {"unless", "except", "only", "instead", "non"}
)
_IF = frozenset({"if", "unless", "whether"})


def is_content(token: Token) -> bool:
    """Whether a token is a content word, including an adposition that is the object of a preposition."""
    if token.pos_ == "ADP" and token.dep_ in ("pobj", "pcomp") and not token.n_lefts + token.n_rights:
        return True
    return token.pos_ in _CONTENT and not (token.is_stop and token.pos_ in ("ADV", "ADJ", "VERB"))


@dataclass(frozen=True, eq=False)
class Parsed:
    doc: Doc

    @cached_property
    def stems(self) -> tuple[str, ...]:
        return tuple(stem(token.text.rstrip(".") or token.text) for token in self.doc)  # *Co.* is one token

    @cached_property
    def content(self) -> tuple[Token, ...]:
        return tuple(filter(is_content, self.doc))

    @cached_property
    def by_stem(self) -> Mapping[str, Sequence[Token]]:
        found: dict[str, list[Token]] = {}
        for token, key in zip(self.doc, self.stems, strict=True):
            found.setdefault(key, []).append(token)
        return found

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        return figures_in(self.doc.text)

    @cached_property
    def spelt(self) -> frozenset[Token]:
        return frozenset(token for figure in self.figures for token in self.within(figure))

    def within(self, figure: Figure) -> list[Token]:
        start, end = (bisect_left(self._starts, place) for place in (figure.start, figure.end))
        return [self.doc[place] for place in range(start, end)]

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return tuple(token.idx for token in self.doc)

    def stem_of(self, token: Token) -> str:
        return self.stems[token.i]

    @property
    def root(self) -> Token:
        return next(token for token in self.doc if token.head == token)


_kept: OrderedDict[str, Parsed] = OrderedDict()
_lock = Lock()


def parse_all(texts: Sequence[str]) -> list[Parsed]:
    """Parses sentences in one batch, which is much faster than one by one. Caches the last `MAX_KEPT` results."""
    with _lock:
        missing = [text for text in dict.fromkeys(texts) if text not in _kept]
        if missing:
            safe = [parsed_part(text).encode("utf-8", "replace").decode("utf-8") for text in missing]
            for text, doc in zip(missing, load_pipeline().pipe(safe, disable=["ner"]), strict=True):
                _kept[text] = Parsed(doc)
        parsed = [_kept[text] for text in texts]
        for text in texts:
            _kept.move_to_end(text)
        while len(_kept) > MAX_KEPT:
            _kept.popitem(last=False)
    return parsed


def distance(one: Token, other: Token) -> int:
    """Returns how many content words lie between two tokens in the parse tree, up to a maximum of `ACROSS_CLAUSES`."""
    costs, total, below = {one.i: 0}, 0, one
    for above in one.ancestors:
        total += _cost(below)
        if total >= ACROSS_CLAUSES:  # paths through large trees are long
            break
        costs[above.i], below = total, above
    total, below = 0, other
    while below.i not in costs:
        if below.head == below or total >= ACROSS_CLAUSES:  # the tokens may be in different sentences
            return ACROSS_CLAUSES
        total += _cost(below)
        below = below.head
    return min(total + costs[below.i], ACROSS_CLAUSES)


def _cost(token: Token) -> int:
    if token.dep_ in _BROKEN or (token.dep_ in _CLAUSES and subject_of(token) is not None):
        return ACROSS_CLAUSES
    is_free = token.pos_ in _FUNCTION or token.dep_ == "attr" or (token.dep_ == "conj" and token.pos_ != "VERB")
    return 0 if is_free else 1


def clause_of(token: Token) -> Token:
    """Returns the verb of the token's clause, or the root of the sentence if there is no verb."""
    upwards = [token, *token.ancestors]
    auxiliary = ("aux", "auxpass", "amod", "compound")
    return next((one for one in upwards if one.pos_ in ("VERB", "AUX") and one.dep_ not in auxiliary), upwards[-1])


def subject_of(clause: Token) -> Token | None:
    return next((child for child in clause.children if child.dep_ in SUBJECTS), None)


def _modal(clause: Token) -> str:
    if any(child.dep_ == "mark" and child.lower_ in _IF for child in clause.children):
        return "if"
    if clause.dep_ == "xcomp" and any(child.tag_ == "TO" for child in clause.children):
        return "to"
    return next((stem(child.text) for child in clause.children if child.tag_ == "MD"), "")


@dataclass(frozen=True, eq=False)
class Alignment:
    """A claim aligned with one sentence."""

    claim: Parsed
    source: Parsed
    sentence: Sentence
    pairs: Mapping[Token, Sequence[Token]]
    """Maps tokens of the claim to source tokens with the same meaning."""
    in_context: frozenset[Token]
    """Tokens of the claim that occur only in the title, heading or previous sentence."""

    @cached_property
    def arcs(self) -> tuple[tuple[Token, Token], ...]:
        above = ((_above(token), token) for token in self.claim.content)
        return tuple((one, token) for one, token in above if one is not None)

    def keeps(self, arc: tuple[Token, Token]) -> float:
        """Returns 1 if both words are close together in the source, `AROUND` if the context has one of them, or 0."""
        above, below = arc
        if above in self.pairs and below in self.pairs:
            return float(self.sentence.is_row or self._are_near(arc, MAX_PATH))
        return AROUND if all(one in self.pairs or one in self.in_context for one in arc) else 0.0

    def _are_near(self, arc: tuple[Token, Token], longest: int) -> bool:
        """The result is cached for each pair of stems, because a claim may repeat a pair hundreds of times."""
        ones, others = (self.pairs[token] for token in arc)
        key = (id(ones), id(others), longest)
        if key not in self._near:
            self._near[key] = any(distance(a, b) <= longest for a in ones for b in others if a != b)
        return self._near[key]

    @cached_property
    def _near(self) -> dict[tuple[int, int, int], bool]:
        return {}

    @property
    def swaps_roles(self) -> bool:
        """Whether the source reverses who did something and to whom it was done."""
        claimed = {_role(token): token for token in self.claim.content if token in self.pairs}
        return any(
            role == "agent"
            and self._roles_of(token, verb) == {"patient"}
            and self._roles_of(claimed.get((verb, "patient")), verb) == {"agent"}
            for (verb, role), token in claimed.items()
        )

    def _roles_of(self, token: Token | None, verb: Token | None) -> set[str]:
        roles = map(_role, self.pairs.get(token, ())) if token is not None else ()
        return {role for head, role in roles if verb is not None and head in self.pairs.get(verb, ())}

    @cached_property
    def parts_words(self) -> bool:
        """Whether a name or figure is in a different source clause from the word that the claim connects it to."""
        return not self.sentence.is_row and any(
            above in self.pairs and below in self.pairs and self._is_apart((above, below)) for above, below in self.arcs
        )

    def _is_apart(self, arc: tuple[Token, Token]) -> bool:
        above, below = arc
        if above.pos_ == "PROPN" or below.pos_ not in ("PROPN", "NUM"):
            return False
        longest = MAX_PATH if below.pos_ == "PROPN" else NEAR
        return set(self.pairs[above]).isdisjoint(self.pairs[below]) and not self._are_near(arc, longest)

    @cached_property
    def predicate(self) -> tuple[Token, Token] | None:
        """The main verb of the claim, and the source clause with the most words of the claim."""
        root = self.claim.root
        if self.sentence.is_row:
            return None
        if root in self.pairs:
            return root, max(map(clause_of, self.pairs[root]), key=self._clauses.__getitem__)
        return (root, max(self._clauses, key=lambda one: (self._clauses[one], -one.i))) if self.pairs else None

    @cached_property
    def _clauses(self) -> Counter[Token]:
        times = Counter(map(id, self.pairs.values()))  # words with the same stem share a list
        counts: Counter[Token] = Counter()
        for tokens in {id(one): one for one in self.pairs.values()}.values():
            for token in tokens:
                counts[clause_of(token)] += times[id(tokens)]
        return counts

    @cached_property
    def _modals(self) -> tuple[str, str]:
        claimed, said = self.predicate or (None, None)
        return ("", "") if claimed is None or said is None else (_modal(clause_of(claimed)), _modal(said))

    @property
    def is_possible_only(self) -> bool:
        return self._modals[0] != self._modals[1]

    @property
    def is_of_other_row(self) -> bool:
        """Whether both are rows, but about different things: *route: A; minutes: 25* and *route: B; minutes: 25*."""
        subject = subject_of_row(self.claim.doc.text)
        return self.sentence.is_row and bool(subject) and subject.isdisjoint(self.sentence.stems)

    @property
    def is_supposed(self) -> bool:
        """Whether the source only assumes or plans what the claim states as a fact."""
        return self.is_possible_only and self._modals[1] in ("if", "to", "would")

    @cached_property
    def shared(self) -> frozenset[Token]:
        return frozenset(other for token in self.claim.content for other in self.pairs.get(token, ()))

    def share_without(self, figure: Figure | None = None) -> float:
        """Returns the proportion of the claim's content words, not counting `figure`, in the sentence or its context.

        It is 0 if more of them occur in the context than in the sentence.
        """
        spelt = self.claim.within(figure) if figure is not None else []
        rest = [token for token in self.claim.content if token not in spelt]
        held = sum(token in self.pairs for token in rest)
        around = sum(token in self.in_context for token in rest)
        return (held + around) / len(rest) if rest and held >= around else 0.0

    @property
    def speaks_of_subject(self) -> bool:
        subject = subject_of(self.claim.root)
        return subject is None or subject in self.pairs or subject in self.in_context

    @property
    def has_same_subject(self) -> bool:
        if self.predicate is None:
            return False
        mine, theirs = map(subject_of, self.predicate)
        return mine is not None and theirs is not None and theirs in self.pairs.get(mine, ())

    def shares_governor(self, figure: Figure, other: Figure) -> bool:
        """Whether a figure in the claim and one in the source depend on the same word.

        The result is also True for figures with units after the same preposition, and for any table row.
        """
        mine, theirs = _governor(self.claim, figure), _governor(self.source, other)
        if self.sentence.is_row or (mine is not None and theirs in self.pairs.get(mine, ())):
            return True
        return bool(figure.unit and _prepositions(self.claim, figure) & _prepositions(self.source, other))


def _role(token: Token) -> tuple[Token | None, str]:
    while token.dep_ in ("conj", "compound", "appos") and token.pos_ != "VERB":
        token = token.head
    if token.dep_ == "pobj" and token.head.dep_ == "agent":
        return token.head.head, "agent"
    role = {"nsubj": "agent", "nsubjpass": "patient", "dobj": "patient"}.get(token.dep_, "")
    return (token.head, role) if role else (None, "")


def _governor(parsed: Parsed, figure: Figure) -> Token | None:
    within = parsed.within(figure)
    above = (one for token in within for one in token.ancestors if one not in within and is_content(one))
    return next(above, None)


def _prepositions(parsed: Parsed, figure: Figure) -> set[tuple[int, str]]:
    places = [token.i for token in parsed.within(figure)]
    ends = {-1: min(places) - 1, 1: max(places) + 1} if places else {}
    words = {side: parsed.doc[at] for side, at in ends.items() if 0 <= at < len(parsed.doc)}
    return {(side, parsed.stem_of(word)) for side, word in words.items() if word.pos_ in ("ADP", "SCONJ")}


def _content_above(token: Token) -> Token:
    above = token.head
    for above in token.ancestors:
        if is_content(above):
            break
    return above


def _above(token: Token) -> Token | None:
    above = _content_above(token)
    if above == token or is_content(above):
        return above if above != token else None
    subject = next((child for child in above.children if child.dep_ in SUBJECTS and is_content(child)), None)
    return None if subject == token else subject


def align(claim: Parsed, source: Parsed, sentence: Sentence, topic: Collection[str] = ()) -> Alignment:
    """Matches words of a claim and a sentence by stem. Figures match in any notation."""
    pairs = dict(_paired(claim, source, sentence))
    around = frozenset(
        token
        for token, key in zip(claim.doc, claim.stems, strict=True)
        if token not in pairs and token.pos_ in NOMINAL and (key in sentence.context or key in topic)
    )
    return Alignment(claim, source, sentence, pairs, around)


def _paired(claim: Parsed, source: Parsed, sentence: Sentence) -> Iterator[tuple[Token, Sequence[Token]]]:
    for token, key in zip(claim.doc, claim.stems, strict=True):
        if key in source.by_stem and token.pos_ != "PUNCT":
            yield token, source.by_stem[key]
    for figure in claim.figures:
        for other in sentence.figures:
            if figure.compare(other) == "same" and (there := source.within(other)):
                yield from ((token, there) for token in claim.within(figure))
