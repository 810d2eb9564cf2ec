"""Correction: a response rewritten so that what is not supported is removed or mended, and checked again."""

from __future__ import annotations

from factloop.correction.corrector import MAX_ROUNDS, Corrector

__all__ = ["MAX_ROUNDS", "Corrector"]
