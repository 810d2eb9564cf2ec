"""Heads a passage wherever it is shown: by the title of its source and the headings it begins under."""

from __future__ import annotations


def heading(title: str, section: str | None, published: str | None = None) -> str:
    """`Eddystone Lighthouse › Smeaton's tower (2021-04-03)`; empty where neither title nor headings are known."""
    above = " › ".join(part for part in (title, section) if part)
    return f"{above} ({published})" if above and published else above
