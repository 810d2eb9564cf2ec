from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from factloop.core.findings import Finding
from factloop.core.records import FactualityReport
from factloop.correction.drafts import Draft, Wording
from factloop.correction.edits import apply, edits_of, holds_up
from factloop.correction.marks import MarkPolicy, marked
from factloop.correction.records import Correction, Rejection, Unscored, Unsupported, rewrite
from factloop.correction.sentences import ResponseSentence, core
from factloop.tools.text.sentences import split_sentences
from tests.correction.reports import report_of
from tests.work import LINEAR, growth

Span = tuple[int, int]


def spans_of(text: str) -> list[Span]:
    return [(sentence.start, sentence.end) for sentence in split_sentences(text)]


def without(text: str, *bad: str) -> str:
    spans = spans_of(text)
    chosen = {number: "" for number, (start, end) in enumerate(spans) if any(word in text[start:end] for word in bad)}
    assert chosen
    return apply(text, edits_of(text, spans, chosen))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        # within a paragraph: with the blank behind it, or before it where it is the last
        ("Ann ran. Bad fell. Cid sat.", "Ann ran. Cid sat."),
        ("Ann ran. Bad fell.", "Ann ran."),
        ("Ann ran. Bad fell.\nCid sat there.", "Ann ran.\nCid sat there."),
        ("Ann ran. Bad fell. Bad slept. Cid sat.", "Ann ran. Cid sat."),
        # paragraphs: one gap goes with it
        ("Ann ran.\n\nBad fell.\n\nCid sat.\n", "Ann ran.\n\nCid sat.\n"),
        ("Bad fell.\n\nCid sat.\n", "Cid sat.\n"),
        ("Ann ran.\n\nBad fell.\n", "Ann ran.\n"),
        ("Ann ran.\n\nBad fell.\n\nBad slept.\n\nCid sat.", "Ann ran.\n\nCid sat."),
        ("Ann ran.\r\n\r\nBad fell.\r\n\r\nCid sat.\r\n", "Ann ran.\r\n\r\nCid sat.\r\n"),
        ("Ann ran.\n\n\n\nBad fell.\n\nCid sat.", "Ann ran.\n\n\n\nCid sat."),
        # lists: the marker goes with the item, and stays where the item has more to say
        ("- Ann ran.\n- Bad fell.\n- Cid sat.\n", "- Ann ran.\n- Cid sat.\n"),
        ("Said:\n\n- Ann ran.\n- Bad fell.\n\nCid sat.", "Said:\n\n- Ann ran.\n\nCid sat."),
        ("1. Ann ran.\n2. Bad fell.\n3. Cid sat.", "1. Ann ran.\n3. Cid sat."),
        ("* [x] Ann ran.\n* [ ] Bad fell.\n", "* [x] Ann ran.\n"),
        ("- Bad fell. Cid sat.\n- Dan hid.", "- Cid sat.\n- Dan hid."),
        ("- Ann ran. Bad fell.\n- Dan hid.", "- Ann ran.\n- Dan hid."),
        ("- Bad fell.\n  Cid sat there.\n- Dan hid.", "- Cid sat there.\n- Dan hid."),
        ("- Ann ran.\n  - Bad fell.\n  - Cid sat.\n", "- Ann ran.\n  - Cid sat.\n"),
        # headings, quotes, tables, emphasis, tags
        ("# Title of it\n\nBad fell.\n\nCid sat.", "# Title of it\n\nCid sat."),
        ("> Ann ran.\n> Bad fell.\n", "> Ann ran.\n"),
        ("| Name | Deed |\n|---|---|\n| Ann | ran |\n| Bad | fell |\n", "| Name | Deed |\n|---|---|\n| Ann | ran |\n"),
        ("**Ann ran. Bad fell.** Cid sat.", "**Ann ran.** Cid sat."),
        ("Ann ran. **Bad fell. Bad slept.** Cid sat.", "Ann ran. Cid sat."),
        ("<p>Ann ran. Bad fell.</p>\n<p>Cid sat.</p>", "<p>Ann ran.</p>\n<p>Cid sat.</p>"),
        ("Ann ran [1]. Bad fell [2]. Cid sat.", "Ann ran [1]. Cid sat."),
        # other scripts
        ("安娜跑了。Bad摔倒了。西德坐下。", "安娜跑了。西德坐下。"),
        ("ركضت آنا. سقط Bad هنا. جلس سيد.", "ركضت آنا. جلس سيد."),
        ("Bad fell.", ""),
        ("> Bad fell. [1] \n \n\tBad slept.  \n", ""),
    ],
)
def test_what_goes_with_a_sentence(text: str, left: str) -> None:
    assert without(text, "Bad") == left


