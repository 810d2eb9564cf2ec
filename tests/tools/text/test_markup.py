from __future__ import annotations

import pytest

from factloop.tools.text.markup import plain_text

TEXTS = {
    "Rome \x1b[31mis\x1b[0m \x9bold.": "Rome is old.",
    "\x1b]8;;https://example.org\x1b\\Rome\x1b]8;;\x07 is old.": "Rome is old.",
    "Rome \x1bis [31m old.": "Rome is [31m old.",
    "<p>Rome is in Italy.</p>": "Rome is in Italy.",
    "Rome is in <b>Italy</b>.<br/>": "Rome is in Italy.",
    """<a href="https://example.org/?q=1" class='x'>Rome</a> is old.""": "Rome is old.",
    "H<sub>2</sub>O is water.": "H2O is water.",
    "It has 10<sup>6</sup> people.": "It has 10^6 people.",
    "Rome is old.<sup>[3]</sup>": "Rome is old.",
    "<p></p>": "",
    "Rome <img src=x onerror=alert(2)> is old.": "Rome is old.",
    "<svg/onload=alert(1)>Rome is old.": "Rome is old.",
    "Rome <STYLE type='a'>p { a: b; }</STYLE>is old.": "Rome is old.",
    "Rome <!-- is new <b>and</b> --> is old.": "Rome is old.",
    "<button disabled>Rome is old.</button><input type=hidden value='Rome is new.'>": "Rome is old.",
    "[Rome](javascript:alert(4)) is old.": "Rome is old.",
    "[Rome](https://example.org/Rome_(city)) is old.": "Rome is old.",
    "Tokens open with `kd_live_`.": "Tokens open with kd_live_.",
    "`sk_test_` and ``pk__x`` are keys.": "sk_test_ and pk__x are keys.",
    "Set `__init__` and `*args`.": "Set __init__ and *args.",
    "Set my_app_ and _one_ more.": "Set my_app_ and one more.",
    "Rome is old. [unverified]": "Rome is old.",
    "Rome is old [contradicted].": "Rome is old.",
    "Close `<script>` with `</script>`.": "Close <script> with </script>.",
    'Put `<img src="x">` there.': 'Put <img src="x"> there.',
}
NO_TAGS = [
    "If a < b and c > d, then x.",
    "It holds for 5 <b and 7> c.",
    "Write to <ada@example.org> now.",
    "It returns a List<String> here.",
    "Run cp <source> <target> and set <style>.",
    "Rome [is](old (and big.",
    "Rome is in <claim>Italy</claim>.",
    "It was [unverified by anyone] in Rome.",
    "The state is unverified.",
    "Set kd_live_ and max_retry_count.",
]


def test_nothing_between_quotations_goes_where_utf_8_was_read_as_latin_1() -> None:
    said = "He said “yes”, the bridge weighs 3 tons, and “no” again. It weighs 5\x9b10 kg."
    read = plain_text(said.encode().decode("latin-1"))
    assert "the bridge weighs 3 tons" in read
    assert "10 kg" in read


@pytest.mark.parametrize(("text", "plain"), TEXTS.items())
def test_simple_tags_are_taken_out(text: str, plain: str) -> None:
    assert plain_text(text) == plain


@pytest.mark.parametrize("text", NO_TAGS)
def test_what_is_no_tag_stays(text: str) -> None:
    assert plain_text(text) == text


@pytest.mark.large
@pytest.mark.parametrize(
    "unit",
    ["<", "<a ", '<a b="', "<p a=b ", "</p", "<sup>[1", "10<sup>", "<!--", "<script>", "<img a ", "<input ", "[a](("],
)
def test_tags_without_an_end_are_no_trouble(unit: str) -> None:
    """The square of a megabyte would outlast the time limit of a test."""
    assert isinstance(plain_text((unit * 1_000_000)[:1_000_000]), str)
