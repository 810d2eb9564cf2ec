"""Settings of one correction: those of its checks, and how it treats claims in doubt."""

from __future__ import annotations

from typing import Annotated

from factloop.correction.records import Contradicted, Unscored, Unsupported
from factloop.setup.marks import CORRECTION, Mark
from factloop.setup.settings import CheckSettings


class CorrectionSettings(CheckSettings):
    """Settings of a correction. Names are those of the command line's flags."""

    contradicted: Annotated[Contradicted, Mark(CORRECTION)] = "mark"
    """Contradicted claims that the evidence has no words to correct: mark them [contradicted], or remove them."""
    unsupported: Annotated[Unsupported, Mark(CORRECTION)] = "mark"
    """Claims without evidence: mark them [unverified], remove them, or keep them."""
    unscored: Annotated[Unscored, Mark(CORRECTION)] = "mark"
    """Claims without a verdict: mark them [unchecked], or keep them."""

    @property
    def check_settings(self) -> CheckSettings:
        """The settings of its checks."""
        own = set(CorrectionSettings.model_fields) - set(CheckSettings.model_fields)
        return CheckSettings.of(None, **self.model_dump(exclude_unset=True, exclude=own))