def test_a_new_wording_stands_inside_the_marks_of_its_surroundings() -> None:
    text = "**Ann ran. Bad fell.** Cid sat."
    assert apply(text, edits_of(text, spans_of(text), {1: "Bad rose."})) == "**Ann ran. Bad rose.** Cid sat."


@pytest.mark.parametrize(
    ("part", "inner"),
    [
        ("**Ann ran.", "Ann ran."),
        ("Ann ran.**", "Ann ran."),
        ("**Ann** ran.", "**Ann** ran."),
        ("“Ann ran.", "Ann ran."),
        ("Ann (the elder) ran.)", "Ann (the elder) ran."),
        ("<li>Ann ran.", "Ann ran."),
        ("<li>Ann ran.</li>", "<li>Ann ran.</li>"),
        ("Ann ran.</p></div>", "Ann ran."),
        ("*", "*"),
        ("", ""),
    ],
)
def test_marks_whose_other_half_is_elsewhere_are_left_out(part: str, inner: str) -> None:
    start, end = core(f"x{part}y", 1, 1 + len(part))
    assert f"x{part}y"[start:end] == inner


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("| Bad | x | y |\n|---|---|---|\n| a | b | c |", True),
        ("Bad fell\n========\n\nAnn ran.", True),
        ("Bad fell.\n\n---\n\nAnn ran.", False),
        ("Bad fell.", False),
    ],
)
def test_what_the_next_line_rests_on(text: str, holds: bool) -> None:
    assert holds_up(text, spans_of(text)[0]) is holds


_WORDS = st.sampled_from(["Ann", "ran", "to", "Oslo", "安娜", "جلس", "1759", "**bold**", "(then)", "“so”", "x"])
_SENTENCE = st.lists(_WORDS, min_size=2, max_size=5).map(lambda words: f"{' '.join(words).capitalize()}.")
_LEAD = st.sampled_from(["", "- ", "1. ", "> ", "  - ", "## ", "**", "\t", "x. "])
_GAP = st.sampled_from([" ", "  ", "\n", "\n\n", "\r\n\r\n", "\n\n\n", "** ", "", "  \n", " \n \n", ") ", " [1] "])
_TEXT = st.lists(st.tuples(_LEAD, _SENTENCE, _GAP), max_size=12).map(
    lambda items: "".join(part for item in items for part in item)
)


@settings(max_examples=3 * settings().max_examples)
@given(_TEXT, st.data())
def test_untouched_sentences_stay_as_they_are_where_the_draft_says(text: str, data: st.DataObject) -> None:
    spans = spans_of(text)
    assume(spans)
    wanted = data.draw(st.dictionaries(st.integers(0, len(spans) - 1), st.sampled_from(["", "Made anew."]), max_size=6))
    sentences = [ResponseSentence(start, end, ()) for start, end in spans]
    draft = Draft(text, sentences, {number: Wording(one) for number, one in wanted.items()})
    edits, made = draft.edits, draft.text
    assert sorted(number for edit in edits for number in edit.sentences) == sorted(wanted)
    for before, after in pairwise(edits):
        assert before.end <= after.start
    assert rewrite(text, draft.changes) == made
    for number, (sentence, fate) in enumerate(zip(sentences, draft.fates, strict=True)):
        if number not in wanted:
            assert made[fate.start : fate.end] == text[sentence.start : sentence.end]
        else:
            assert made[fate.start : fate.end] == wanted[number]
    assert [fate.start for fate in draft.fates] == sorted(fate.start for fate in draft.fates)


