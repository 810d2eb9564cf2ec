"""Models that turn texts into vectors, and what is done with the vectors."""

from factloop.core.extras import require

require("semantic", "an embedding model", "numpy")
