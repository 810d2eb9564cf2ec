"""`python -m benchmarks.pictures`: the pictures of docs/, drawn anew from the examples by the code as it stands.

Each page is made by its command, in a copy of its example, and photographed in Chromium. The subject of TrustScores is
a stand-in that knows the example's answers. `--only report` draws one picture; look at what was drawn before it is
committed.
"""

from __future__ import annotations

import json
import math
import os
import re
import runpy
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated, Any

import typer
import uvicorn
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.service.serving import Serving
from tests.simulator import Simulator

ROOT = Path(__file__).resolve().parents[1]
PROMPT = "What is known about the Eddystone Lighthouse?"
WIDTH, HEIGHT = 1280, 960
TALL = {"correction": 1180, "trust": 1690, "support-bot": 340}
"""Heights of pictures that need another."""
CHECK = ("check", "answer.md", "--question", PROMPT, "--docs", "sources", "--html", "page.html")


def _of_command(page: Page, *arguments: str, example: str = "lighthouse", **environment: str) -> None:
    """Opens the page that a command writes in a copy of an example."""
    folder = _copy(example)
    _factloop(folder, *arguments, **environment)
    page.goto((folder / "page.html").as_uri())


def _copy(example: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="factloop-picture-"))
    return Path(shutil.copytree(ROOT / "examples" / example, folder, dirs_exist_ok=True))


def _factloop(folder: Path, *arguments: str, **environment: str) -> None:
    command = [sys.executable, "-m", "factloop", *arguments, "--quiet"]
    subprocess.run(command, cwd=folder, env=os.environ | environment, check=True)


def report(page: Page) -> None:
    _of_command(page, *CHECK)


def labels(page: Page) -> None:
    """Some claims labelled, the next one open, its verdict hidden."""
    _of_command(page, *CHECK)
    page.keyboard.press("l")
    for key in "1111142":
        page.keyboard.press(key)
    page.mouse.wheel(0, -190)  # the last one labelled comes into sight
    page.wait_for_timeout(500)


def correction(page: Page) -> None:
    _of_command(page, "correct", "answer.md", "--docs", "sources", "--html", "page.html")


def trust(page: Page) -> None:
    with _stand_in() as base_url:
        subject = ("--subject-model", "openai:stand-in", "--base-url", base_url, "--no-cache")
        options = ("--corpus", "passages.tsv", "--html", "page.html")
        _of_command(page, "trust", "qa.jsonl", *subject, *options, example="trust", OPENAI_API_KEY="none")
    page.locator("#list summary").filter(has_text="Eddystone").first.click()


class _Subject(BaseHTTPRequestHandler):
    """A chat server that chooses an answer of the example by heart, but for one that it is not sure of."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
        known = {
            one["response"] for one in map(json.loads, (ROOT / "examples/trust/qa.jsonl").read_text().splitlines())
        }
        options = dict(re.findall(r"^([A-E])\) (.*)$", asked, re.MULTILINE))
        own = next(letter for letter, text in options.items() if text in known)
        letter = "E" if "Telford" in options[own] and own > "B" else own
        share = 0.94 if "Telford" not in options[own] else 0.48
        likely = {one: (share if one == letter else (1 - share) / 4) for one in options}
        spelt = [self._token('{"answer": "', 1.0), self._token(letter, share, likely), self._token('"}', 1.0)]
        message = {"role": "assistant", "content": json.dumps({"answer": letter})}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": {"content": spelt}}
        usage = {"prompt_tokens": 210, "completion_tokens": 6, "total_tokens": 216}
        body = {"id": "1", "object": "chat.completion", "created": 0, "model": "stand-in", "choices": [choice]}
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps({**body, "usage": usage}).encode())

    def _token(self, text: str, share: float, likely: Mapping[str, float] | None = None) -> dict[str, Any]:
        top = [{"token": one, "logprob": math.log(part)} for one, part in (likely or {text: share}).items()]
        return {"token": text, "logprob": math.log(share), "top_logprobs": top}

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not told of."""