def test_work_is_linear_in_the_sentences() -> None:
    def remove(n_items: int) -> None:
        text = "\n\n".join(f"- Item {n} says this.\n- Bad number {n}. And more of {n}." for n in range(n_items))
        assert without(text, "Bad") == "\n\n".join(f"- Item {n} says this.\n- And more of {n}." for n in range(n_items))

    assert growth(remove, 25) < LINEAR


ANN, BAD, CID, DAN = "Ann ran.", "Bad fell.", "Cid sat.", "Dan hid."
ALL = report_of((ANN, "s"), (BAD, "nc"), (CID, "sn"), (DAN, "u"), ("Eve slept.", "i"), ("Fay wept.", "-"), ("So?", ""))


def text_of(report: FactualityReport, unproven: Unsupported = "mark", unchecked: Unscored = "mark") -> str:
    text, doubts = marked(report, MarkPolicy(unproven, unchecked))
    for doubt in doubts:
        if doubt.mark is not None:
            assert doubt.mark[0] == doubt.span[1]
    return text


@pytest.mark.parametrize(
    ("unproven", "unchecked", "text"),
    [
        (
            "mark",
            "mark",
            "Ann ran. Bad fell. [contradicted] Cid sat. [unverified] Dan hid. [unchecked] Eve slept. [unchecked] "
            "Fay wept. [unchecked] So?",
        ),
        (
            "mark",
            "auto",
            "Ann ran. Bad fell. [contradicted] Cid sat. [unverified] Dan hid. [unchecked] Eve slept. [unchecked] "
            "Fay wept. So?",
        ),
        ("mark", "keep", "Ann ran. Bad fell. [contradicted] Cid sat. [unverified] Dan hid. Eve slept. Fay wept. So?"),
        ("keep", "keep", "Ann ran. Bad fell. [contradicted] Cid sat. Dan hid. Eve slept. Fay wept. So?"),
        # what was to be removed, and stands there all the same, is not passed on as if it had been checked
        ("remove", "keep", "Ann ran. Bad fell. [contradicted] Cid sat. [unverified] Dan hid. Eve slept. Fay wept. So?"),
    ],
)
def test_each_doubt_is_marked_by_the_policy(unproven: Unsupported, unchecked: Unscored, text: str) -> None:
    assert text_of(ALL, unproven, unchecked) == text


def test_every_doubt_is_told_whether_it_is_marked_or_not() -> None:
    text, doubts = marked(ALL, MarkPolicy("keep", "keep"))
    assert [(text[slice(*doubt.span)], doubt.findings, doubt.claims, doubt.mark is None) for doubt in doubts] == [
        (BAD, (Finding.CONTRADICTED, Finding.UNSUPPORTED), ("c2.1", "c2.2"), False),
        (CID, (Finding.UNSUPPORTED,), ("c3.2",), True),
        (DAN, (Finding.UNSCORED,), ("c4.1",), True),
        ("Eve slept.", (Finding.IRRELEVANT,), ("c5.1",), True),
        ("Fay wept.", (Finding.CLAIM_FREE,), (), True),
    ]


@pytest.mark.parametrize(
    ("response", "sentence", "text"),
    [
        ("- Ann ran.\n- Bad fell.\n", "Ann ran.", "- Ann ran. [unverified]\n- Bad fell.\n"),
        ("**Ann ran.** So.", "Ann ran.", "**Ann ran. [unverified]** So."),
        ("| Ann | ran |\n", "Ann | ran", "| Ann | ran [unverified] |\n"),
        ("安跑了。(巴)", "安跑了。", "安跑了。 [unverified] (巴)"),
        ("```python\n# Ann ran.\n```\n", "# Ann ran.", "```python\n# Ann ran.\n```\n"),
    ],
)
def test_a_mark_does_not_break_what_it_stands_in(response: str, sentence: str, text: str) -> None:
    start = response.index(sentence)
    base = report_of((sentence, "n"))
    span = (start, start + len(sentence))
    report = base.model_copy(
        update={
            "response": response,
            "claims": tuple(claim.model_copy(update={"span": span}) for claim in base.claims),
            "sentences": (),
        }
    )
    found, (doubt,) = marked(report, MarkPolicy())
    assert found == text
    assert (doubt.mark is None) == (found == response)


