from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from factloop import FactChecker
from factloop.integrations.pytest.plugin import file_name
from tests.simulator import Simulator

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "pytest"
OFF = ("-p", "no:cacheprovider", "--disable-socket", "--allow-unix-socket", "-o", "asyncio_mode=auto")

PROJECT = """
    import pytest
    from factloop.testing import aassert_factual, assert_factual, assert_trustworthy

    TEXT = "Trigreth Ribeix was born in the town of Jizein."

    class TestAnswers:
        @pytest.mark.parametrize("word", ["a/b", "../../a b"])
        def test_holds(self, word):
            assert_factual(TEXT, min_precision=1.0, min_supported=1)

    async def test_in_a_running_loop():
        assert_factual(TEXT, min_precision=1.0)
        await aassert_factual(TEXT, min_precision=1.0)

    @pytest.mark.xfail(strict=True)
    def test_expected_to_fail():
        assert_factual("Trigreth Ribeix was born in the town of Zunult.")

    def test_own_checker(factchecker, factloop_recording):
        assert factchecker.check(TEXT).counts.supported == 1
        assert_factual(TEXT, checker=factchecker)
        assert factloop_recording.path.parent.name == "test_project"

    def test_fails():
        assert_factual("Trigreth Ribeix was born in the town of Zunult.")

    def test_offline(monkeypatch):
        assert True
"""


