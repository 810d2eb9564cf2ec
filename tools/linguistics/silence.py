"""Tells parts of a response that state nothing from those that may: before any model is asked, so in doubt they may."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from factloop.tools.linguistics import lexicon
from factloop.tools.linguistics.abbreviations import MAYBE_FINAL, NEVER_FINAL
from factloop.tools.linguistics.checkworthiness import is_checkable
from factloop.tools.linguistics.elements import opens_element
from factloop.tools.linguistics.instructions import is_instruction
from factloop.tools.linguistics.leads import is_bare_lead
from factloop.tools.linguistics.markup import plain_text
from factloop.tools.linguistics.outline import Part
from factloop.tools.linguistics.talk import asks_of_nothing, is_opinion, is_remark
from factloop.tools.linguistics.words import FINITE, Word, WordClass, tag_words

Silence = Literal["code", "heading", "question", "remark"]

_QUOTES = "\"“”'‘’ "
_QUESTION_MARKS = ("?", "？", "؟")
_ASKING = re.compile(
    r"(?:(?:so|and|but|then|well|now),? )?(?:am|is|are|was|were|do|does|did|has|have|had|can|could|will|would|shall"
    r"|should|may|might) ",
    re.IGNORECASE,
)
_ELIDED = re.compile(
    r"(?:(?:still|just|also|so|and|not yet) )?(?:want|need|care|got|ready|interested|curious|unsure|stuck|lost|confused"
    r"|wondering|looking|(?:any|more)(?= )|questions?)\b",
    re.IGNORECASE,
)
"""*Do you* or *Are you* left out: *Want to know more?*"""
_READER_ASKS = re.compile(
    r"(?:how|where|when|what|which)(?: [\w-]+){0,2} (?:do|can|could|should|must|may|will|would) (?:i|we) ",
    re.IGNORECASE,
)
"""What the reader wants to do, as headings have it: *How do I cancel?*"""
_ASKING_FOR = re.compile(
    r"(?:(?:so|and|but|then|well|now),? )?(?:(?:who|whom|whose|what|where|when|which|how) "
    r"|why (?:is|was|does|did) (?:it|this|that) (?:so|important|matter|happen|work)\W*$)",
    re.IGNORECASE,
)
"""Takes for granted that what it says is so, but for what it asks for."""
_TELLING = re.compile(
    r"(?:so|and|but|then|well|now)?,? ?\b(?:(?:did|do|does) (?:you|anyone|anybody|everyone) (?:\w+ )?"
    r"(?:know|realise|realize|hear|remember|notice|see|believe)"
    r"|(?:can|could|would) you believe|(?:have|has) (?:you|anyone) (?:ever )?(?:tried|considered|heard|thought|seen)"
    r"|(?:how|what) about|what if|who (?:knew|said|says)|how come)\b"
    r"|.*(?:\bnot|n['’]t)\b"
    r"|.*[,;:–—(].*"  # a tag, or an aside
    r"|\S+ \S.* (?:that|which|who|whose|because|since|although|though|if) \S+"
    r"|.*\b(?:right|correct|true|no|not|yes|ok|okay)\W*$",
    re.IGNORECASE | re.DOTALL,
)
"""Questions that tell: *did you know*, *what about*, those with a clause, an aside or a tag such as *right?*"""
_WHAT_ABOUT = re.compile(
    r"(?:and |but )?(?:what|how) about ((?:the|your|its|their) (?:[a-z]+ )?[a-z]+)\W*", re.IGNORECASE
)
"""Takes only for granted that there is a thing: *What about the price?*, but not *What about ten tablets?*"""
_NAMED_SUBJECT = re.compile(
    r"^((?i:(?:how(?: [a-z]+)?|what|when|where) )?"
    r"(?i:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might))"
    r"(?: the)?(?: (?!I\b)[A-ZÀ-ÖØ-Þ][\w’'-]*){1,3}(?=(?: [a-z]+)?\W*$)"
)
"""With a word after it at most: *Will Acme recall the faulty jets?* says of them that they are faulty."""
_RUN_IN = re.compile(r"(\*\*|__)(?!\s)[^*_]{1,80}[.:]?\1[.:]?")
"""A line in bold, as headings are set that run into their paragraph."""
_LIKE_ITS_PAST = lexicon.word_set("bet burst cast cut hit let put quit read set shed shut split spread")
"""Verbs whose past is spelt as what bids."""
_OF_A_PASSIVE = frozenset({"at", "between", "by", "during", "in"})
_ASKED_OFTEN = re.compile(r"frequently asked questions?", re.IGNORECASE)
"""In a heading it says of nothing that it was asked."""
_NUMBER_OF_TITLE = re.compile(r"(?<![^\s(])(?<!: )\d{1,2}(?=[\s):.–—-]|$)(?![.,]\d)")
"""*Chapter 3*, *Top 5 recipes*, *2. The early years*: without a verb it states nothing of the number."""
_NUMBER_OF_SECTION = re.compile(r"\d{1,2}(?:\.\d{1,2}){1,3}\.?\s+(?=[^\W\d_a-z])")
"""*3.2 The early years*."""
_SHORT_TITLE = 2
"""Words: a longer line may be advice."""
_ASKING_WORDS = frozenset({"who", "whom", "whose", "what", "where", "when", "which", "how", "why"})
_ASKS_READER = re.compile(r"\b(?:do you (?:have|mean|need|prefer|use|want)|are you using)\b", re.IGNORECASE)
_VERBAL: frozenset[WordClass] = FINITE | {"ed", "base"}
_WHO_IS = re.compile(
    r"(?:who|what|where) (?:is|are|was|were)(?: [\w-]+|(?: (?-i:[A-ZÀ-ÖØ-Þ])[\w.'’-]*){1,3})\W*", re.IGNORECASE
)


def silence_of(part: Part) -> Silence | None:
    """Why a part states nothing: it is a heading, a question or a remark; None where it may state something.

    A heading with a verb or a full stop, a remark with a figure, advice, and a question that tells something may. A
    lead without a verb is a heading: *Tarn 4:*. Scripts, styles, comments and mere tags are code that is never read.
    """
    if part.kind == "head":
        return "heading"
    if part.kind in ("code", "row"):
        return "code" if part.kind == "code" and opens_element(part.text) else None
    text = plain_text(part.text)
    if not text and "<" in part.text:
        return "code"
    if _RUN_IN.fullmatch(part.text.strip()) and _is_title(text):
        return "heading"
    if part.kind == "heading" and _only_asks(text):
        return "question"
    if part.kind == "heading" and _asks_as_title(text):
        return "question" if text.endswith(_QUESTION_MARKS) else "heading"
    if part.kind == "heading" and (not text.endswith((".", "!", *_QUESTION_MARKS)) or _is_cut_short(text)):
        text = _NUMBER_OF_SECTION.sub("", text.removesuffix("."))
        text = _NUMBER_OF_TITLE.sub("", _ASKED_OFTEN.sub("questions", text)).strip()
        words = tag_words(text)
        return None if words and is_checkable(text, words) and not _is_instruction(words) else "heading"
    if _only_asks(text):
        return "question"
    if is_remark(text):
        return "remark"
    return "heading" if is_bare_lead(text) else None


def _is_cut_short(title: str) -> bool:
    """Whether its full stop is that of an abbreviation: *Ashbard & Co.*, *The U.S.*"""
    last = title.split()[-1].lower()
    return last.count(".") > 1 or last.removesuffix(".") in NEVER_FINAL | MAYBE_FINAL


def _asks_as_title(text: str) -> bool:
    """Whether a heading asks what the text below it tells: *Why it happens*, *Which model do you have?*

    It tells itself where it has a name, a figure or an aside, or says more after its verb: *Why vaccines cause autism*.
    """
    words = [word for word in tag_words(text) if word.word_class != "mark"]
    if not words or words[0].lower not in _ASKING_WORDS or text.endswith((".", "!")):
        return False
    if _has_detail(words) or _TELLING.match(text):
        return False
    verb = next((place for place, word in enumerate(words[1:], 1) if word.word_class in _VERBAL), len(words) - 1)
    while verb + 1 < len(words) and words[verb + 1].word_class in _VERBAL | {"adverb", "participle"}:
        verb += 1
    return _ASKS_READER.search(text) is not None or asks_of_nothing(text[words[verb].end :])


def _is_instruction(words: Sequence[Word]) -> bool:
    """Whether a heading says what is done there, and of nothing that it was done: *Set up*, *Getting started*.

    *Founded in 1820* and *Set in Paris* say that it was.
    """
    first, rest = words[0], words[1:]
    plain = [word for word in words if word.word_class != "mark"]
    is_step = first.lower not in _LIKE_ITS_PAST and is_instruction(plain, is_sentence=True)
    if any(word.word_class == "number" or word.word_class in FINITE for word in rest):
        return False
    is_bidding = first.lower in _LIKE_ITS_PAST and (not rest or rest[0].lower not in _OF_A_PASSIVE)
    return is_bidding or is_step or _is_gerund(first.lower)


def _is_gerund(word: str) -> bool:
    stem = word.removesuffix("ing")
    return stem != word and not lexicon.VERBS.isdisjoint({stem, f"{stem}e", stem[:-1]})


def _is_title(text: str) -> bool:
    """Whether a line in bold is a title: *Side effects.* or *Who must not take it.*, but not *Keep out of reach.*"""
    words = [word for word in tag_words(text) if word.word_class != "mark"]
    return bool(words) and (words[0].lower in _ASKING_WORDS or len(words) <= _SHORT_TITLE)


def states_nothing(text: str) -> bool:
    """Whether a sentence that was read, as plain text, is surely talk, an opinion or a mere question."""
    return is_opinion(text) or is_remark(text) or _only_asks(text)


def _only_asks(text: str) -> bool:
    """Whether it is a question that tells nothing: it opens like one, and has no name but that of its subject, no
    figure and no aside.

    *Who was Ada?* and *Is the Dock heavy?* ask, *When did she flee?* says that she did.
    """
    text = text.strip(_QUOTES)
    if not text.endswith(_QUESTION_MARKS):
        return False
    if _WHO_IS.fullmatch(text) or is_opinion(text) or is_remark(text):
        return True
    text = _NAMED_SUBJECT.sub(r"\1 it", text, count=1)
    words = [word for word in tag_words(text) if word.word_class != "mark"]
    about = _WHAT_ABOUT.fullmatch(text)
    if about is not None:
        return asks_of_nothing(about[1])
    if _has_detail(words) or _TELLING.match(text):
        return False
    if any(form.match(text) for form in (_ASKING, _ELIDED, _READER_ASKS)):
        return True
    return _ASKING_FOR.match(text) is not None and (text.lower().startswith("why") or asks_of_nothing(text))


def _has_detail(words: Sequence[Word]) -> bool:
    """Whether a question has a figure or a name."""
    return any(word.word_class == "number" for word in words) or any(
        word.word_class == "name" and word.lower not in {"i", "i'm", "i’m"} for word in words[1:]
    )
