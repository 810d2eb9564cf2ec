"""Settings of one correction: those of its checks, and how it treats claims in doubt."""

from __future__ import annotations

from typing import Annotated

from factloop.correction.records import Unchecked, Unmendable, Unproven
from factloop.setup.marks import CORRECTION, Mark
from factloop.setup.settings import CheckSettings


class CorrectionSettings(CheckSettings):
    """Settings of a correction. Names are those of the command line's flags."""

    unmendable: Annotated[Unmendable, Mark(CORRECTION)] = "mark"
    """Contradicted claims for which the evidence has no words: [contradicted] after them, or taken out."""
    unproven: Annotated[Unproven, Mark(CORRECTION)] = "mark"
    """Claims that nothing was found on: [unverified] after them, taken out, or left as they are."""
    unchecked: Annotated[Unchecked, Mark(CORRECTION)] = "mark"
    """What was not checked: [unchecked] after it, or left as it is."""

    @property
    def check_settings(self) -> CheckSettings:
        """The settings of its checks."""
        own = set(CorrectionSettings.model_fields) - set(CheckSettings.model_fields)
        return CheckSettings.of(None, **self.model_dump(exclude_unset=True, exclude=own))
