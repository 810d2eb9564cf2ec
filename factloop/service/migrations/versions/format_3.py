"""Format 3, the oldest format that can be upgraded."""

revision, down_revision = "3", None


def upgrade() -> None:
    """Does nothing, because the tables of this format already exist."""
