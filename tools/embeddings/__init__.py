"""Turns texts into vectors and compares them."""

from factloop.core.extras import require

require("semantic", "an embedding model", "numpy")
