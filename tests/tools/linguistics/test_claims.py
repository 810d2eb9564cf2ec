from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from factloop.tools.linguistics.claims import split_claims
from factloop.tools.linguistics.sentences import split_sentences
from tests.work import LINEAR, growth

DATA = Path(os.environ.get("FACTLOOP_DATA", "../shared/data"))

SPLIT = {
    "Mira Halden was born in Lindel, studied at Arden and founded the Merrow Institute.": [
        "Mira Halden was born in Lindel.",
        "Mira Halden studied at Arden.",
        "Mira Halden founded the Merrow Institute.",
    ],
    "Mira Halden, a chemist from Lindel, won two prizes and discovered lorium.": [
        "Mira Halden won two prizes.",
        "Mira Halden discovered lorium.",
        "Mira Halden was a chemist from Lindel.",
    ],
    "Otto Berg, who led the Merrow Institute from 1909 to 1917, was born in Arden.": [
        "Otto Berg was born in Arden.",
        "Otto Berg led the Merrow Institute from 1909 to 1917.",
    ],
    "She moved to Arden, where she met Otto Berg, who was a painter.": [
        "She moved to Arden.",
        "She met Otto Berg in Arden.",
        "Otto Berg was a painter.",
    ],
    "In 1882 she entered his studio; he refused, however, to pay her.": [
        "In 1882 she entered his studio.",
        "He refused, however, to pay her.",
    ],
    "Its preface was written by Otto Berg, and she dedicated it to Ann Lee.": [
        "Its preface was written by Otto Berg.",
        "She dedicated it to Ann Lee.",
    ],
    "The page listens on port 8060, and the worker uses port 8061.": [
        "The page listens on port 8060.",
        "The worker uses port 8061.",
    ],
    "You should visit the museum.": ["You should visit the museum."],
    "Everyone must leave by six.": ["Everyone must leave by six."],
    "You can cancel at any time.": ["You can cancel at any time."],
    "PostgreSQL 13 or newer; MySQL is also supported.": ["PostgreSQL 13 or newer.", "MySQL is also supported."],
    "Nausea affects 22 % of patients; on placebo it was 8 %.": [
        "Nausea affects 22 % of patients.",
        "On placebo it was 8 %.",
    ],
    "The tunnel is 4 km long, so ships can pass above it.": [
        "The tunnel is 4 km long.",
        "Ships can pass above it.",
    ],
    "The rule is strict: nobody may enter the hall.": ["The rule is strict.", "Nobody may enter the hall."],
    "In 1905, he published four papers and received a doctorate.": [
        "In 1905, he published four papers.",
        "In 1905, he received a doctorate.",
    ],
    "She was elected in 1990 and served until 2000.": ["She was elected in 1990.", "She served until 2000."],
    "The book was written by Ann Lee, published in 1920 and translated into French.": [
        "The book was written by Ann Lee.",
        "The book was published in 1920.",
        "The book was translated into French.",
    ],
    "The bridge is a rare design, and it is likely to last for centuries.": [
        "The bridge is a rare design.",
        "The bridge is likely to last for centuries.",
    ],
    "The tower was built in 1901, but the chapel burnt down in 1950.": [
        "The tower was built in 1901.",
        "The chapel burnt down in 1950.",
    ],
    "Otto Berg is a Lindish actor born on 18 December 1949 in Arden and best known for his voice.": [
        "Otto Berg is a Lindish actor.",
        "Otto Berg was born on 18 December 1949.",
        "Otto Berg was born in Arden.",
        "Otto Berg was best known for his voice.",
    ],
    "Otto Berg was born on May 4, 1901, in Lindel.": [
        "Otto Berg was born on May 4, 1901.",
        "Otto Berg was born in Lindel.",
    ],
    "Halden Works is a company that makes lamps.": ["Halden Works is a company.", "Halden Works makes lamps."],
    "He was a Lindish physicist, philosopher and violinist.": [
        "He was a Lindish physicist.",
        "He was a philosopher.",
        "He was a violinist.",
    ],
    'Her films include "Blue Rain," "The Gate," and "Oss."': [
        'Her films include "Blue Rain".',
        'Her films include "The Gate".',
        'Her films include "Oss".',
    ],
    "Its members include Anna Berg, Otto Lind, and Eva Marr.": [
        "Its members include Anna Berg.",
        "Its members include Otto Lind.",
        "Its members include Eva Marr.",
    ],
    "The law was passed by 190 states and ratified by 120.": [
        "The law was passed by 190 states.",
        "The law was ratified by 120.",
    ],
    "The treaty has been signed by 197 states and ratified by 190.": [
        "The treaty has been signed by 197 states.",
        "The treaty has been ratified by 190.",
    ],
    "Potatoes, which are cheap, did not arrive until 1590.": [
        "Potatoes did not arrive until 1590.",
        "Potatoes are cheap.",
    ],
    "Granite is a rock primarily composed of quartz.": [
        "Granite is a rock.",
        "Granite is primarily composed of quartz.",
    ],
    "The effect is generally small and limited to the valley.": [
        "The effect is generally small.",
        "The effect is limited to the valley.",
    ],
    "By most accounts, he taught law until 1961, studied mechanics at Arden and took Otto Berg aboard.": [
        "He taught law until 1961.",
        "He studied mechanics at Arden.",
        "He took Otto Berg aboard.",
    ],
    "The river flooded Arden in 1829, rises near Lindel and was dredged by Halden Works.": [
        "The river flooded Arden in 1829.",
        "The river rises near Lindel.",
        "The river was dredged by Halden Works.",
    ],
    "Arden signed a treaty with Oss in 1982 and Halden House was sold in 1977.": [
        "Arden signed a treaty with Oss in 1982.",
        "Halden House was sold in 1977.",
    ],
    "She holds a degree in law from Arden University and a doctorate in music from Merrow College.": [
        "She holds a degree in law from Arden University.",
        "She holds a doctorate in music from Merrow College.",
    ],
    "The second tower, designed by Ann Lee, was made of granite and burned down in 1755.": [
        "The second tower was made of granite.",
        "The second tower burned down in 1755.",
        "The second tower was designed by Ann Lee.",
    ],
    "The mill, opened in 1901, closed in 1950.": ["The mill closed in 1950.", "The mill was opened in 1901."],
    "The house, known as Oss Hall, is in Arden.": ["The house is in Arden.", "The house is known as Oss Hall."],
    "Ilse Varga, born Ilse Marr in 1901, is a singer.": [
        "Ilse Varga is a singer.",
        "Ilse Varga was born Ilse Marr in 1901.",
    ],
    "She is a descendant of Otto Berg, a poet.": ["She is a descendant of Otto Berg.", "Otto Berg is a poet."],
    "The museum is in the Old Mill, a house of 1901.": [
        "The museum is in the Old Mill.",
        "The Old Mill is a house of 1901.",
    ],
    "Otto Berg was born in the town of Tarn in 1950.": [
        "Otto Berg was born in the town of Tarn.",
        "Otto Berg was born in 1950.",
    ],
    "The Institute was founded by Ann Lee in Arden in 1901.": [
        "The Institute was founded by Ann Lee.",
        "The Institute was founded in Arden.",
        "The Institute was founded in 1901.",
    ],
    "She passed away in Arden, Oss, on 4 May 1955, at the age of 71.": [
        "She passed away in Arden, Oss.",
        "She passed away on 4 May 1955.",
        "She passed away at the age of 71.",
    ],
    "He was born in 1901 to Ann Lee.": ["He was born in 1901.", "He was born to Ann Lee."],
    "The paper was printed in Arden, Lindel and Oss.": [
        "The paper was printed in Arden.",
        "The paper was printed in Lindel.",
        "The paper was printed in Oss.",
    ],
    "She worked with Anna Berg and Otto Lind.": ["She worked with Anna Berg.", "She worked with Otto Lind."],
    "He starred in films, including Blue Rain (1993) and The Last Gate (1995).": [
        "He starred in films, including Blue Rain (1993).",
        "He starred in films, including The Last Gate (1995).",
    ],
    "He was an English mathematician and writer.": [
        "He was English.",
        "He was a mathematician.",
        "He was a writer.",
    ],
    "In 1913, he joined Arden United, where he played for seven years.": [
        "In 1913, he joined Arden United.",
        "He played for seven years at Arden United.",
    ],
    "Ann Lee left a library in 1909 and Otto Berg printed The Blue Ledger in 1911.": [
        "Ann Lee left a library in 1909.",
        "Otto Berg printed The Blue Ledger in 1911.",
    ],
    "He lectured on algebra and taught botany until 1930.": [
        "He lectured on algebra.",
        "He taught botany until 1930.",
    ],
    "The text is a part of the code and consists of two books.": [
        "The text is a part of the code.",
        "The text consists of two books.",
    ],
    "Berg married Major M. F. Marr, a former officer.": [
        "Berg married Major M. F. Marr.",
        "Major M. F. Marr was a former officer.",
    ],
    "Otto Berg (born Otto Marr on 22 August 1973) is an artist.": [
        "Otto Berg is an artist.",
        "Otto Berg was born Otto Marr on 22 August 1973.",
    ],
    "Otto Berg (born 29 August 1993) is an artist.": [
        "Otto Berg is an artist.",
        "Otto Berg was born on 29 August 1993.",
    ],
    "Otto Berg (born 1993) is an artist.": ["Otto Berg is an artist.", "Otto Berg was born in 1993."],
    "- **Mast:** Supports the sails.": ["Mast: Supports the sails."],
    'He wrote books, such as "Mills and Rivers", and "The Gate".': [
        'He wrote books, such as "Mills and Rivers".',
        'He wrote books, such as "The Gate".',
    ],
    "He is a bowler and plays for both Arden and Oss.": ["He is a bowler.", "He plays for both Arden and Oss."],
    "The firm employs 240 people and reported a loss in 1922.": [
        "The firm employs 240 people.",
        "The firm reported a loss in 1922.",
    ],
    "**Port**: The port of Lindel opened in 1901.[1]": ["The port of Lindel opened in 1901."],
    "He holds a degree in law from Oss and a third degree in maths from Arden.": [
        "He holds a degree in law from Oss.",
        "He holds a third degree in maths from Arden.",
    ],
    "However, it is worth noting that [Lindel](http://a.b) has a __port__.": ["Lindel has a port."],
}

