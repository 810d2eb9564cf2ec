"""The packages of a wheel and of an editable installation, which pyproject.toml cannot list by a pattern."""

from __future__ import annotations

import tomllib
from pathlib import Path

from setuptools import find_namespace_packages, setup
from setuptools.command.editable_wheel import editable_wheel

PROJECT = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
FOLDERS: dict[str, str] = PROJECT["tool"]["setuptools"]["package-dir"]
"""By package, the folder at the top of the repository that holds it."""


def packages() -> list[str]:
    """The package itself, and each folder below it and below the folders at the top."""
    found = find_namespace_packages(include=["factloop", "factloop.*"])
    for package, folder in FOLDERS.items():
        found += [package, *(f"{package}.{name}" for name in find_namespace_packages(folder))]
    return found


class EditableWheel(editable_wheel):
    """Puts one folder on the path, whose `factloop` loads the package from here."""

    def finalize_options(self) -> None:
        self.distribution.packages = ["factloop"]
        self.distribution.package_dir = {"": ".ci/editable"}
        super().finalize_options()


setup(packages=packages(), cmdclass={"editable_wheel": EditableWheel})
