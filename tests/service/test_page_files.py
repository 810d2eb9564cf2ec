from __future__ import annotations

import re

from factloop.service.pages import INDEX, load_assets

ASSETS = {name: asset.body.decode() for name, asset in load_assets().items()}
SCRIPTS = {name: text for name, text in ASSETS.items() if name.endswith(".js")}
TEXT_AS_CODE = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setHTMLUnsafe"
    r"|createContextualFragment|DOMParser|srcdoc|setAttribute\(\"on"
)


def test_scripts_make_no_markup_or_code_of_text_and_import_what_is_there() -> None:
    for name, text in SCRIPTS.items():
        assert TEXT_AS_CODE.findall(text) == []
        for names, module in re.findall(r"^import \{ ([^}]+) \} from \"\./([^\"]+)\";$", text, re.MULTILINE):
            for imported in names.split(", "):
                assert re.search(rf"export (?:async )?(?:const|class|function) {imported}\b", SCRIPTS[module])
                assert len(re.findall(rf"\b{imported}\b", text)) > 1, f"{imported} is not used in {name}"


def test_the_page_loads_its_own_files_and_all_of_them() -> None:
    imported = {module for text in SCRIPTS.values() for module in re.findall(r"from \"\./([^\"]+)\"", text)}
    loaded = set(re.findall(r"(?:href|src)=\"assets/([^\"]+)\"", ASSETS[INDEX]))
    assert loaded | imported == set(ASSETS) - {INDEX}
    assert not re.search(r"<style|<script[^>]*>[^<]|\son[a-z]+=| style=", ASSETS[INDEX])
    for text in ASSETS.values():
        assert not re.search(r"(?:https?:)?//[a-z0-9]+\.[a-z0-9.]+", text.replace("http://www.w3.org/2000/svg", ""))