WHOLE = [
    "The battery lasts a day and a half.",
    "The station is a mile and a half from the port.",
    "He waited an hour and a quarter.",
    "The permit is good for a year and a day.",
    "He waited an hour and a half in the rain.",
    "Here's what I found in the mill and moved to the port.",
    "That’s why the mill closed and moved to Oss.",
    'He wrote about it in "Mills and Rivers".',
    "The firm said it had paid its debts and left Arden.",
    "Trinidad and Tobago is a country.",
    "Tom and Ann were married in 1990.",
    'He said "I came and saw and won" and left the room.',
    "If it rains, the river rises and floods the city.",
    "According to Ann Lee, the town was founded in 900 and burnt in 950.",
    "The treaty lies between a lake and a river.",
    "She is not only a judge but also writes books.",
    "The theory developed by Halden changed physics.",
    "He was born and raised in Lindel.",
    "洛铁于1901年被发现。",
    "It computes the inputs and states of a model.",
    "This can lead to lower costs and improved overall results.",
    "The law came in 1960, which called for an end.",
    "She starred in, wrote, and produced the film.",
    "They wrote for new authors, as well as classic and established writers.",
    "She appeared in films such as Blue Rain, and television shows such as Oss Dreams.",
    "The systems help to trap, contain, and remove water.",
    "A style that promotes teamwork, and is adaptive, suits the team.",
    "They questioned urban planning, and the distance it produced.",
    "Once the plasma was separated, and the bag is full, the tube closes.",
    "She was a French teacher.",
    "The bridge was not built in Arden in 1901.",
    "He visited Trinidad and Tobago.",
    "The river runs between Upper Oss and Lower Oss.",
    "He was married to Ann Lee and Eva Marr.",
    "He is known for Blue Rain (1883), Mr Lind and Mr Berg (1886), and Oss (1890).",
    "He met Ann Lee, a judge, Otto Berg, a clerk, and Eva Marr.",
    "She studied at the Academy of Music and Arden College.",
    "The ship was launched in May in Arden.",
    "The war (1914-1918) was a disaster.",
    "Otto Berg (born 4 May 1901 – 6 May 1950) was an artist.",
    "The chair of the meeting, the 28th of its kind, was Otto Berg.",
]

