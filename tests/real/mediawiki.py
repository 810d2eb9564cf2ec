"""MediaWiki (Debian's package `mediawiki`) on loopback under PHP's own server."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.real.servers import free_port, running

HOME = Path("/usr/share/mediawiki")
PASSWORD = "of-a-wiki-that-nobody-else-sees"
TEXT_EXTRACTS = "wfLoadExtension( 'TextExtracts' );"
PRIVATE = "$wgGroupPermissions['*']['read'] = false;"
LAGGING = (
    "$wgHooks['ApiMaxLagInfo'][] = function ( &$lag ) { $lag = [ 'host' => 'db1', 'lag' => 7.5, 'type' => 'db' ]; };"
)


def is_installed() -> bool:
    return (HOME / "maintenance" / "install.php").exists() and shutil.which("php") is not None


@dataclass(frozen=True)
class Wiki:
    url: str
    local_settings: Path
    plain: str
    """Its settings as they were installed."""

    def set(self, *lines: str) -> None:
        """Replaces the PHP settings, which are read again for each request."""
        self.local_settings.write_text("\n".join((self.plain, *lines)), encoding="utf-8")


@contextmanager
def running_wiki(folder: Path, pages: Mapping[str, str]) -> Iterator[Wiki]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    texts = folder / "texts"
    texts.mkdir(parents=True)
    for number, text in enumerate(pages.values()):
        (texts / str(number)).write_text(text, encoding="utf-8")
    _maintain(
        folder, "install", "--dbtype=sqlite", f"--dbpath={folder / 'data'}", "--dbname=wiki", f"--confpath={folder}",
        "--scriptpath=", f"--server={url}", f"--pass={PASSWORD}", "Tiny", "Admin",
    )  # fmt: skip
    local_settings = folder / "LocalSettings.php"
    environment = {"MW_CONFIG_FILE": str(local_settings)}
    for number, title in enumerate(pages):
        _maintain(folder, "edit", "--user=Admin", title, environment=environment, text=texts / str(number))
    _maintain(folder, "runJobs", environment=environment)
    _maintain(folder, "rebuildtextindex", environment=environment)
    # Without its cache of code, which looks at a file anew only after two seconds.
    server = ["php", "-d", "opcache.enable=0", "-S", f"127.0.0.1:{port}", "-t", str(HOME)]
    with running(server, port, "/api.php?action=query&format=json", env=os.environ | environment):
        yield Wiki(url, local_settings, local_settings.read_text(encoding="utf-8"))


def _maintain(
    folder: Path, script: str, *arguments: str, environment: Mapping[str, str] | None = None, text: Path | None = None
) -> None:
    with open(text or os.devnull, "rb") as given:
        done = subprocess.run(
            ["php", str(HOME / "maintenance" / f"{script}.php"), *arguments],
            env=os.environ | (environment or {}),
            cwd=folder,
            stdin=given,
            capture_output=True,
            check=False,
        )
    assert done.returncode == 0, (script, done.stdout.decode()[-2_000:], done.stderr.decode()[-2_000:])
