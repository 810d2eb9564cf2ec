"""Versions of what is installed, as reports name them."""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path
from typing import Any

import pytest

from factloop.core.extras import install_command


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'factloop[serve]'"),
        ({"url": "file:///home/ada/fact%20loop", "dir_info": {}}, "pip install '/home/ada/fact loop[serve]'"),
        ({"url": "file:///opt/f", "dir_info": {"editable": True}}, "pip install -e '/opt/f[serve]'"),
        (
            {"url": "https://code.test/f.git", "vcs_info": {"vcs": "git", "commit_id": "1f"}},
            "pip install 'factloop[serve] @ git+https://code.test/f.git'",
        ),
        (
            {"url": "https://files.test/f.whl", "archive_info": {}},
            "pip install 'factloop[serve] @ https://files.test/f.whl'",
        ),
        ("no JSON", "pip install 'factloop[serve]'"),
    ],
)
def test_more_is_installed_from_where_factloop_came(tmp_path: Path, origin: Any, command: str) -> None:
    """As it is on no index: there pip would find nothing, or something of another's."""
    if origin is not None:
        (tmp_path / "direct_url.json").write_text(origin if origin == "no JSON" else json.dumps(origin))
    assert install_command("serve", importlib.metadata.PathDistribution(tmp_path)) == command