NO_CLAIM = [
    "",
    "   ",
    "\0",
    "Who was Mira Halden?",
    "List three towns in the hills.",
    "Sure! I can help with that.",
    "Hello there!",
    "I don't know.",
    "I'm not sure about that.",
    "I think it was great.",
    "She was arguably the best.",
    "Here is an overview of her life:",
    "In conclusion, let me know if you need more details.",
    "As an AI language model, I cannot browse the web.",
    "Early life",
    "For more details, I recommend the official site.",
]

KEPT = [
    "Use coarse grounds and cold water in a ratio of 1 to 8.",
    "You can switch plans at any time.",
    "Population 3.1 million",
    "She was arguably the best, and won 14 titles.",
    "Great Lindel is a town in the hills.",
    "Name changes were common in 1901.",
    "- **Born**: 14 March 1879, Lindel",
    "The song asks \"Who are you?\" and was released in 1978.",
    "He is known for his good looks and charm.",
    "Ada | 1999",
    "Ada Lovelace|1999",
    "Burrell's music style blends gospel with jazz elements.",
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "claims"), SPLIT.items())
def test_split(sentence: str, claims: list[str]) -> None:
    assert split_claims(sentence) == claims


@pytest.mark.parametrize("sentence", WHOLE)
def test_left_whole_where_a_split_would_change_what_is_claimed(sentence: str) -> None:
    assert split_claims(sentence) == [sentence]


