"""Settings of one correction: those of its checks, and what becomes of what is in doubt."""

from __future__ import annotations

from factloop.core.correction_records import Unchecked, Unproven
from factloop.setup.settings import CheckSettings


class CorrectionSettings(CheckSettings):
    """What shapes a correction. Names are those of the command line's flags."""

    unproven: Unproven = "mark"
    """Claims without evidence for or against them are marked in the text, removed from it, or kept as they are."""
    unchecked: Unchecked = "mark"
    """What nobody checked is marked in the text, or kept as it is."""

    @property
    def of_checks(self) -> CheckSettings:
        """Those that its checks have."""
        own = set(CorrectionSettings.model_fields) - set(CheckSettings.model_fields)
        return CheckSettings.of(None, **self.model_dump(exclude_unset=True, exclude=own))
