"""Makes `python -m factloop` run the `factloop` command."""

from __future__ import annotations

from factloop.cli import main

if __name__ == "__main__":
    main()
