"""Checks of the page's files, without a browser."""

from __future__ import annotations

import re

import pytest

from factloop.reports.status import NO_CLAIM_WORDS, REASON_WORDS, Status
from factloop.service.pages import INDEX, load_assets

ASSETS = load_assets()
SCRIPTS = {name: asset.body.decode() for name, asset in ASSETS.items() if name.endswith(".js")}
STYLES = {name: asset.body.decode() for name, asset in ASSETS.items() if name.endswith(".css")}
PAGE = ASSETS[INDEX].body.decode()
TEXT_AS_CODE = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setHTMLUnsafe"
    r"|createContextualFragment|DOMParser|srcdoc|setAttribute\(\"on"
)
ELSEWHERE = re.compile(r"(?:https?:)?//[a-z0-9]+\.[a-z0-9.]+", re.IGNORECASE)
NAMESPACE = "http://www.w3.org/2000/svg"


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_script_makes_markup_or_code_of_text(name: str) -> None:
    assert TEXT_AS_CODE.findall(SCRIPTS[name]) == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_imports_what_is_served_and_what_is_there(name: str) -> None:
    imports = re.findall(r"^import \{ ([^}]+) \} from \"\./([^\"]+)\";$", SCRIPTS[name], re.MULTILINE)
    assert SCRIPTS[name].count("import ") == len(imports)
    for names, module in imports:
        for imported in names.split(", "):
            exported = rf"export (?:async )?(?:const|class|function) {imported}\b"
            assert re.search(exported, SCRIPTS[module]), f"{imported} of {module}"
            assert len(re.findall(rf"\b{imported}\b", SCRIPTS[name])) > 1, f"{imported} is not used"


def test_the_page_loads_all_of_its_files_and_no_others() -> None:
    imported = {module for text in SCRIPTS.values() for module in re.findall(r"from \"\./([^\"]+)\"", text)}
    loaded = set(re.findall(r"(?:href|src)=\"assets/([^\"]+)\"", PAGE))
    assert loaded | imported == set(ASSETS) - {INDEX}


def test_nothing_stands_inline_and_nothing_comes_from_elsewhere() -> None:
    assert "<style" not in PAGE
    assert " style=" not in PAGE
    assert not re.search(r"<script[^>]*>[^<]", PAGE)
    assert not re.search(r"\son[a-z]+=", PAGE)
    for name, text in {INDEX: PAGE, **SCRIPTS, **STYLES}.items():
        assert ELSEWHERE.findall(text.replace(NAMESPACE, "")) == [], name


def test_words_and_signs_are_those_of_the_reports() -> None:
    words = SCRIPTS["words.js"]
    for status in Status:
        assert f'{status.value}: {{ words: "{status.words}", symbol: "{status.symbol}" }}' in words
    for reason, said in REASON_WORDS.items():
        assert f'{reason.value}: "{said}"' in words
    for why, said in NO_CLAIM_WORDS.items():
        assert f'{why.value}: ["{said}", ' in words