def test_the_words_of_the_only_claim_in_doubt_are_marked() -> None:
    base = report_of(("The second tower was made of granite and burned down in 1755.", "ns"))
    said = "The second tower was made of granite.", "The second tower burned down in 1755."
    claims = tuple(one.model_copy(update={"text": text}) for one, text in zip(base.claims, said, strict=True))
    text, (doubt,) = marked(base.model_copy(update={"claims": claims}), MarkPolicy())
    assert text == "The second tower was made of granite [unverified] and burned down in 1755."
    assert text[slice(*doubt.span)] == "was made of granite"


def table_report(*claims: str, row: str = "Tarn 4 | 4 | 8 GB | 3 years") -> FactualityReport:
    response = f"| Model | Bays | RAM | Warranty |\n|---|---|---|---|\n| {row} |\n"
    base = report_of((row, "n" * len(claims)))
    span = (response.index(row), response.index(row) + len(row))
    changed = [
        one.model_copy(update={"span": span, "text": text}) for one, text in zip(base.claims, claims, strict=True)
    ]
    return base.model_copy(update={"response": response, "claims": tuple(changed), "sentences": ()})


@pytest.mark.parametrize(
    ("claims", "row"),
    [
        (["Model: Tarn 4; RAM: 8 GB."], "| Tarn 4 | 4 | 8 GB [unverified] | 3 years |"),
        (["The Tarn 4 has 8 GB of RAM.", "The Tarn 4 has four bays."], "| Tarn 4 | 4 | 8 GB | 3 years [unverified] |"),
        (
            ["Model: Tarn 4; Bays: 4.", "Model: Tarn 4; Warranty: 3 years."],
            "| Tarn 4 | 4 [unverified] | 8 GB | 3 years [unverified] |",
        ),
    ],
)
def test_in_a_row_the_cell_in_doubt_is_marked(claims: list[str], row: str) -> None:
    text, doubts = marked(table_report(*claims), MarkPolicy())
    assert text.splitlines()[2] == row
    assert sorted(name for doubt in doubts for name in doubt.claims) == [f"c1.{n}" for n in range(1, len(claims) + 1)]


def test_overlapping_sentences_are_both_told_and_one_is_marked() -> None:
    base = report_of((ANN, "n"), (BAD, "n"))
    first, second = base.claims
    report = base.model_copy(update={"claims": (first, second.model_copy(update={"span": (4, 17)})), "sentences": ()})
    text, doubts = marked(report, MarkPolicy())
    assert text == "Ann ran. [unverified] Bad fell."
    assert [doubt.claims for doubt in doubts] == [("c1.1",), ("c2.1",)]


def test_the_report_on_a_marked_text_has_its_places() -> None:
    before = report_of(("安跑了。", "n"), ("巴跌了。", "s"), ("好吗？", ""), ("丹藏了。", "u"), between="")
    text, doubts = marked(before, MarkPolicy())
    correction = Correction(
        text=text,
        accepted=False,
        rejected=Rejection.NOTHING_TO_CORRECT,
        why="nothing",
        before=before,
        doubts=doubts,
        rounds=0,
        rewriter="nobody",
        usage=before.usage,
    )
    report = correction.report
    assert report.response == text == "安跑了。 [unverified]巴跌了。好吗？丹藏了。 [unchecked]"
    assert [text[slice(*claim.span)] for claim in report.claims] == ["安跑了。", "巴跌了。", "丹藏了。"]
    assert [report.text_of(one) for one in report.sentences] == ["安跑了。", "巴跌了。", "好吗？", "丹藏了。"]
