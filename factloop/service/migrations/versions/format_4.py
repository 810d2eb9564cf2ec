"""Format 4, the oldest format that can be upgraded. Its tables already exist."""

revision, down_revision = "4", None


def upgrade() -> None: ...
