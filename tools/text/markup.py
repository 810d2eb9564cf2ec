"""Removes Markdown, simple HTML, citations and invisible characters from a sentence."""

from __future__ import annotations

import html
import re
from calendar import month_name
from functools import lru_cache

MARKS = "citation needed|contradicted|unverified|unchecked"
"""Notes in square brackets that editors or a correction add after a doubtful sentence."""
_INLINE = "a|abbr|b|big|cite|code|del|em|font|i|ins|kbd|mark|q|s|small|span|strike|strong|sub|sup|u|var"
_BLOCKS = "article|blockquote|br|dd|div|dl|dt|h[1-6]|hr|li|ol|p|pre|section|table|tbody|td|th|thead|tr|ul"
ATTRIBUTES = r"(?:\s{1,3}[\w:-]{1,30}=(?:\"[^\"<>]{0,300}\"|'[^'<>]{0,300}'|[^\s\"'<>=]{1,100})){0,8}"
"""Matches attributes only if they have values, so that "a <b and c> d" contains no tag."""
_NEW_LINE = re.compile(
    rf"(?<!`)</?(?:article|blockquote|br|details|div|d[dlt]|h[1-6r]|li|[ou]l|p|section|summary|table|tr){ATTRIBUTES}\s?/?>",
    re.IGNORECASE,
)
_MEDIA = "embed|fieldset|figcaption|iframe|img|noscript|svg|textarea|tfoot|wbr"
_OTHERS = (
    "aside|audio|body|button|canvas|center|details|dialog|figure|footer|form|head|header|html|input|label|link|main|meta"
    "|nav|object|option|path|picture|script|select|source|style|summary|template|title|video"
)
"""Tags that may be placeholders if they have no attributes, as in *cp <source>*."""
_ANY_ATTRIBUTE = r"[\s/]{1,3}[\w:@.-]{1,30}(?:\s?=\s?(?:\"[^\"<>]{0,300}\"|'[^'<>]{0,300}'|[^\s\"'<>=]{1,200}))?"
_ADDRESS = r"\((?:[^()\s]|\([^()\s]{0,200}\)){1,500}"

SOURCE = r"\[[a-z][^\[\]\n]{0,40}\]\([^()\s]{1,500}\)"
"""Matches a link with lowercase text, used after a full stop: *[source](https://…)*."""

