"""Distinguishes statements from questions, requests and remarks. If in doubt, a sentence counts as a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from factloop.tools.text.abstentions import is_abstention
from factloop.tools.text.markup import plain_text
from factloop.tools.text.pieces import SUBJECTS, read

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Token

LONGEST_HEADING = 4
"""Maximum number of words in a line without a verb or full stop that counts as a heading."""

_QUESTION_MARKS = ("?", "？", "؟")
_QUOTES = "\"“”'‘’ "


def states_something(sentence: str, nlp: Language) -> bool:
    """Whether a source could confirm or refute the sentence.

    Questions and abstentions state nothing. Requests, remarks to the reader, the writer's beliefs and headings state
    something only if they contain a number or a name.
    """
    text = plain_text(sentence)
    if not any(map(str.isalnum, text)) or is_abstention(text) or _is_question(text):
        return False
    doc = read(text, nlp).doc
    kinds = {one.pos_ for one in doc}
    if "INTJ" in kinds and kinds <= {"INTJ", "PUNCT", "PRON", "AUX", "PART"}:
        return False  # *No, it is not.*
    if any("|" in token.text or ":" in token.text for token in doc[1:-1]):
        return True  # a row, or a label with its value
    return any(_states(root) for root in doc if root.head == root)


def _is_question(text: str) -> bool:
    return (text.strip(_QUOTES) if text[0] in _QUOTES else text).endswith(_QUESTION_MARKS)


def _states(root: Token) -> bool:
    subject = next((child for child in root.children if child.dep_ in SUBJECTS), None)
    if subject is None:
        return _has_detail(list(root.subtree)) or not (
            root.tag_ in {"VB", "VBP"} or _is_heading(root.doc) or root.doc[-1].text == "!"
        )
    if subject.morph.get("Person", []) == ["1"] and subject.morph.get("Number", []) == ["Sing"]:
        return any(_has_detail(list(child.subtree)) for child in root.children if child.dep_ == "ccomp")
    if _is_pointing(root) or _leaves_open(root, subject):
        return False
    return root.doc[-1].text != "!" or _has_detail(list(root.subtree))


def _is_heading(doc: Doc) -> bool:
    words = [token for token in doc if not token.is_punct]
    is_finite = any(token.tag_ in {"VBD", "VBZ", "VBP", "MD"} for token in words)
    is_closed = doc[-1].is_punct or any(token.pos_ == "DET" for token in words)
    return len(words) <= LONGEST_HEADING and not is_finite and not is_closed


def _is_pointing(root: Token) -> bool:
    """Whether the clause only points to the text that follows, as in *Here are some of them:*."""
    return root.lemma_ == "be" and any(child.lower_ in {"here", "below"} for child in root.children)


def _leaves_open(root: Token, subject: Token) -> bool:
    """Whether the clause leaves a question unanswered, as in *It is hard to say how many ...*."""
    said = [token for token in root.subtree if token.dep_ == "ccomp" and token.i > root.i]
    is_asked = any(child.tag_ in {"WRB", "WP"} or child.lower_ == "whether" for one in said for child in one.subtree)
    return subject.lower_ == "it" and is_asked and any(child.dep_ == "acomp" for child in root.children)


def _has_detail(tokens: list[Token]) -> bool:
    return any(one.tag_ == "CD" or one.ent_type_ not in {"", "ORDINAL", "CARDINAL"} for one in tokens if one.i > 0)
