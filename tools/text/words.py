"""Extracts content words and lists number words, for queries and comparisons that do not need a parse."""

from __future__ import annotations

import re


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


STOP_WORDS = word_set("""
    a an the this that these those each every either neither some any no all both such other another own same
    i me my we us our you your he him his she her hers it its they them their theirs who whom whose which what
    myself himself herself itself themselves there here
    at by for from in into of off on onto out over per to toward towards under until up upon via with within
    without about above across after against along among around as before behind below between beyond during
    near since than through throughout
    and or but nor so yet if because although though while whereas when where whether how why
    be am is are was were been being have has had having do does did done can could may might must shall should
    will would not also too then thus very more most much many only just ever even still
    s t re ve ll d m
""")
"""Function words in lowercase. Words with their own meaning do not belong here."""

_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_NTHS = (
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
CARDINALS = [*_ONES, *(f"{ten}-{one}".removesuffix("-zero") for ten in _TENS for one in _ONES[:10])]
ORDINALS = [*_NTHS, *(f"{ten}-{nth}".replace("y-zeroth", "ieth") for ten in _TENS for nth in _NTHS[:10])]

_WORD = re.compile(r"\d+(?:[.,:/]\d+)*%?|[^\W\d_](?:\.[^\W\d_])+|\w+(?:[.'’&-]\w+)*")
_POSSESSIVE = re.compile(r"['’]s\b")


def content_words(text: str) -> list[str]:
    """Returns the words of a text in lowercase, in order and with repetitions, but without function words.

    Numbers count as words: `1,250.5` and `12/3/2015` are one word each.
    """
    words = (found.lower() for found in _WORD.findall(_POSSESSIVE.sub("", text)))
    return [word for word in words if word not in STOP_WORDS]
