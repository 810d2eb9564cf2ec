"""Wrong input to any command gives one line, exit code 2, no spending, and nothing written or overwritten."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.command import Command
from tests.simulator import Simulator

LONG = "n" * 300  # more bytes than a file name may have
WORDS = {
    "LONG": LONG,
    "ONLINE": "--model openai:sim --search serper",
    "SUBJECT": "--subject-model openai:sim",
    "ONE": "--question Who? --response x",
    "TEMPLE": "--question 'Who built it?' --response 'King Solomon built it.'",
}
TABLE = {
    "check": """
        answer.md ONLINE --docs docs --recording /dev/zero      | named pipe
        answer.md ONLINE --docs docs --cascade /dev/zero      | named pipe
        /dev/zero                                         | /dev/zero: cannot be read (this is a named pipe or a device
        nope.md                                           | nope.md: no such file
        empty                                             | empty: this is a folder
        binary.md                                         | binary.md: this is a binary file
        latin-1.md                                        | latin-1.md: this is not UTF-8 text & iconv
        LONG                                              | name too long
        answer.md --docs bad_pdf                          | broken.pdf
        answer.md --docs empty                            | empty
        answer.md --docs nowhere                          | nowhere
        answer.md --docs .                                | answer.md & would support itself
        answer.md --docs ''                               | the path is empty
        answer.md --k 0                                   | command line: k = 0: & greater than or equal to 1
        answer.md ONLINE --budget-usd 1                   | --price-in
        answer.md ONLINE --price-in 1                     | set both --price-in and --price-out
        answer.md --plan quick                            | plan = 'quick' & 'paper', 'fused' or 'grounded'
        answer.md --docs docs --plan safe                 | the `safe` plan uses a single chat model
        answer.md --search bing                           | 'bing' & serper, wikipedia, searxng
        answer.md --docs nowhere --dry-run                | nowhere
        answer.md --model nobody:x --search serper        | nobody
        answer.md --model openai:sim                      | --docs & --search
        answer.md ONLINE --base-url 'not a url'           | base_url = 'not a url' & http:// or https://
        answer.md --base-url http://127.0.0.1:1/v1        | --model
        answer.md ONLINE --prompts bad_prompts            | mine.md & front matter
        answer.md ONLINE --docs docs --cascade mine.txt   | this is not a cascade file
        answer.md --fail-under 2                          | --fail-under 2: & less than or equal to 1
        answer.md --docs docs --recording-mode replay     | `recording_mode` needs a recording & --recording FILE
        answer.md --docs docs --recording no.json         | the recording no.json does not exist & --recording-mode new
        answer.md --run-dir other_run                     | other_run is neither empty nor a run directory
        answer.md --run-dir binary.md                     | binary.md & run directory
        answer.md --json no/where.json                    | cannot write no/where.json: the folder & not exist
        answer.md --html empty                            | cannot write empty: this is a folder; use a file
        answer.md --html LONG/x                           | name too long
        answer.md --json answer.md                        | answer.md would overwrite
        answer.md --docs mine.txt --html ./mine.txt       | would overwrite mine.txt
        answer.md --json x --html ./x                     | two outputs would be written to ./x
        answer.md --json - --html -                       | only one output can go to standard output
        answer.md --json run --run-dir run                | two outputs would be written to run
        answer.md --k many                                | ; see `factloop check --help`
        answer.md --serach x                              | no such option: --serach (Possible options:
        answer.md --corpus x                              | no such option: --corpus; for documents, use --docs
        answer.md b.md                                    | got unexpected extra argument(s) (b.md)
    """,
    "correct": """
        answer.md --docs docs --out answer.md             | answer.md would overwrite answer.md
        answer.md --docs docs --out - --json -            | only one output can go to standard output
        answer.md --docs docs --out nowhere/x.md          | cannot write nowhere/x.md
        answer.md --docs docs --max-rounds 0              | --max-rounds 0
        answer.md --docs docs --unsupported drop          | unsupported = 'drop': & 'mark', 'remove' or 'keep'
    """,
    "trust": """
        /dev/zero SUBJECT                                 | named pipe
        SUBJECT                                           | pass a file of answers
        qa.jsonl ONE SUBJECT                              | pass a file of answers
        qa.jsonl --response x SUBJECT                     | --response needs --question
        --question Who? SUBJECT                           | --response & --answer
        --question Who? --response ' ' SUBJECT            | --response must be non-empty text
        --question '' --response x SUBJECT                | --question must be non-empty text
        qa.jsonl                                          | nothing to score the answers by & --subject-model & --corpus
        qa.jsonl --answer --corpus docs                   | --answer needs a subject
        nope.jsonl SUBJECT                                | nope.jsonl: no such file
        mixed.csv SUBJECT                                 | mixed.csv:2: field 'response'
        qa.jsonl SUBJECT --max-checks 0                   | command line: max_checks = 0
        qa.jsonl SUBJECT --set window=0                   | window = '0'
        qa.jsonl SUBJECT --set judge_base_url=x           | judge_base_url = 'x'
        qa.jsonl --corpus docs --nli x --judge-model openai:sim | not both
        qa.jsonl SUBJECT --corpus nowhere                 | nowhere
        qa.jsonl SUBJECT --corpus nowhere --dry-run       | nowhere
        qa.jsonl SUBJECT --corpus .                       | qa.jsonl & support itself
        qa.jsonl SUBJECT --kb nowhere.kb                  | nowhere.kb & factloop research kb build
        qa.jsonl SUBJECT --kb qa.jsonl                    | qa.jsonl & factloop research kb build
        qa.jsonl SUBJECT --prompts nowhere                | nowhere
        qa.jsonl SUBJECT --corpus docs/ada.txt --html docs/ada.txt | would overwrite docs/ada.txt
        qa.jsonl SUBJECT --kb mine.txt --json mine.txt    | would overwrite mine.txt
        qa.jsonl SUBJECT --docs docs                      | no such option: --docs; for documents, use --corpus
        qa.jsonl SUBJECT --search serper                  | --search needs --long-form
        ONE --long-form SUBJECT                           | --long-form accepts a file
        answer.md --long-form                             | --long-form needs a subject
        answer.md --long-form --fail-under 1 SUBJECT      | --long-form accepts a file
        answer.md --long-form --dry-run SUBJECT           | --dry-run cannot be used with --long-form
        answer.md --long-form SUBJECT --judge-model openai:sim --search serper --kb nowhere.kb | nowhere.kb
    """,
    "eval": """
        responses.jsonl --calibration /dev/zero           | named pipe
        /dev/zero                                         | named pipe
        nope.jsonl                                        | nope.jsonl: no such file
        bad_row.jsonl --limit 1                           | bad_row.jsonl:2: field 'response': must be set
        bad_row.jsonl --dry-run                           | bad_row.jsonl:2: field 'response': must be set
        responses.jsonl --column prompt                   | --column prompt: must be FIELD=COLUMN
        responses.jsonl --column promt=q                  | unknown field 'promt'; the fields are id
        responses.jsonl --column id=a --column id=b       | id is set twice
        responses.jsonl --column prompt=q                 | responses.jsonl:1: field 'q': there is no
        responses.jsonl --k 0                             | --k 0: must be a positive whole number, median or maximum
        responses.jsonl --k ²                             | a positive whole number
        responses.jsonl --fail-under nan                  | --fail-under nan
        responses.jsonl --workers 0                       | --workers 0
        responses.jsonl --docs .                          | support itself
        responses.jsonl --model openai:sim                | there is nothing to check against
        responses.jsonl --run-dir docs                    | docs is neither empty nor a run directory
        responses.jsonl --calibration nowhere.jsonl       | nowhere.jsonl
        responses.jsonl --evaluator x                     | also set --calibration
        factscore --data bio.jsonl ONLINE --out p.jsonl   | also set --run-dir
        factscore --data nope.jsonl ONLINE                | nope.jsonl
        factscore --data bio.jsonl ONLINE --system nobody | no responses by nobody
        factscore --data bio.jsonl ONLINE --docs bio.jsonl | would support itself
        mixedqa --data mixedqa.jsonl                      | nothing to score the answers by
        mixedqa --data mixed_bad.jsonl SUBJECT            | mixed_bad.jsonl:1: field 'responses[0].human_correct'
        mixedqa --data mixedqa.jsonl SUBJECT --json mixedqa.jsonl | would overwrite
        mixedqa --data mixedqa.jsonl SUBJECT --corpus .   | support itself
        mixedqa --data mixedqa.jsonl SUBJECT --system no  | no responses by no
        mixedqa --data mixed_empty.jsonl SUBJECT          | mixed_empty.jsonl: every response is empty
        mixedqa --data mixedqa.jsonl --subject a=x:y      | no subject model for b: set one (--subject b=MODEL)
        mixedqa --data mixedqa.jsonl --subject a          | must be SYSTEM=MODEL
        mixedqa --data mixedqa.jsonl --subject a=x:y --subject a=x:z | a is set twice
        mixedqa --data mixedqa.jsonl --subject a=x:y@http:// | --subject
        mixedqa --data mixedqa.jsonl --subject a=x:y SUBJECT | one model for all systems
    """,
    "serve --folder ../service --port 0": """
        --api-key-file /dev/zero                          | named pipe
        --host 0.0.0.0                                    | needs an API key
        --api-key-file absent                             | cannot read --api-key-file absent
        --host 0.0.0.0 --api-key-file keys                | API key 1 must have at least 16
        --documents lives                                 | must be NAME=PATH
        --documents a/b=docs                              | --documents a/b
        --documents lives=absent                          | absent
        --docs absent                                     | absent
        --results absent                                  | --results absent: must be a folder
        --database mysql://u:secret@h/d                   | must be sqlite:///FILE
        --set rate=often                                  | rate = 'often'
        --set rate=0/minute                               | rate = '0/minute'
        --set 'rate=5 per 1000 years'                     | up to 36,500 days
        --set max_body_mb=inf                             | max_body_mb = 'inf': input should be less than
        --set max_jobs_together=9223372036854775808       | max_jobs_together
        --budget-usd 1 --set budget_usd_per_day=inf       | budget_usd_per_day
        --search nonsense                                 | unknown search
        --base-url http://localhost:1/v1                  | --model
        --corpus absent                                   | absent
    """,
    "mcp": """
        --api-key-file keys.txt                           | need --transport http
        --transport http --host 0.0.0.0                   | needs an API key, since other machines can reach it
        --transport http --port 70000                     | --port 70000
        --transport http --api-key-file none.txt          | cannot read --api-key-file
        --docs nowhere                                    | nowhere
    """,
    "prompts": """
        show safe/ratin                                   | no prompt is named 'safe/ratin'; did you mean 'safe/rating'?
        show zz                                           | 'zz'; run `factloop prompts list` to see all names
        list --prompts nowhere                            | nowhere is not a folder
        lint nowhere.md                                   | cannot read nowhere.md: cannot be read (No such file
        lint mine.txt --json mine.txt                     | would overwrite
        new ../x --from safe/rating --out variants        | '../x' may contain only
        new x --from nowhere --out variants               | nowhere is neither a packaged prompt
    """,
    "research audit": """
        nope.jsonl                                        | nope.jsonl: cannot be read (No such file or directory)
        empty.jsonl                                       | empty.jsonl: the file has no rows
        p.jsonl --evaluator gpt                           | p.jsonl has no scores by gpt, only by judge
        p.jsonl --json p.jsonl                            | p.jsonl would overwrite p.jsonl
        p.jsonl --threshold 1.1                           | --threshold 1.1
        p.jsonl --level 1                                 | --level 1
    """,
    "research compare": """
        nowhere nope                                      | nowhere is not a run
        nowhere --system x --system x --system x          | can be used at most twice
        nowhere nope --k 0                                | --k
        nowhere nope --level nan                          | --level nan
        nowhere nope --html none/page.html                | cannot write none/page.html
    """,
    "research cascade tune pairs.jsonl": """
        --out c.json --max-error 0                        | --max-error 0: input should be greater than 0
        --out c.json --max-error nan                      | --max-error nan
        --out c.json --verifier llm:openai:x              | calls a server
        --out -                                           | --out must be a file
        --out pairs.jsonl                                 | would overwrite pairs.jsonl
    """,
    "research distractors": """
        --question '' --response x                        | question must be non-empty text
        TEMPLE --kb .                                     | no entity table at .
        TEMPLE --kb mine.txt                              | mine.txt is not an entity table
        TEMPLE --dbpedia --set spotlight_url=nowhere      | spotlight_url = 'nowhere'
        TEMPLE --timeout 0                                | timeout_s = 0
        TEMPLE --n 0                                      | --n 0
        TEMPLE --distractors model                        | needs a judge model; set --judge-model
    """,
    "research generate": """
        longfact --model openai:sim --data rows.jsonl --out - | --out must be a file
        longfact --model openai:sim --data rows.jsonl --out rows.jsonl | rows.jsonl would overwrite
        longfact --model openai:sim --data rows.jsonl --out . | cannot write .
        longfact --model openai:sim --data rows.jsonl --out o --system ' ' | --system must not be blank
        longfact --model openai:sim --data bad_row.jsonl --out o --n 0 | --n 0
        longfact --model openai:sim --data rows.jsonl --out o --part wice:dev | wice:dev: this data set has no prompts
        prompts --model openai:sim --topic x --out mine.txt | already exists, and its prompts were paid for
    """,
    "research kb build": """
        --types nope.nt --labels l.nt --out x.kb          | nope.nt
        --types bad.nt --labels l.nt --out x.kb           | bad.nt
        --types l.nt --labels l.nt --out x.kb             | l.nt & rdf:type
        --types t.nt --labels l.nt --out ./l.nt           | would overwrite l.nt
        --types t.nt --labels l.nt --popularity mine.txt --out mine.txt | would overwrite mine.txt
        --types t.nt --labels l.nt --out -                | standard output
    """,
    "research reproduce": """
        vwc:table-99                                      | unknown entry 'vwc:table-99'
        vwc:table-11 --data nowhere                       | nowhere: no such file or folder
        vwc:table-11 --results p.jsonl --evaluator mini   | --evaluator mini: must be PAPER=OURS
        vwc:table-11 --results p.jsonl --evaluator A=b    | contains no scores by b; choose from judge
        vwc:table-11 --evaluator Bespoke-7B=mini          | --evaluator refers to evaluators in --results
        trustscore:table-3 --results p.jsonl              | trustscore:table-3 does not use the output
        safe:agreement --results p.jsonl                  | p.jsonl: & this is not a RunSummary
        list --json - --html -                            | only one output can go to standard output
    """,
    "research verify": """
        pairs.jsonl --dataset wice:dev --verifier baseline --out o | pass a file of pairs, or a data set with --dataset
        pairs.jsonl --data x --verifier baseline --out o  | --data and --documents need --dataset
        --dataset wice:dev --column a=b --verifier baseline --out o | --column and --label need a file of pairs
        pairs.jsonl --label good=2 --verifier baseline --out o | --label good=2: the label must be 0 or 1
        --dataset wise:dev --verifier baseline --out o    | unknown data set 'wise'
        --dataset wice --verifier baseline --out o        | wice has no part ''
        pairs.jsonl --verifier baseline --out -           | --out must be a file, so that you can resume a stopped run
        pairs.jsonl --verifier baseline --out pairs.jsonl | pairs.jsonl would overwrite
        pairs.jsonl --verifier gpt --out o                | unknown judge 'gpt'
    """,
    "research data": """
        list --docs x                                     | no such option: --docs; see `factloop research data list
        gte                                               | no such command 'gte'
        get longfakt                                      | unknown data set 'longfakt'
        get longfact --part subjects                      | longfact has no part 'subjects'; choose one of objects
        get longfact mixedqa --part objects               | --part needs exactly one data set
        join rows.jsonl --source rows.jsonl --out x.jsonl | must be KIND=PATH
    """,
    "research experiment": """
        /dev/zero                                         | named pipe
        plan.yaml --json rows.jsonl                       | rows.jsonl would overwrite
        plan.yaml --json plan.yaml                        | plan.yaml would overwrite
        plan.yaml --level 2                               | --level 2: input should be less than 1
    """,
    "outputs among what is read": """
        check answer.md --docs docs --html docs/ada.txt   | docs/ada.txt is inside docs, whose files are inputs
        check answer.md --docs docs --json docs/new.json  | is inside docs
        check answer.md --docs docs --run-dir docs/run    | is inside docs
        check answer.md --docs docs --recording docs/a.jsonl --recording-mode record | is inside docs
        check answer.md --docs docs --html linked/ada.txt | is inside docs
        check answer.md --docs docs --set cache_dir=docs/cache | docs/cache is inside docs
        check answer.md --docs docs/*.txt --json docs/new.txt | docs/new.txt would match docs/*.txt
        check answer.md --docs docs/*.txt --json linked/new.txt | linked/new.txt would match docs/*.txt
        check answer.md --docs docs/**/*.jsonl --run-dir docs/run | docs/run would match docs/**/*.jsonl
        check answer.md --prompts bad_prompts --json bad_prompts/mine.md | is inside bad_prompts
        correct answer.md --docs docs --out docs/deep/../new.md | is inside docs
        eval responses.jsonl --docs docs --json docs/new.json | is inside docs
        eval responses.jsonl --docs docs --set cache_dir=docs/cache | is inside docs
        trust qa.jsonl --corpus docs --json docs/ada.txt  | is inside docs
        trust qa.jsonl --corpus **/*.txt --json docs/deep/er.txt | would match **/*.txt
        research experiment plan.yaml --html docs/ada.txt | is inside docs
        doctor --docs docs --json docs/ada.txt            | is inside docs
    """,
    "outputs in a run directory": """
        check answer.md --docs docs --run-dir kept --json kept/x | kept/x is inside the run directory kept
        correct answer.md --docs docs --run-dir kept --json kept/x | is inside the run directory
        eval responses.jsonl --docs docs --run-dir kept --json kept/x | is inside the run directory
        eval factscore --data bio.jsonl --docs docs --run-dir kept --json kept/x | is inside the run directory
        eval mixedqa --data mixedqa.jsonl --corpus docs --run-dir kept --json kept/x | is inside the run directory
        trust qa.jsonl --corpus docs --run-dir kept --json kept/x | is inside the run directory
        research experiment plan.yaml --run-dir kept --json kept/x | is inside the run directory
        research generate prompts --topic x --out p.jsonl --run-dir kept --json kept/x | is inside the run directory
        research verify pairs.jsonl --verifier baseline --out o --json o.run/x | is inside the run directory
    """,
    "": """
        chekc                                             | no such command 'chekc'
        check                                             | missing argument 'ANSWER'; see `factloop check
        doctor --set timeout_s=-1                         | timeout_s = '-1'
        cache show --set cache_dir=mine.txt               | mine.txt is not a folder, so it cannot contain the cache
        cache clear --set cache_dir=mine.txt              | mine.txt is not a folder, so it cannot contain the cache
    """,
}
ROWS: list[tuple[str, str]] = [
    (f"{'' if command.startswith('outputs') else command} {row.split(' | ')[0].strip()}".strip(), row.split(" | ")[1])
    for command, rows in TABLE.items()
    for row in rows.strip().splitlines()
]
FIRST = {"dataset": "d", "system": "s", "response_id": "r", "claim_id": "c", "label": 1, "evaluators": {"judge": 1.0}}
LABELLED = {"question": "Who?", "reference_answers": ["x"], "source": "test"}
ROW = "<http://dbpedia.org/resource/N> <http://www.w3.org/"
FILES: dict[str, bytes | list[dict[str, object]]] = {
    "mine.txt": b"My own words.",
    "keys": b"secret\n",
    "binary.md": bytes(range(256)) * 20,
    "latin-1.md": "Où est la forêt ?".encode("latin-1"),
    "bad_pdf/broken.pdf": b"%PDF-1.7 and then nothing of the kind",
    "bad_prompts/mine.md": b"no front matter",
    "other_run/notes.txt": b"mine",
    "docs/deep/er.txt": b"She died in 1852.",
    "kept/journal.sqlite": b"paid for",
    "plan.yaml": b"""name: p\ndata: rows.jsonl\nbaseline: a\nsettings: {docs: [docs]}
variants: {a: {}, b: {max_searches: 1}}\n""",
    "empty.jsonl": b"",
    "mixed.csv": b"id,question,response\n1,Who?,\n2,Who?,x\n",
    "qa.jsonl": [{"id": "1", "question": "Who?", "response": "Ada"}],
    "rows.jsonl": [{"prompt": "Who?"}],
    "bad_row.jsonl": [{"prompt": "Who?", "response": "Ada."}, {"prompt": "Who?"}],
    "responses.jsonl": [{"prompt": "Who was Ada?", "response": "Ada Lovelace was born in London."}],
    "bio.jsonl": [{"system": "s", "topic": "t", "prompt": "Who?", "response": "Ada.", "sentences": None}],
    "mixedqa.jsonl": [{**LABELLED, "responses": [{"system": one, "text": "x", "human_correct": 1} for one in "ab"]}],
    "mixed_bad.jsonl": [{**LABELLED, "responses": [{"system": "a", "text": "x", "human_correct": 2}]}],
    "mixed_empty.jsonl": [{**LABELLED, "responses": [{"system": "a", "text": " ", "human_correct": 0}]}],
    "p.jsonl": [FIRST],
    "pairs.jsonl": [{"system": "s", "claim": "Ada paints.", "document": "Ada paints.", "label": 1}],
    "t.nt": f"{ROW}1999/02/22-rdf-syntax-ns#type> <http://dbpedia.org/ontology/Bay> .\n".encode(),
    "l.nt": f'{ROW}2000/01/rdf-schema#label> "Quill Bay"@en .\n'.encode(),
    "bad.nt": b"<a> no triple\n",
}


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(autouse=True)
def files(home: Path, answer: Path, docs: Path) -> None:
    assert (answer.exists(), docs.exists()) == (True, True)
    for name, content in FILES.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, bytes) else "".join(f"{json.dumps(row)}\n" for row in content).encode()
        (home / name).write_bytes(text)
    (home / "empty").mkdir()
    (home / "linked").symlink_to("docs")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        *(pytest.param(arguments, said.split(" & "), id=arguments[:80]) for arguments, said in ROWS),
        pytest.param("check no\0pe.md", ["cannot be read"], id="NUL in the name"),
        pytest.param("check answer.md --json no\0pe.json", ["cannot write "], id="NUL in the name of an output"),
        pytest.param(
            "check answer.md --question 'half \udcff'", ["question contains half a character"], id="half a character"
        ),
        pytest.param(
            "check answer.md --docs docs --question 'O\udcc3\udcb9 ?'",
            ["at position 1; if the text came from the terminal, set LC_ALL=C.UTF-8"],
            id="as Python gives Où under LC_ALL=C",
        ),
        pytest.param("check '\x1b[31mnope\n.md'", ["␛[31mnope"], id="escapes are shown and not obeyed"),
        pytest.param(
            "research distractors TEMPLE --embeddings nowhere", ["nowhere"], id="embeddings", marks=pytest.mark.torch
        ),
        pytest.param(
            "trust qa.jsonl SUBJECT --corpus docs --nli nowhere", ["nowhere"], id="nli", marks=pytest.mark.torch
        ),
    ],
)
def test_it_is_named_in_one_line_and_nothing_is_spent(
    factloop: Command, sim: Simulator, home: Path, arguments: str, parts: list[str]
) -> None:
    for name, meaning in WORDS.items():
        arguments = arguments.replace(name, meaning)
    before = files_of(home)
    result = factloop(*shlex.split(arguments))
    assert (result.code, result.out) == (2, "")
    assert result.complaint.startswith("factloop: ")
    assert [part for part in parts if part.strip() not in result.complaint] == [], result.complaint
    assert "secret" not in result.complaint
    assert sim.stats().stages == {}
    assert files_of(home) == before


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("check answer.md ONLINE", "OPENAI_API_KEY"),
        ("check answer.md ONLINE", "SERPER_API_KEY"),
        ("serve --folder ../service --port 0 --model openai:gpt-4o-mini", "OPENAI_API_KEY"),
        ("research verify pairs.jsonl --verifier llm:openai:gpt-4o --out o", "OPENAI_API_KEY"),
    ],
)
def test_a_missing_key(
    factloop: Command, sim: Simulator, monkeypatch: pytest.MonkeyPatch, command: str, name: str
) -> None:
    for variable in (name, "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable)
    result = factloop(*shlex.split(command.replace("ONLINE", WORDS["ONLINE"])))
    assert (result.code, name in result.complaint, sim.stats().stages) == (2, True, {})


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"k = [", "cannot read"),
        (b"\xff", "cannot read"),
        (b"timeouts = 1", "there is no setting 'timeouts'; did you mean 'timeout_s'?"),
        (b"timeout_s = -1", "timeout_s = -1"),
        (b"[check]\nk = 1", "there is no setting 'check'"),
    ],
)
def test_a_bad_settings_file(factloop: Command, home: Path, content: bytes, named: str) -> None:
    (home / "factloop.toml").write_bytes(content)
    for command in (("check", "answer.md"), ("trust", "qa.jsonl"), ("doctor",)):
        result = factloop(*command)
        assert (result.code, "factloop.toml" in result.complaint, named in result.complaint) == (2, True, True)


@pytest.mark.usefixtures("sim")
def test_a_run_directory_of_another_configuration(factloop: Command, home: Path) -> None:
    trust = ("trust", "qa.jsonl", "--subject-model", "openai:sim", "--max-checks", 2, "--run-dir", "scored", "-q")
    assert factloop(*trust).code == 0
    before = files_of(home / "scored")
    for change, named in (
        (("--seed", 1), "seed"),
        (("--temperature", 1), "subject_sampling"),
        (("--set", "logprobs=no"), "logprobs"),
        (("--max-checks", 3), "max_checks"),
    ):
        result = factloop(*trust, *change)
        assert (result.code, f"a different configuration (changed: {named}" in result.complaint) == (2, True)
    assert files_of(home / "scored") == before
    assert factloop(*trust, "--set", "window=5").code == 0