@contextmanager
def _stand_in() -> Iterator[str]:
    """The address of the subject, while it serves."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Subject)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def service(page: Page) -> None:
    """A check that is done, of the example's answer by registered documents."""
    lighthouse = ROOT / "examples/lighthouse"
    asked = {
        "response": (lighthouse / "answer.md").read_text(encoding="utf-8"),
        "question": PROMPT,
        "documents": "handbook",
    }
    documents = (f"handbook={lighthouse / 'sources'}",)
    with Serving(Path(tempfile.mkdtemp(prefix="factloop-picture-")), documents=documents) as serving:
        serving.post("/v1/checks?wait=true", asked)
        job = serving.get("/v1/jobs?limit=1")["jobs"][0]["id"]
        page.goto(f"{serving.url}/#/jobs/{job}")
        page.frame_locator("iframe").get_by_role("button", name="Need review").wait_for()


def support_bot(page: Page) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        sys.path.insert(0, str(ROOT / "examples/support"))
        app = runpy.run_path(str(ROOT / "examples/support/app.py"))["app"]
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        page.goto(f"http://127.0.0.1:{listening.getsockname()[1]}")
        page.get_by_label("Question").fill("How long are snapshots kept?")
        page.get_by_role("button").click()
        page.get_by_text("30 days").wait_for(timeout=120_000)
        server.should_exit = True
        thread.join()


def two_systems(page: Page) -> None:
    runs = ("--data", "labelled.jsonl", "--docs", "sources", "--run-dir", "runs/labelled")
    folder = _copy("two-systems")
    _factloop(folder, "eval", "factscore", *runs)
    scored = ("responses.jsonl", "--docs", "sources", "--k", "6", "--calibration", "runs/labelled")
    _factloop(folder, "eval", *scored, "--html", "page.html")
    page.goto((folder / "page.html").as_uri())
    page.get_by_role("heading", name="Raw and corrected").evaluate("heading => heading.scrollIntoView()")


def prompt_decision(page: Page) -> None:
    folder = _copy("prompt-experiment")
    with Simulator(reads_by_words={"sim": 0.6}) as simulator:
        demands = ("--fail-if-worse", "tnr >= 0.75", "--fail-if-worse", "tpr")
        environment = {"OPENAI_BASE_URL": simulator.base_url, "FACTLOOP_CACHE_DIR": str(folder / "cache")}
        experiment = ("research", "experiment", "plan.yaml", *demands, "--html", "page.html")
        _factloop(folder, *experiment, **simulator.environment, **environment)
    page.goto((folder / "page.html").as_uri())


PICTURES: Mapping[str, Callable[[Page], None]] = {
    "report": report,
    "labels": labels,
    "correction": correction,
    "trust": trust,
    "service": service,
    "support-bot": support_bot,
    "two-systems": two_systems,
    "prompt-decision": prompt_decision,
}


def main(only: Annotated[str, typer.Option(help="The name of one picture.")] = "") -> None:
    """Draw the pictures into docs/."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name in [only] if only else PICTURES:
            _draw(browser, name)


def _draw(browser: Browser, name: str) -> None:
    context = browser.new_context(viewport={"width": WIDTH, "height": TALL.get(name, HEIGHT)}, reduced_motion="reduce")
    PICTURES[name](page := context.new_page())
    _photograph(page, name)
    context.close()


def _photograph(page: Page, name: str) -> None:
    """In its 256 most frequent colours: half of the bytes, and the same to look at."""
    place = ROOT / "docs" / f"{name}.png"
    page.screenshot(path=place)
    photograph = Image.open(place).convert("RGB")
    raw = photograph.tobytes()
    pixels = Counter(zip(raw[0::3], raw[1::3], raw[2::3], strict=True))
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour, _ in pixels.most_common(256) for part in colour])
    photograph.quantize(palette=palette, dither=Image.Dither.NONE).save(place, optimize=True)


if __name__ == "__main__":
    typer.run(main)