_PLACE = r"(?i:pp?|pages?|pgs?|sections?|sec|chapters?|ch|figures?|figs?|tables?|lines?|paragraphs?|para|§)\.?"
_SOURCE_KIND = r"(?i:docs?|documents?|sources?|src|references?|refs?|citations?)\.?"
_KIND = rf"(?:{_SOURCE_KIND}|(?i:passages?|chunks?|contexts?|excerpts?|snippets?|footnotes?|notes?)\.?)"
_NUMBER = r"#?[\dA-Z]?\d{0,4}(?:\.\d{1,3}){0,3}"
_NUMBERS_OF = rf"{_NUMBER}(?:(?: ?[,;&–-] ?(?:and )?| and | to ){_NUMBER}){{0,20}}"
_SEE = r"(?:(?i:see(?: also)?|cf\.?|e\.g\.,?) )"
_FILE = rf"[\w.-]{{1,60}}\.(?:pdf|docx?|txt|md|html?|csv|xlsx?)(?:, ?{_PLACE} ?{_NUMBERS_OF})?"
_AUTHORS = r"[A-ZÀ-Þ][\w’'-]{1,40}(?:(?:,? (?:and|&) |, )[A-ZÀ-Þ][\w’'-]{1,40}){0,4}(?:,? et al\.?)?"
_WORK = rf"{_AUTHORS},? (?:1[5-9]|20)\d\d[a-z]?(?:[,:] ?(?:{_PLACE} ?)?{_NUMBERS_OF})?"
_CITED = (
    rf"{_SEE}?{_KIND}[ _:#-]{{0,3}}{_NUMBERS_OF}(?:, ?{_PLACE} ?{_NUMBERS_OF})?"
    rf"|{_SEE}?{_SOURCE_KIND}: ?[^()\[\]\n]{{1,120}}"
    rf"|{_SEE}{_PLACE} ?{_NUMBERS_OF}|{_SEE}?{_FILE}|\d{{1,4}}, ?{_PLACE} ?{_NUMBERS_OF}"
)
_CITATION = re.compile(rf" {{0,3}}(?:\((?:{_CITED})\)|\[(?:{_CITED}|{_SEE}?{_WORK}(?:; ?{_WORK}){{0,8}})\])")
"""Matches *[doc_17]*, *(Document 3)*, *[12, p. 45]*, *(see section 4.2)*, *(source: handbook.pdf)*, *[Smith, 2010]*."""
_AUTHOR_AND_YEAR = re.compile(rf"(?<=[^\s(]) {{1,3}}\({_SEE}?{_WORK}(?:; ?{_WORK}){{0,8}}\)(?=[\s.,;:!?]|\Z)")
"""Matches *(Smith 2010)*, but also dates and text that belongs to a name, such as *Hamlet (London, 1996)*."""
_ADDRESS_ALONE = re.compile(
    r"(?<!\bat)(?<!\bis)(?<!\bto)(?<!\bin)(?<!\bon)(?<!\bvia)(?<!\bfrom)(?<!\bsee)(?<!\bvisit)"
    r" {1,3}[(<\[]?https?://[^\s<>()\[\]]{1,500}(?<![.,;:!?])[)>\]]?(?=[.,;:!?]?(?:\s|\Z))",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:[a-zA-Z]{2,10}\d{0,2}|#\d{1,6}|#[xX][0-9a-fA-F]{1,5});")

# Every repetition is limited, and sentences have at most 2,000 characters, so hostile markup takes little time.
_SUBSTITUTIONS = (
    (re.compile(r"(?<!`)<!--(?:[^<]|<(?!!--)){0,2000}?-->"), " "),
    (re.compile(r"(?<!`)<(script|style)\b[^<>]{0,500}>(?:[^<]|<(?!/?\1\b)){0,2000}</\1\s{0,3}>", re.I), " "),
    (re.compile(rf"(?<!`)</?(?:{_MEDIA})(?:{_ANY_ATTRIBUTE}){{0,8}}\s?/?>", re.I), " "),
    (re.compile(rf"(?<!`)</(?:{_OTHERS})>|(?<!`)<(?:{_OTHERS})(?:{_ANY_ATTRIBUTE}){{1,8}}\s?/?>", re.I), " "),
    (re.compile(r"(?<=\d)<sup>", re.I), "^"),  # 10<sup>6</sup> is not 106
    (re.compile(r"(?<![\dmk])<sup>\[?\d{1,3}\]?</sup>", re.I), ""),
    (re.compile(rf"</?(?:{_INLINE}){ATTRIBUTES}\s?/?>", re.I), ""),
    (re.compile(rf"</?(?:{_BLOCKS}){ATTRIBUTES}\s?/?>", re.I), " "),
    (re.compile(r"\r?\n[ \t]*(?:>[ \t]?){1,8}"), " "),
    (re.compile(r"\(\[[^\[\]\n]{1,200}\]\([^()\s]{1,500}\)\)"), ""),
    (re.compile(r"\[\[?\^?\d{1,4}(?:[ ,;–-]{1,3}\d{1,4}){0,20}\]?\](?:\([^()\s]{1,500}\))?"), ""),
    (re.compile(rf"\s{{0,3}}\[(?:{MARKS})\]|【[^】\n]{{1,60}}】"), ""),
    (re.compile(rf"(?<=[.!?])\s{{1,3}}{SOURCE}$"), ""),
    (re.compile(rf"!?\[([^\[\]]{{1,300}})\](?:{_ADDRESS}(?: \"[^\"\n]{{0,100}}\")?\)|\[[^\[\]\n]{{0,60}}\])"), r"\1"),
    (re.compile(r"\((?:see )?[A-Z][^()]{0,120}?(?:et al\.|&)[^()]{0,60}?\b(?:19|20)\d\d[a-z]?\)"), ""),
    (re.compile(r"(\*{1,3}|(?<!\w)_{1,3}|~~|`)(?=\S)([^*_~`\n]{1,500}?)(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"(?<!\w)(?:\*{1,3}|_{2,3}|`{1,3})(?=\w)|(?<=[\w.,:;!?])(?:\*{1,3}|_{2,3}|`{1,3})(?!\w)"), ""),
    (re.compile(r"[¹²³⁰⁴-⁹]{1,6}(?=\s|$|[.,;])(?<![mk][²³])"), ""),
    (re.compile(r"\[\^[\w-]{1,30}\]"), ""),
    (_CITATION, ""),
    (_ADDRESS_ALONE, ""),
    (re.compile(r"\s+"), " "),
    (re.compile(r" +(?=[.,;:!?](?:\s|$))"), ""),
)
_CODE = re.compile(r"(?<!`)(`{1,3})(?![`\s])([^`]{1,500})(?<!\s)\1(?![`\w])")
_CODE_LEFT_OUT = re.compile("\ue000(\\d+)\ue001")
_MARKS = re.compile(r"[<*_`~\[(【>|¹²³⁰⁴-⁹]|://")
_INVISIBLE = re.compile(
    r"\x1b\[[0-?]{0,40}[ -/]{0,8}[@-~]|\x1b\][^\x07\x1b\n]{0,400}(?:\x07|\x1b\\)|\x1b[@-Z\\-_]"
    r"|[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
    r"\ud800-\udfff\ue000-\uf8ff]"
)
"""Matches terminal escape sequences, and control, format, surrogate and private-use characters except newlines. The
8-bit forms of escape sequences are not matched: in UTF-8 decoded as Latin-1, closing curly quotes look like them, and
everything between two quotations would be removed.
"""

_ITEM = re.compile(r"^(?:[-*+•‣▪◦●] |\d{1,3}[.)] |#{1,6} |> )+")


def with_line_ends(text: str) -> str:
    """Replaces each tag that begins a new line with a newline, padded so that all other characters keep their
    positions.

    Tags on a line with a pipe are kept, because the line may be a table row.
    """
    if "<" not in text or _NEW_LINE.search(text) is None:
        return text
    lines = text.splitlines(keepends=True)
    return "".join(line if "|" in line else _NEW_LINE.sub(_line_end, line) for line in lines)


def _line_end(tag: re.Match[str]) -> str:
    return "\n".ljust(len(tag[0]))


@lru_cache(maxsize=4096)
def plain_text(sentence: str) -> str:
    """Removes markup, citations, control characters and list markers from a sentence, and collapses whitespace.

    Text in code is kept exactly as it is, so *kd_live_* does not lose its underscores.
    """
    text = _INVISIBLE.sub("", sentence)
    substitutions = _SUBSTITUTIONS if _MARKS.search(text) else _SUBSTITUTIONS[-2:]
    code: list[str] = []
    if "`" in text:
        text = _CODE.sub(lambda found: _left_out(found[2], code), text)
    for pattern, replacement in substitutions[:-2]:
        text = pattern.sub(replacement, text)
    text = _AUTHOR_AND_YEAR.sub(_unless_a_name, text) if "(" in text else text
    text = _ENTITY.sub(lambda found: html.unescape(found[0]), text) if "&" in text else text
    for pattern, replacement in substitutions[-2:]:
        text = pattern.sub(replacement, text)
    text = _ITEM.sub("", text.strip()).strip(" |").rstrip(" –—-")
    return _CODE_LEFT_OUT.sub(lambda found: code[int(found[1])], text) if code else text


def _unless_a_name(found: re.Match[str]) -> str:
    before = found.string[: found.start()].split()[-1].lstrip("(\"“'")
    is_month = any(found[0].lstrip(" (").startswith(month) for month in month_name[1:])
    is_named = before[:1].isupper() and found.string.split()[0] != before and "et al" not in found[0]
    return found[0] if is_month or is_named else ""


def _left_out(spelt: str, code: list[str]) -> str:
    code.append(" ".join(spelt.split()))
    return f"\ue000{len(code) - 1}\ue001"
