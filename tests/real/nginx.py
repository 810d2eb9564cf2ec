"""Debian's nginx in front of a service, set up as docs/serving.md says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.real.servers import running

ROOT = Path(__file__).resolve().parents[2]
HOST = "facts.example.org"  # the public name in the document


def is_installed() -> bool:
    return all(shutil.which(name) for name in ("nginx", "openssl", "curl"))


def shown(words: str) -> str:
    """The commands with these words in the section on a complete setup."""
    section = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8").partition("## A complete setup")[2]
    (found,) = (block for block in re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S) if words in block)
    return str(found)


def in_shell(commands: str, folder: Path, **variables: str) -> str:
    """Runs commands with the folder `etc` next to this one in place of /etc, and returns their output."""
    shell = ["bash", "-euo", "pipefail", "-c", commands.replace("/etc/", f"{folder.parent}/etc/")]
    done = subprocess.run(shell, cwd=folder, env=os.environ | variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def set_up(folder: Path) -> Path:
    """Runs the steps before the service starts and returns its folder."""
    at = folder / "checkout"
    shutil.copytree(ROOT / "examples", at / "examples")
    for path in ("etc/ssl/private", "etc/nginx/conf.d"):
        (at / path).mkdir(parents=True)
    in_shell(shown("mkdir "), at)
    root = shown("openssl req").replace("nginx -t && service nginx restart\n", "")
    in_shell(root.replace("DNS:$(cat host)", "DNS:$(cat host),IP:127.0.0.1"), at / "factloop-service")
    return at / "factloop-service"


def service_flags(public_port: int, folder: Path) -> list[str]:
    """The document's flags for starting the service, adapted to this port and model."""
    command = shown("factloop serve").replace("$(cat host)", f"{HOST}:{public_port}")
    words = shlex.split(command.replace("\\\n", "") + shown("--price-in").partition("gpt-4o-mini")[2])
    files = {"handbook=documents": f"handbook={folder}/documents", "keys.txt": f"{folder}/keys.txt"}
    return [files.get(word, word) for word in words[words.index("--documents") :]]


@contextmanager
def running_nginx(folder: Path, port: int, service: str) -> Iterator[ssl.SSLContext]:
    """Runs nginx in front of the service; yields an SSL context that trusts its certificate."""
    etc = folder.parent / "etc"
    server = (etc / "nginx/conf.d/factloop.conf").read_text(encoding="utf-8").replace("/etc/", f"{etc}/")
    for before, after in (
        ("listen 443 ssl http2;", f"listen 127.0.0.1:{port} ssl http2;"),
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
        yield ssl.create_default_context(cafile=etc / "ssl/factloop.pem")