@pytest.mark.parametrize("sentence", NO_CLAIM)
def test_no_claim(sentence: str) -> None:
    assert split_claims(sentence) == []


@pytest.mark.parametrize("sentence", KEPT)
def test_a_checkable_sentence_keeps_its_claim(sentence: str) -> None:
    assert split_claims(sentence)


@given(
    st.lists(
        st.sampled_from(
            [
                "Ann",
                "Lee",
                "was",
                "born",
                "in",
                "1901",
                ",",
                "who",
                "and",
                "which",
                "founded",
                "the",
                "a",
                '"',
                "(",
                ")",
                "is",
                ";",
                "that",
                ".",
                "by",
            ]
        )
    )
)
@example([";", "born", "was"])
@example(["it", ";", "[1]", "it", "was", "than"])
def test_splitting_loses_no_word_and_raises_nothing(words: list[str]) -> None:
    """Numbers and names of a sentence that yields claims all appear in them."""
    sentence = " ".join(words)
    claims = split_claims(sentence)
    if claims:
        for word in ("1901", "Lee", "founded"):
            assert (word in sentence) == any(word.lower() in claim.lower() for claim in claims)


@pytest.mark.parametrize("unit", ["[", "**", "`", "([", "a, and ", "who, ", '"', "(", "_a", "[a](", "Born: "])
def test_hostile_markup_is_linear_work(unit: str) -> None:
    def split(n_characters: int) -> None:
        for sentence in split_sentences(unit * (n_characters // len(unit))):
            split_claims(sentence.text)

    split(20_000)
    assert growth(split, 4_000) < LINEAR


def test_labelled_sentences_keep_their_claims() -> None:
    """At least 95 % of the sentences that annotators found check-worthy yield claims."""
    path = DATA / "factcheckgpt_dev_sentence_checkworthiness.jsonl"
    if not path.exists():
        pytest.skip(f"labelled data not found in {DATA}: set FACTLOOP_DATA")
    rows: list[dict[str, Any]] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    worth = [bool(split_claims(row["sentence_in_response"])) for row in rows if row["label"] == "yes"]
    assert sum(worth) / len(worth) >= 0.95
