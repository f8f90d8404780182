"""What a terminal gets: tables that fit, and terms for people."""

import pytest

from cli.calls import in_terminal
from tidings.bench.workloads.city import NS, ns
from tidings.cli.output.names import Names
from tidings.cli.output.paint import harmless
from tidings.cli.output.table import cell_width, draw, fit, fold, squeezed
from tidings.model.results import Solutions

pytestmark = pytest.mark.usefixtures("folder")


def test_a_terminal_gets_a_table_with_short_names() -> None:
    query = "PREFIX e: <http://example.org/> SELECT ?who ?n { ?who e:p ?n } ORDER BY ?n"
    table = in_terminal("query", "-d", "data.ttl", query)
    assert table == (
        "\x1b[1m?who  ?n\x1b[0m\n\x1b[2m────  ──\x1b[0m\n"
        "\x1b[36me:a \x1b[0m   1\n\x1b[36me:a \x1b[0m   2\n\x1b[36me:b \x1b[0m   3\n"
    )


def test_a_terminal_gets_turtle_for_construct() -> None:
    query = "PREFIX e: <http://example.org/> CONSTRUCT WHERE { e:a e:p ?o }"
    assert in_terminal("query", "-d", "data.ttl", query).endswith("e:a e:p 1 , 2 .\n")


def drawn(rows: list[tuple[str | None, ...]], width: int = 80) -> list[str]:
    variables = tuple("abcdefghij"[: len(rows[0])])
    lines = list(draw(Solutions(variables, rows), Names({}), width=width, colour=False))
    assert all(line.endswith("\n") for line in lines)
    return [line.rstrip("\n") for line in lines]


def test_numbers_stand_to_the_right_and_unbound_is_empty() -> None:
    number = '"{}"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert drawn([('"x"', number.format(5)), (None, number.format(1000))]) == [
        "?a    ?b",
        "──  ────",
        "x      5",
        "    1000",
    ]


def test_what_is_too_wide_is_folded_and_fits() -> None:
    lines = drawn([('"short"', f'"{"日本" * 20}"')], width=24)
    assert [line.strip() for line in lines[2:4]] == ["short  " + "日本" * 4, "日本" * 4]
    assert len(lines) == 2 + 5


def test_a_very_long_value_ends_in_an_ellipsis() -> None:
    assert fold("x" * 1000, 10) == ["x" * 10] * 7 + ["x" * 9 + "…"]


def test_an_iri_that_is_too_wide_loses_its_middle_and_keeps_its_name() -> None:
    lamp = "<http://somewhere.example/a/long/way/to/the/lamps#LAMP_{}>"
    lines = drawn([(lamp.format(1), lamp.format(2)), (lamp.format(3), '"a text"')], width=42)
    assert lines[2:] == ["<http://som…#LAMP_1>  <http://som…#LAMP_2>", "<http://som…#LAMP_3>  a text"]


@pytest.mark.parametrize("width", range(1, 30))
def test_what_is_squeezed_fits(width: int) -> None:
    for text in ("<http://example.org/a#b>", f"<urn:{'x' * 99}>", "<http://例え.jp/日本/日本>"):
        assert cell_width(squeezed(text, width)) <= width


def test_the_city_of_the_demo_has_a_prefix() -> None:
    assert Names({})[ns("LAMP_1_1")] == "city:LAMP_1_1"
    assert Names({"": NS})[ns("LAMP_1_1")] == ":LAMP_1_1"


def test_a_row_is_a_few_lines_where_columns_do_not_fit() -> None:
    lines = drawn([tuple(f'"{n}"' for n in range(8)), ("<http://e>", *[None] * 7)], width=40)
    assert lines[:3] == ["── 1 ", "?a 0", "?b 1"]
    assert lines[-2:] == ["── 2 ", "?a <http://e>"]


def test_widths_are_shared_fairly() -> None:
    assert fit([5, 5], 20) == [5, 5]
    assert fit([5, 100], 40) == [5, 33]
    assert fit([60, 5, 100], 50) == [20, 5, 20]


def test_terms_are_shown_for_people() -> None:
    names = Names({"e": "http://example.org/"})
    assert names["<http://example.org/a.b-c>"] == "e:a.b-c"
    assert names["<http://example.org/a/b>"] == "<http://example.org/a/b>"
    assert names['"chat"@fr'] == "chat @fr"
    assert names['"5"^^<http://example.org/metre>'] == "5 ^^e:metre"
    assert names["_:x"] == "_:x"
    assert names['"a\\nb\\u001B[2J"'] == r"a\nb\x1b[2J"


def test_nothing_in_the_data_can_command_the_terminal() -> None:
    assert harmless("\x1b\x9b\u202e\u2066\r\n\x7f") == r"\x1b\x9b\u202e\u2066\r\n\x7f"
