from __future__ import annotations

import pytest

from factloop.tools.text.queries import next_query, search_query

CLAIM = "Mira Halden was born in **Lindel** on 14 March 1879.[1]"


def test_keywords_in_order_without_function_words() -> None:
    assert search_query(CLAIM) == "Mira Halden born Lindel 14 March 1879"
    assert search_query('"Blue Rain" is Otto Berg\'s film.') == "Blue Rain Otto Berg film"


TOPIC = "Oss Light"


def test_a_part_without_a_name_is_searched_with_its_topic() -> None:
    query = search_query("The first tower was lit in 1698.", TOPIC)
    assert query == "Oss Light first tower lit 1698"
    further = next_query("The first tower was lit in 1698.", [query])
    assert further is not None
    assert further.startswith("Oss Light ")


def test_each_further_query_is_new_until_ideas_run_out() -> None:
    asked = [search_query(CLAIM)]
    while (query := next_query(CLAIM, asked)) is not None:
        asked.append(query)
    assert 3 <= len(asked) <= 10
    assert len({frozenset(query.lower().split()) for query in asked}) == len(asked)
    assert all("Halden" in query or "Lindel" in query for query in asked)


@pytest.mark.parametrize("claim", ["", "It is.", "\0", "?" * 5000, "word " * 5000])
def test_odd_claims_give_bounded_queries(claim: str) -> None:
    assert len(search_query(claim)) <= 300
    assert next_query(claim, [search_query(claim)]) is None or claim


def test_another_script_is_searched_as_it_stands() -> None:
    assert search_query("洛铁于1901年被发现。") == "洛铁于1901年被发现。"
