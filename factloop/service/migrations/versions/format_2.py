"""Format 2, the oldest format that can be upgraded."""

revision, down_revision = "2", None


def upgrade() -> None:
    """Does nothing, because its tables already exist."""
