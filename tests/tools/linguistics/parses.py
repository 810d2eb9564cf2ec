"""A spaCy pipeline made for a test: it parses the sentences below, as they are written here, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc

PARSES = """
Mira/NNP/2/compound Halden/NNP/3/nsubj studied/VBD/0/ROOT in/IN/3/prep Arden/NNP/4/pobj and/CC/3/cc founded/VBD/3/conj
the/DT/10/det Merrow/NNP/10/compound Institute/NNP/7/dobj ././3/punct

Otto/NNP/2/compound Berg/NNP/14/nsubj ,/,/2/punct who/WP/5/nsubj led/VBD/2/relcl the/DT/7/det mill/NN/5/dobj
and/CC/5/cc wrote/VBD/5/conj books/NNS/9/dobj ,/,/2/punct was/VBD/14/auxpass once/RB/14/advmod elected/VBN/0/ROOT
and/CC/14/cc knighted/VBN/14/conj ././14/punct

Ann/NNP/2/compound Lee/NNP/7/nsubj ,/,/2/punct a/DT/5/det judge/NN/2/appos ,/,/2/punct was/VBD/0/ROOT a/DT/9/det
poet/NN/7/attr ,/,/9/punct painter/NN/9/conj and/CC/11/cc editor/NN/11/conj ././7/punct

Halden/NNP/2/compound Works/NNP/3/nsubj is/VBZ/0/ROOT a/DT/5/det firm/NN/3/attr that/WDT/7/nsubj makes/VBZ/5/relcl
lamps/NNS/7/dobj ././3/punct

If/IN/3/mark it/PRP/3/nsubj rains/VBZ/7/advcl ,/,/7/punct the/DT/6/det river/NN/7/nsubj rises/VBZ/0/ROOT and/CC/7/cc
floods/VBZ/7/conj Arden/NNP/9/dobj ././7/punct

Seneca/NNP/2/nsubj said/VBD/0/ROOT the/DT/4/det king/NN/5/nsubj fled/VBD/2/ccomp and/CC/5/cc wept/VBD/5/conj
././2/punct

He/PRP/2/nsubj lives/VBZ/0/ROOT between/IN/2/prep Arden/NNP/3/pobj and/CC/4/cc Lindel/NNP/4/conj ././2/punct
"""
"""Words in order, each with its tag, the number of its head in its sentence (0 for the root) and its label."""

_FIELDS = [[word.rsplit("/", 3) for word in parse.split()] for parse in PARSES.strip().split("\n\n")]
_BY_WORDS = {tuple(word for word, _, _, _ in parse): parse for parse in _FIELDS}


def written_parses(doc: Doc) -> Doc:
    """Sets the tags, heads and labels of a sentence in PARSES; of any other each word is a root of its own."""
    for token in doc:
        token.dep_ = "ROOT"
    for token, (_, tag, head, label) in zip(doc, _BY_WORDS.get(tuple(token.text for token in doc), ()), strict=False):
        token.tag_, token.dep_ = tag, label
        token.head = doc[int(head) - 1] if int(head) else token
    return doc


def save_pipeline(folder: Path) -> Path:
    """A blank English pipeline with these parses, as a folder that a user may name."""
    import spacy  # brings torch: two seconds, which collecting the tests need not take
    from spacy.language import Language

    Language.component("written_parses", func=written_parses)
    nlp = spacy.blank("en")
    nlp.add_pipe("written_parses")
    nlp.to_disk(folder)
    return folder
