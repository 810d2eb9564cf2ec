"""Code in a response: in fences of three backticks or tildes, in indented paragraphs, alone between backticks.

A fence that names a language holds code, one that names prose (`PROSE_FENCES`) holds prose. One that says nothing of
the kind, and an indented paragraph, are told by the first line in them that is clearly a statement of code or clearly
English. A line that may be either, such as `name: value`, is code only if no English sentence follows on a later line.
All is linear.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from factloop.tools.linguistics.lexicon import FUNCTION_WORDS, word_set
from factloop.tools.linguistics.words import FINITE, tag_words

_LINE = re.compile(r"[^\r\n\v\f\u0085\u2028\u2029]*(?:\r\n|[\r\n\v\f\u0085\u2028\u2029]|$)")
_FENCE = re.compile(r"[ \t]{0,3}(```|~~~)[`~]*[ \t]*([\w+#.-]*)")
_BREAKS = "\r\n\v\f\u0085\u2028\u2029"

UNNAMED_FENCES = frozenset({"", "text", "txt", "plain", "plaintext"})
"""Fences with these info strings hold prose or code: models like to wrap a whole answer in one, and put code in it."""
PROSE_FENCES = UNNAMED_FENCES | {"md", "markdown", "answer", "response", "quote", "note", "summary"}
"""Fences with these info strings may hold prose. Others hold code."""

LONGEST_INFO = 2
"""Words after a fence: a language and a name for the code, say. More, or words of other scripts, are prose, unless they
set something."""

_INDENT = 4
"""Columns from which on a paragraph may be code."""
_MOST_LINES = 40
"""Lines of a fence that are looked at to tell what it holds."""
_LONGEST_LOOK = 400
"""Characters of a line that are looked at."""
_MARKER = re.compile(r"(?:>[ \t]+|[-*+•][ \t]+|\(?\d{1,3}[.)][ \t]+|#{1,6}[ \t]+)+")
_DASH = re.compile(r"-(?=[A-Z](?:\w| [a-z]))")
"""The marker of an item without a blank after it; `-I DIR` is an option."""
_ALONE = re.compile(r"[*_]{0,3}(`{1,2})([^`\r\n]{1,2000})\1[*_]{0,3}[.:;]?")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_IDENTIFIER = re.compile(r"[^\W_]+_\w+")
_SENTENCE = re.compile(
    r"[\"'“‘(*_]{0,3}[^\W\d_a-z][^.!?…=;{}]{0,300}(?:[.](?=\w)[^.!?…=;{}]{0,300}){0,9}[.!?…。！？][\"'”’)*_]{0,3}(?=\s|$)"
)
"""A capital letter first and a full stop last; a dot within a word ends none. No mark that sets or parts statements."""
_CODE = re.compile(
    r"""
      (?![A-Z]\w*\ =\ [\w.,%\ ]*$)                                  # BMI = 24
      [\w.\[\]"']+(?:,\ ?[\w.]+)*\ ?[-+*/%|&:]?=(?!>|\s*$)          # x = 1, self.rows[0] += f(x)
    | .*[{}]$ | .*\w\((?!e?s\)).*\):?$ | [{}\[\]]\W*$ | [\[{]["'{]   # if (b) { load(c) }
    | .*(?:::|&&|\|\||==|!=|\+=)                                     # operators
    | %[a-z] | \$\ ?[a-zA-Z_{./] | >>> | \#! | \#include               # prompts, first lines
    | // | /\* | "{3} | '{3} | --[a-zA-Z] | -[a-zA-Z](?:[,=]|\ [-<[]|\ [A-Z]{2}|$)  # comments, options
    | \\\w+[{\[] | [├└│┌]                                           # commands of LaTeX, trees of folders
    | from\ [\w.]+\ import\b | import\ [\w.]+(?:\ as\ \w+|[,;])
    | (?:[\w./~-]+\ ){1,9}--?[a-zA-Z][\w=-]*(?:\ |$)                   # ls -l, pip install --upgrade x
    | (?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|FROM|WHERE|JOIN|GET|POST|PUT|PATCH|RUN|ENV)\ [\w*/"`]
    | [a-z_][\w.-]*:\ [|>][-+]?$                                     # a name for the lines below
    | \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d                               # a line of a log
    """,
    re.VERBOSE,
)
"""How statements of code look at their beginning or end."""
_LIKE_CODE = re.compile(
    r"""
      ["']?[a-z_][\w.-]*["']?:(?:\ \S+(?:\ \S+)?)?$                   # name: value
    | .*(?:=>|->) | .*\\$ | -[a-zA-Z] | @[\w.]+$ | [A-Z]\w*\ =\ \S
    | for\b.*\ in\ .*:$ | (?:if|elif|while|except|with|def|class|case|switch)\b.*:$
    | import\ [\w.]+$
    """,
    re.VERBOSE,
)
"""How statements of code look, and now and then lines of text."""
_GRAMMAR_OF_CODE = word_set("and as case class def do elif else except for from if import in is not or while with")
"""Function words that statements of code have, too."""
_DOCSTRING = re.compile(r"\"{3}|'{3}")
_UNLIKE_TEXT = re.compile(r"[=(){}<>\[\]|]")
_CAPITAL = re.compile(r"[A-Z](?:[a-z]| [a-z])")
_LOWER = re.compile(r"[a-z./~][^.!?…]*(?:\.[\w./][^.!?…]*)*$")
_MOST_WORDS = 8
_MOST_WORDS_OF_OTHERS = 3
"""Words of a command whose program is not among `_PROGRAMS`."""
_PROGRAMS = word_set(
    """
    ansible apk apt apt-get aws az bash brew bundle bun cargo cd chmod chown cmake composer conda cp curl deno df django
    docker docker-compose echo gcc gcloud gem gh git go gradle grep helm java javac kubectl ls make mkdir mv mvn mypy
    mysql node npm npx perl php pip pip3 pipx pnpm podman poetry psql pwd pytest python python3 rm rsync ruby ruff
    rustup scp sed sh ssh sudo systemctl tar terraform tox unzip uv vim wget yarn yum zip
    """
)
"""Programs by whose names commands begin, but for those whose names open English phrases: *cat*, *find*."""
_FOREIGN = word_set(
    """
    der die das den dem ein eine einer ist sind war wurde und von mit le la les un une des du est sont fut et dans par
    el los las una es son fue y del lo il gli uno di che het een en van de os um uma ett och
    """
)
"""Articles, forms of *to be* and the like, which stand in most sentences of some other languages."""
_VERBS = FINITE | {"ed", "base"}
_VERB = re.compile(r"\w{2,}[^\W_suio]s")
"""Forms in -s, as *thins* is one; few commands have such a word after the name of a program."""
_PATH = re.compile(r"(?:^|\s)[.~]{0,2}/\w|\w/\w+/\w|\w{2}\.[a-z]\w*(?:\s|$)|\w_\w|\w,\w|[a-z]:\w")
"""Paths, names of files, names with underlines, columns, hosts with ports."""

_Look = Literal["code", "like code", "sentence", "text"]
"""How a line looks: a statement, what may be one, an English sentence, or other text."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text."""

    start: int
    end: int
    body: str
    """Without indentation and line break, and without trailing blanks."""
    hard_break: bool
    indent: int
    """Columns before its first letter; a tab goes on to the next fourth one."""
    is_whole: bool
    """Whether its end was seen: nothing that may still come belongs to it."""


@dataclass(frozen=True, slots=True)
class Fence:
    """A line of a response that opens or closes code, or only looks like it."""

    index: int
    """Of its line."""
    after: int
    """Index of the first line that is read again after it: the next one, unless it opens code that is closed."""
    words: int | None
    """Where text begins on its line, counted from the line's start; None where it holds at most a language."""
    is_code: bool | None
    """Whether it opens code; None where nothing of it tells yet."""
    is_closed: bool
    within: str | None
    """The mark of the fence in which the next line stands."""
    is_indented: bool = False
    """Whether it is no fence, but the first line of a paragraph that is indented as code is."""

    @property
    def is_passed_over(self) -> bool:
        """Whether the lines up to `after` are code."""
        return self.after > self.index + 1 or (self.is_indented and bool(self.is_code))


@dataclass(frozen=True, slots=True)
class Before:
    """What stands before the first of some lines."""

    within: str | None = None
    """The mark of a fence that was opened."""
    in_list: bool = False
    """Whether an item of a list goes on."""
    begins: bool = True
    """Whether a paragraph may begin with the first of them: nothing or a blank line is before it."""
    is_text: bool = False
    """Whether the first of them is within an indented paragraph that is no code."""


NOTHING_BEFORE = Before()


def lines_of(text: str) -> Iterator[Line]:
    """The lines of a text in order."""
    position = 0
    while position < len(text):
        found = _LINE.match(text, position)
        assert found is not None  # the pattern matches the empty string
        raw = found.group().rstrip(_BREAKS)
        body = raw.strip()
        before = raw[: len(raw) - len(raw.lstrip())]
        start = position + len(before)
        hard_break, is_whole = raw.endswith(("  ", "\\")), len(raw) < len(found.group())
        yield Line(start, start + len(body), body, hard_break, len(before.expandtabs(4)), is_whole)
        position = max(found.end(), position + 1)


def fences_of(lines: Sequence[Line], before: Before = NOTHING_BEFORE) -> Iterator[Fence]:
    """The fences in order, but for those in code.

    One of code that nothing closes is no fence, since a stray mark must not hide the claims after it.
    """
    closing = {mark: [at for at, line in enumerate(lines) if _closes(line, mark)] for mark in ("```", "~~~")}
    within, in_list, index = before.within, before.in_list, 0
    reached = _end_of_indented(lines, 0) if before.is_text else 0
    while index < len(lines):
        found, line = _fence(lines[index]), lines[index]
        if found is None:
            begins = before.begins if index == 0 else not lines[index - 1].body
            if index >= reached and not in_list and begins and line.body and line.indent >= _INDENT:
                reached = _end_of_indented(lines, index)
                fence = _indented(lines, index, reached, within)
                yield fence
                index = fence.after
                continue
            in_list = _is_in_list(line, in_list)
            index += 1
            continue
        mark = found[1]
        if within == mark and _closes(lines[index], mark):
            fence = Fence(index, index + 1, None, is_code=False, is_closed=True, within=None)
        else:
            later = bisect_right(closing[mark], index)
            fence = _opened(lines, index, found, closing[mark][later] if later < len(closing[mark]) else None)
        yield fence
        if not fence.is_passed_over:
            within = fence.within
        index = fence.after


def before_line(lines: Sequence[Line], start: int, before: Before = NOTHING_BEFORE) -> Before:
    """What stands before the line that begins at `start`; `within` is also the mark of a fence that it closes."""
    fences = {fence.index: fence for fence in fences_of(lines, before)}
    within, in_list, begins, index = before.within, before.in_list, before.begins, 0
    reached = _end_of_indented(lines, 0) if before.is_text else 0
    while index < len(lines) and lines[index].start < start:
        fence, line = fences.get(index), lines[index]
        index, begins = index + 1, not line.body
        if fence is None:
            in_list = _is_in_list(line, in_list)
            continue
        is_passed = fence.is_passed_over and lines[fence.after - 1].end < start
        within = within if is_passed else fence.within
        index, begins = fence.after, begins or fence.is_passed_over
        if fence.is_indented and not fence.is_code:
            reached = _end_of_indented(lines, fence.index)
    return Before(within, in_list, begins, is_text=index < reached)


def _is_in_list(line: Line, in_list: bool) -> bool:
    """Whether an item of a list goes on after a line, which is outside of code; `in_list`: whether one did before."""
    if not line.body or line.indent >= _INDENT:
        return in_list
    return _MARKER.match(line.body) is not None or (in_list and line.indent > 0)


def _end_of_indented(lines: Sequence[Line], index: int) -> int:
    """The index after the last line that is indented so, blank lines between them included."""
    end = index + 1
    for place in range(index + 1, len(lines)):
        line = lines[place]
        if line.body and (line.indent < _INDENT or _fence(line) is not None):
            break
        end = place + 1 if line.body else end
    return end


def _indented(lines: Sequence[Line], index: int, end: int, within: str | None) -> Fence:
    """What an indented paragraph is, by the first of its lines that tells; text is often indented, too."""
    looked_at = (replace(line, is_whole=True) for line in lines[index : min(end, index + _MOST_LINES)])
    is_code = _are_code(looked_at, is_over=True)
    is_closed = any(lines[place].body for place in range(end, len(lines)))
    after = end if is_code else index + 1
    return Fence(index, after, None, is_code=is_code, is_closed=is_closed, within=within, is_indented=True)


def is_code_alone(text: str) -> bool:
    """Whether a text is nothing but one piece of code between backticks, by what it holds: *`x = 1`*."""
    found = _ALONE.fullmatch(text)
    if found is None:
        return False
    line = Line(0, len(found[2]), found[2], hard_break=False, indent=0, is_whole=True)
    told = _are_code([line], is_over=True)
    return _are_commands([line]) if told is None else told


def _opened(lines: Sequence[Line], index: int, found: re.Match[str], end: int | None) -> Fence:
    """What a line opens that closes nothing; `end` is the index of the line that may close it."""
    inside = lines[index + 1 : min(len(lines) if end is None else end, index + 1 + _MOST_LINES)]
    is_code = _holds_code(found, inside, is_closed=end is not None)
    if is_code is None and end is not None:
        is_code = _are_commands(inside)
    after = end + 1 if is_code and end is not None else index + 1
    words = _words_after(found) if after == index + 1 else None
    return Fence(index, after, words, is_code=is_code, is_closed=end is not None, within=found[1])


def _holds_code(fence: re.Match[str], lines: Sequence[Line], *, is_closed: bool) -> bool | None:
    """Whether a fence holds code, by what it says, else by the first of its lines that tells; None where none does."""
    info = fence.string[fence.start(2) :]
    if fence[1] == "~~~" and not info:
        return True  # models wrap answers in backticks alone
    is_more = (len(info.split()) > LONGEST_INFO or not info.isascii()) and not any(mark in info for mark in "={[")
    if is_more or fence[2].lower() not in UNNAMED_FENCES or _words_after(fence) is not None:
        return not is_more and fence[2].lower() not in PROSE_FENCES
    return _are_code(lines, is_over=is_closed)


def _are_code(lines: Iterable[Line], *, is_over: bool) -> bool | None:
    """Whether lines are code, by the first that tells; None where none does.

    One that only looks like code yields to a sentence below it. If there is none, it tells once the lines are over.
    """
    may_be = False
    for line in lines:
        look = _look_of(line)
        if look == "code" or (may_be and _DOCSTRING.match(line.body)):
            return True
        if look == "sentence" or (look == "text" and not may_be):
            return False
        may_be = may_be or look == "like code"
    return True if may_be and is_over else None


def _look_of(line: Line) -> _Look | None:
    """How a line looks; None where it may be anything, as a comment or a heading may."""
    body = _TAG.sub("", line.body[:_LONGEST_LOOK]).strip()
    marker = _MARKER.match(body)
    said = body[marker.end() :] if marker else body
    sentence = _SENTENCE.match(_DASH.sub("", said, count=1) if said.startswith("-") else said)
    if sentence is not None and len(_WORD.findall(sentence[0])) > 2 and (line.is_whole or sentence.end() < len(said)):
        return None if body.startswith("#") else "sentence"
    if not line.is_whole or body.startswith(("# ", "-- ")):
        return None
    if body.startswith("|") and body.endswith("|"):
        return "text"
    if _CODE.match(said) or (said is not body and _CODE.match(body)):
        return "code"
    words = [word.lower() for word in _WORD.findall(_IDENTIFIER.sub("", said))]
    grammar = [word for word in words if word in FUNCTION_WORDS]
    if _LIKE_CODE.match(said) and _GRAMMAR_OF_CODE.issuperset(grammar):
        return "like code"
    if len(words) > 3 and grammar:
        return "sentence" if _CAPITAL.match(said) and not _UNLIKE_TEXT.search(said) else "text"
    return "code" if body.endswith(";") else None


def _are_commands(lines: Sequence[Line]) -> bool:
    """Whether lines without any mark of code are commands all the same: few words in small letters, none of English
    grammar, and no full stop."""
    said = [line.body for line in lines if line.body and not line.body.startswith("#")]
    return bool(said) and all(map(_may_be_command, said))


def _may_be_command(body: str) -> bool:
    words = _WORD.findall(body[:_LONGEST_LOOK])
    if not body.isascii() or not 0 < len(words) <= _MOST_WORDS or _LOWER.match(body) is None:
        return False
    if any(word in FUNCTION_WORDS for word in words):
        return False
    if len(words) == 1 or body.split()[0] in _PROGRAMS or _PATH.search(body) is not None:
        return True
    if len(words) > _MOST_WORDS_OF_OTHERS or not _FOREIGN.isdisjoint(words):
        return False
    return not any(word.word_class in _VERBS or _VERB.fullmatch(word.lower) for word in tag_words(body)[1:])


def _fence(line: Line) -> re.Match[str] | None:
    """The fence that the line is. One whose mark comes again on the same line is code within a text."""
    fence = _FENCE.match(line.body)
    return None if fence is None or fence.group(1)[0] in line.body[fence.end() :] else fence


def _closes(line: Line, mark: str) -> bool:
    return line.body.startswith(mark) and not line.body.strip("`~")


def _words_after(fence: re.Match[str]) -> int | None:
    """Where text begins on the line of a fence that holds no code; None where there is at most a language."""
    start = fence.end() if fence.group(2).lower() in PROSE_FENCES else fence.start(2)
    words = fence.string[start:].split()
    if not any(character.isalnum() for word in words for character in word):
        return None
    return start if start == fence.end() or len(words) > 1 or not words[0].isascii() else None