@pytest.fixture(scope="module", autouse=True)
def _loaded(running: Simulator, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Runs two checks, so that what they import is loaded before any project runs.

    Each in-process run forgets modules that it was the first to import. Importing `openai` a second time would create
    duplicate classes and break every later test of the process.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**running.environment, "OPENAI_BASE_URL": running.base_url}.items():
            patch.setenv(name, value)
        for model in ("openai:sim", None):
            checker = FactChecker(model, docs=EXAMPLE / "documents", cache_dir=tmp_path_factory.mktemp("cache"))
            assert checker.check("Rome lies on the Tiber.").claims


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.startswith(("FACTLOOP_", "OPENAI_", "SERPER_", "PYTEST_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("FACTLOOP_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini(
        """
        [pytest]
        asyncio_default_fixture_loop_scope = function
        filterwarnings = error
        factloop_model = openai:sim
        factloop_docs = documents
        """
    )
    shutil.copytree(EXAMPLE / "documents", pytester.path / "documents")
    return pytester


def written(project: pytest.Pytester) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (project.path / "recordings").rglob("*") if path.is_file()}


@pytest.mark.process
def test_what_is_recorded_once_is_replayed_in_any_process(
    project: pytest.Pytester, sim: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.makepyfile(test_project=PROJECT)
    monkeypatch.setenv("OPENAI_BASE_URL", sim.base_url)
    recorded = project.runpytest_inprocess("--factloop-record", "-p", "no:cacheprovider", "-o", "asyncio_mode=auto")
    recorded.assert_outcomes(passed=5, xfailed=1, failed=1)
    files, requests = written(project), sim.stats().model.requests
    assert sorted(files) == [
        *sorted(f"{file_name(f'TestAnswers.test_holds[{word}]')}.jsonl" for word in ("a/b", "../../a b")),
        "test_expected_to_fail.jsonl",
        "test_in_a_running_loop.jsonl",
        "test_own_checker.jsonl",
    ]
    for name in (*sim.environment, "OPENAI_BASE_URL"):
        monkeypatch.delenv(name)
    project.runpytest_inprocess(*OFF).assert_outcomes(passed=5, xfailed=1, failed=1)
    distributed = project.runpytest_subprocess(*OFF, "-n", "1")
    distributed.assert_outcomes(passed=5, xfailed=1, failed=1)
    assert written(project) == files
    assert sim.stats().model.requests == requests


def test_a_test_without_a_recording_fails_with_the_way_to_make_it(project: pytest.Pytester, sim: Simulator) -> None:
    project.makepyfile(
        test_x="""
        from factloop.testing import assert_factual

        def test_new():
            assert_factual("Rome lies on the Tiber.")
        """
    )
    result = project.runpytest_inprocess(*OFF)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *RecordingMissing: no recording of this request (model openai:sim, GroundedFacts*"])
    result.stdout.fnmatch_lines(["E *Record it: pytest test_x.py::test_new --factloop-record"])
    result.stdout.no_fnmatch_line("*langgraph*")  # none of our frames, and none of the graph's
    result.stdout.no_fnmatch_line("*During task*")
    assert sim.stats().model.requests == 0
    assert written(project) == {}


def test_only_new_answers_are_asked_for(
    project: pytest.Pytester, sim: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", sim.base_url)
    test = """
        from factloop.testing import assert_factual

        def test_x():
            assert_factual("Trigreth Ribeix was born in the town of Jizein. {}", max_unscored=None)
        """
    project.makepyfile(test_x=test.format(""))
    project.runpytest_inprocess("--factloop-record=all", "-p", "no:cacheprovider").assert_outcomes(passed=1)
    (before,) = written(project).values()
    project.makepyfile(test_x=test.format("Rome is a city."))
    sim.reset()
    result = project.runpytest_inprocess("--factloop-record=new", "-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    (after,) = written(project).values()
    assert set(before.splitlines()) < set(after.splitlines())
    assert sim.stats().model.requests == len(after.splitlines()) - len(before.splitlines())


def test_a_folder_that_cannot_be_written_is_an_error_before_anything_is_asked(
    project: pytest.Pytester, sim: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", sim.base_url)
    (project.path / "recordings").write_text("a file")
    project.makepyfile(
        test_x="""
        from factloop.testing import assert_factual

        def test_x():
            assert_factual("Rome lies on the Tiber.")
        """
    )
    result = project.runpytest_inprocess("--factloop-record", "-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *ConfigError: *cannot write *test_x.jsonl*"])
    assert sim.stats().model.requests == 0


def test_a_path_after_the_option_is_not_taken_for_its_value(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--factloop-record", "tests")
    result.stderr.fnmatch_lines(["*must be 'all' or 'new', not 'tests'; *: pytest tests --factloop-record"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.process
def test_the_example_passes_without_key_or_network() -> None:
    files = {path: path.read_bytes() for path in EXAMPLE.rglob("*.jsonl")}
    command = [sys.executable, "-m", "pytest", str(EXAMPLE), "-q", "-W", "error", *OFF]
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    command += ["-o", "asyncio_default_fixture_loop_scope=function"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout
    assert "5 passed" in done.stdout
    assert {path: path.read_bytes() for path in EXAMPLE.rglob("*.jsonl")} == files
    assert len(files) == 5


@pytest.mark.process
def test_loading_the_plugin_loads_nothing_heavy() -> None:
    heavy = ("langchain_core", "langgraph", "pydantic", "numpy", "spacy", "openai", "factloop.checking.checker")
    code = f"import sys, factloop.integrations.pytest.plugin; print([n for n in {heavy!r} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("test_x", "test_x"),
        ("TestA.test_x", "TestA.test_x"),
        ("test_x[1]", "test_x-1-"),
        ("test_x[../../etc/passwd]", "test_x-..-..-etc-passwd-"),
        ("test_x[\\x00\n]", "test_x-x00-"),
        ("..", ""),
        ("", ""),
        ("x" * 300, "x" * 100 + "-"),
    ],
)
def test_names_of_files_are_safe_and_short(name: str, expected: str) -> None:
    made = file_name(name)
    assert made.startswith(expected)
    assert "/" not in made
    assert made.strip(".")
    assert len(made) <= 109


def test_no_two_tests_share_a_file() -> None:
    names = ["test_x[a/b]", "test_x[a-b]", "test_x[a b]", "test_x[A-B]", "test_x-a-b", "test_x.a-b", "test_x"]
    assert len({file_name(name).casefold() for name in names}) == len(names)
