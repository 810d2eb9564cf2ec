from __future__ import annotations

import pytest

from factloop.reports.visible import direction, visible, web_address


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain – text, ünïcödé\n\twith tabs", "plain – text, ünïcödé\n\twith tabs"),
        ("a\x00b", "a␀b"),
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("rub\x7f", "rub␡"),
        ("\x9b2J", "\ufffd2J"),
        ("one\r\ntwo\rthree", "one\ntwo␍three"),
        ("\u202egnp.exe\u2066x\u2069", "\ufffdgnp.exe\ufffdx\ufffd"),
        ("\ud800", "\ufffd"),
        ("שלום\u200f!", "שלום\u200f!"),
    ],
)
def test_unsafe_characters_become_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", "ltr"), ("123 (", "ltr"), ("Hello", "ltr"), ("# שלום Hello", "rtl"), ("1. مرحبا", "rtl")],
)
def test_direction_is_that_of_the_first_strong_character(text: str, expected: str) -> None:
    assert direction(text) == expected


@pytest.mark.parametrize("source", ["https://example.org/a?b=c#d", "HTTP://EXAMPLE.ORG", "https://[::1]:8000/x"])
def test_web_addresses_may_be_links(source: str) -> None:
    assert web_address(source) == source


@pytest.mark.parametrize(
    "source",
    [
        "sources/notes.md",
        "/etc/passwd",
        "C:\\notes.txt",
        "javascript:alert(1)",
        "data:text/html,hello",
        "file:///etc/passwd",
        " https://example.org",
        "https://example.org\n",
        "https://example.org/\u202egnp",
        'https://example.org/"onclick="x',
        "java\nscript:alert(1)",
        "http://[broken",
        "https://",
        "https:///path",
    ],
)
def test_anything_else_stays_text(source: str) -> None:
    assert web_address(source) is None
