from __future__ import annotations

from typing import Any

import pytest

from factloop.tools.calls.scrubbing import scrubbed, secrets_in

KEY = "abcdefgh-1234"

SECRET = ["OPENAI_API_KEY", "MY_TOKEN", "TOKEN", "aws_secret_access_key", "DB_PASSWORD", "CLIENT_SECRET", "SOME_APIKEY"]
SECRET += ["FACTLOOP_SERVICE_KEYS", "AWS_ACCESS_KEY_ID"]


@pytest.mark.parametrize("name", [*SECRET, "KEYBOARD", "TOKENIZERS_PARALLELISM", "MONKEY"])
def test_variables_that_hold_secrets_are_told_by_their_names(name: str) -> None:
    assert secrets_in({name: f"  {KEY}\n"}) == ((KEY,) if name in SECRET else ())
    assert secrets_in({name: "none"}) == secrets_in({name: ""}) == ()


def test_each_key_of_a_list_is_a_secret() -> None:
    secrets = secrets_in({"FACTLOOP_SERVICE_KEYS": f"first-of-two, {KEY}"})
    assert scrubbed(f"{KEY} or first-of-two", secrets) == "[secret] or [secret]"


def test_a_secret_within_a_secret_is_hidden_with_it() -> None:
    secrets = secrets_in({"A_KEY": "12345678", "B_KEY": "12345678-more"})
    assert scrubbed("x 12345678-more 12345678", secrets) == "x [secret] [secret]"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (f"the key {KEY} here", "the key [secret] here"),
        ([KEY, {"a": (KEY, 1)}], ["[secret]", {"a": ["[secret]", 1]}]),
        ({KEY: None}, {"[secret]": None}),
        ("see https://me:hunter2@example.org/x", "see https://[secret]@example.org/x"),
        ("Authorization: Bearer abcdefghijklmnop.qrst", "Authorization: Bearer [secret]"),
        ("sk-proj-abcdefghijklmnopqrstuvwx", "[secret]"),
        (
            "a risk-free task-based approach; mail me@example.org",
            "a risk-free task-based approach; mail me@example.org",
        ),
        ("https://example.org/@me", "https://example.org/@me"),
        (1.5, 1.5),
        (None, None),
    ],
)
def test_secrets_are_hidden_wherever_they_stand(value: Any, expected: Any) -> None:
    assert scrubbed(value, (KEY,)) == expected
