"""Takes Markdown, citations and invisible characters out of a sentence, so that a claim is plain text."""

from __future__ import annotations

import re
import unicodedata

# Every repetition is bounded, and sentences are at most 2,000 characters long: hostile markup costs no time.
_SUBSTITUTIONS = (
    (re.compile(r"\r?\n[ \t]*(?:>[ \t]?){1,8}"), " "),
    (re.compile(r"\(\[[^\[\]\n]{1,200}\]\([^()\s]{1,500}\)\)"), ""),
    (re.compile(r"\[\[?\^?\d{1,4}(?:[ ,;–-]{1,3}\d{1,4}){0,20}\]?\](?:\([^()\s]{1,500}\))?"), ""),
    (re.compile(r"\[citation needed\]|【[^】\n]{1,60}】"), ""),
    (re.compile(r"!?\[([^\[\]\n]{1,300})\](?:\([^()\s]{1,500}(?: \"[^\"\n]{0,100}\")?\)|\[[^\[\]\n]{0,60}\])"), r"\1"),
    (re.compile(r"\((?:see )?[A-Z][^()]{0,120}?(?:et al\.|&)[^()]{0,60}?\b(?:19|20)\d\d[a-z]?\)"), ""),
    (re.compile(r"(\*{1,3}|_{1,3}|~~|`)(?=\S)([^*_~`\n]{1,500}?)(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"(?<!\w)(?:\*{1,3}|_{2,3}|`{1,3})(?=\w)|(?<=[\w.,:;!?])(?:\*{1,3}|_{2,3}|`{1,3})(?!\w)"), ""),
    (re.compile(r"[¹²³⁰⁴-⁹]{1,6}(?=\s|$|[.,;])(?<![mk][²³])"), ""),
    (re.compile(r"\s+"), " "),
    (re.compile(r" +(?=[.,;:!?](?:\s|$))"), ""),
)
_ITEM = re.compile(r"^(?:[-*+•‣▪◦●] |\d{1,3}[.)] |#{1,6} |> )+")


def plain_text(sentence: str) -> str:
    """The sentence without markup, citations, control characters and list markers, white space collapsed."""
    text = "".join(
        character if character.isspace() else ""
        if unicodedata.category(character) in {"Cc", "Cf", "Co", "Cs"} and character != "\u200d"
        else character
        for character in sentence
    )
    for pattern, replacement in _SUBSTITUTIONS:
        text = pattern.sub(replacement, text)
    return _ITEM.sub("", text.strip()).strip(" |")
