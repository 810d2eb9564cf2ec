"""Whether a wheel has the packages of this repository, file for file: `python .ci/wheel_files.py WHEEL`.

The wheel is built from the sdist, so that both are checked. Four folders at the top of the repository are in `factloop`
in a wheel.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
AT_THE_TOP = ("agents", "tools", "prompts", "evaluation")


def tracked() -> dict[str, Path]:
    """The files of the packages by their names in a wheel."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "factloop", *AT_THE_TOP], cwd=ROOT, check=True, capture_output=True, text=True
    )
    names = filter(None, listed.stdout.split("\0"))
    return {name if name.startswith("factloop/") else f"factloop/{name}": ROOT / name for name in names}


def main(wheel: Path) -> int:
    """Says what is wrong; returns the exit code."""
    files = tracked()
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
        differing = {name for name in packed & files.keys() if archive.read(name) != files[name].read_bytes()}
    wrong = {"missing": files.keys() - packed, "not of the repository": packed - files.keys(), "different": differing}
    for what, names in wrong.items():
        for name in sorted(names):
            sys.stderr.write(f"{wheel.name}: {what}: {name}\n")
    if not any(wrong.values()):
        sys.stdout.write(f"{wheel.name}: the {len(packed)} files of the repository\n")
    return int(any(wrong.values()))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
