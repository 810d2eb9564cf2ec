"""Whether an environment is as light as the core shall be: `python .ci/core_size.py ENVIRONMENT`."""

from __future__ import annotations

import sys
from importlib.metadata import distributions
from pathlib import Path

MOST_DISTRIBUTIONS, MOST_MB = 70, 300
NOT_COUNTED = {"pip", "setuptools", "uv"}


def main(environment: Path) -> int:
    """Counts what lies in site-packages, without what installs; returns the exit code."""
    (packages,) = environment.glob("lib/python*/site-packages")
    found = {one.metadata["Name"]: one for one in distributions(path=[str(packages)])}
    counted = [one for name, one in found.items() if name not in NOT_COUNTED]
    everything = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file())
    uncounted = (path for name in NOT_COUNTED & found.keys() for path in found[name].files or ())
    left_out = sum(path.locate().stat().st_size for path in uncounted if path.locate().is_file())
    mb = (everything - left_out) / 1e6
    sys.stdout.write(f"the core: {len(counted)} distributions, {mb:.0f} MB\n")
    return int(len(counted) > MOST_DISTRIBUTIONS or mb > MOST_MB)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
