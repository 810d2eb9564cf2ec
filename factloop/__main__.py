"""Runs the `factloop` command for `python -m factloop`."""

from __future__ import annotations

from factloop.cli import main

if __name__ == "__main__":
    main()
