"""nginx of Debian in front of a service, with the configuration that docs/serving.md shows, in a folder of a test."""

from __future__ import annotations

import os
import re
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.real.servers import running

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "serving.md"
HOST = "facts.example.org"  # the public name in the document


def is_installed() -> bool:
    return shutil.which("nginx") is not None and shutil.which("openssl") is not None


def shown(language: str, words: str = "") -> str:
    """The block of this language in the section on a complete setup that has these words."""
    section = DOCUMENT.read_text(encoding="utf-8").partition("## A complete setup")[2]
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    (found,) = (block for block in blocks if words in block)
    return str(found)


def service_flags(public_port: int, key_file: Path) -> list[str]:
    """The settings of `factloop serve` for a proxy in the document, for this port and this file of keys."""
    settings = re.findall(r"--set (\S+)", shown("sh", "factloop serve"))
    assert settings
    public = (one.replace(f"https://{HOST}/", f"https://{HOST}:{public_port}/") for one in settings)
    return [*(word for one in public for word in ("--set", one)), "--api-key-file", str(key_file)]


@contextmanager
def running_nginx(folder: Path, port: int, service: str) -> Iterator[ssl.SSLContext]:
    """nginx at a port before the service at this address; yields what trusts its certificate."""
    certificate, key = folder / "proxy.pem", folder / "proxy.key"
    names = ("-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST},IP:127.0.0.1")
    files = ("-keyout", str(key), "-out", str(certificate))
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, *files]
    subprocess.run(made, check=True, capture_output=True)
    server = shown("nginx")
    for before, after in (
        ("listen 443 ssl http2;", f"listen 127.0.0.1:{port} ssl http2;"),
        (f"/etc/ssl/{HOST}.pem", str(certificate)),
        (f"/etc/ssl/private/{HOST}.key", str(key)),
        ("http://127.0.0.1:8000/", f"{service}/"),
    ):
        assert server.count(before) == 1, before
        server = server.replace(before, after)
    temporary = "".join(
        f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    configuration = folder / "nginx.conf"
    configuration.write_text(
        f"pid {folder}/nginx.pid;\nerror_log {folder}/error.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{server}}}\n",
        encoding="utf-8",
    )
    command = ["nginx", "-c", str(configuration), "-p", str(folder), "-e", str(folder / "error.log")]
    user = "user root;" if os.geteuid() == 0 else ""  # whose folder it is
    with running([*command, "-g", f"daemon off; {user}"], port):
        yield ssl.create_default_context(cafile=str(certificate))
