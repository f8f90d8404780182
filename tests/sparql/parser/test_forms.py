"""The forms of queries and updates, keywords in any case, comments anywhere, and which reading the grammar asks for."""

import pytest

from tidings.sparql.algebra import (
    Arithmetic,
    Ask,
    Clear,
    Compare,
    Construct,
    Create,
    Dataset,
    Describe,
    Expression,
    Filter,
    Inverse,
    Load,
    Modify,
    Negated,
    Not,
    Or,
    PathPattern,
    Repeat,
    Select,
    Sign,
    Slice,
    Transfer,
    inputs,
)
from tidings.sparql.parser import parse_query, parse_update


def condition(text: str) -> Expression:
    (pattern,) = inputs(parse_query(f"SELECT * {{ FILTER({text}) }}").pattern)
    assert isinstance(pattern, Filter)
    return pattern.condition


def number(text: str) -> str:
    return f'"{text}"^^<http://www.w3.org/2001/XMLSchema#integer>'


def test_keywords_may_be_written_in_any_case() -> None:
    shouted = "SELECT DISTINCT ?X FROM <urn:g> WHERE { ?X ?P ?O OPTIONAL { ?X A:B ?Y } FILTER NOT EXISTS { ?X ?Z 1 } }"
    text = f"PREFIX A: <urn:> {shouted} ORDER BY DESC(?X) LIMIT 1 OFFSET 2"
    words = ("PREFIX", "SELECT", "DISTINCT", "FROM", "WHERE", "OPTIONAL", "FILTER", "NOT EXISTS", "ORDER BY", "DESC")
    quiet = text
    for word in (*words, "LIMIT", "OFFSET"):
        quiet = quiet.replace(word, word.capitalize())
    assert parse_query(quiet) == parse_query(text)
    assert parse_update("insert data { <s> <p> 1 } ; clear silent all") == parse_update(
        "INSERT DATA { <s> <p> 1 } ; CLEAR SILENT ALL"
    )


def test_reduced_is_read_and_every_duplicate_stays() -> None:
    assert parse_query("SELECT REDUCED ?s { ?s ?p ?o } LIMIT 3") == parse_query("SELECT ?s { ?s ?p ?o } LIMIT 3")


def test_a_variable_that_is_grouped_in_brackets_may_be_projected() -> None:
    bare = parse_query("SELECT ?s ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s ?p")
    assert parse_query("SELECT ?s ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY (?s) (($p))") == bare


def test_exists_may_be_a_key_of_a_group_after_others() -> None:
    head = "SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s"
    for key in ("EXISTS { ?s <urn:p> 1 }", "NOT EXISTS { ?s <urn:p> 1 }"):
        assert parse_query(f"{head} {key} ?p") == parse_query(f"{head} ({key}) ?p")


def test_white_space_and_comments_may_stand_between_any_tokens() -> None:
    plain = parse_query("SELECT * { ?s ?p <urn:a#b> . ?s a 'c#d' }")
    assert parse_query("#x\nSELECT#x\n*#x\r{#x\n?s\t?p\r\n<urn:a#b>#x\n.?s a'c#d'}#x") == plain
    assert parse_query("SELECT*{?s?p<urn:a#b>.?s a'c#d'}") == plain


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("SELECT * {}", Select),
        ("ASK {}", Ask),
        ("ASK WHERE {} LIMIT 1", Ask),
        ("CONSTRUCT {} {}", Construct),
        ("CONSTRUCT FROM <urn:g> WHERE { ?s ?p ?o } ORDER BY ?s", Construct),
        ("DESCRIBE <urn:a>", Describe),
        ("DESCRIBE * { ?s ?p ?o }", Describe),
    ],
)
def test_each_form_has_its_node(text: str, form: type) -> None:
    assert isinstance(parse_query(text), form)


def test_the_dataset_is_what_the_clauses_say_unless_one_is_given() -> None:
    text = "SELECT * FROM <urn:a> FROM NAMED <urn:b> FROM <urn:c> {}"
    assert parse_query(text).dataset == Dataset(("<urn:a>", "<urn:c>"), ("<urn:b>",))
    assert parse_query("SELECT * {}").dataset == Dataset(None, None)
    given = Dataset(("<urn:z>",), ())
    assert parse_query(text, None, given).dataset == given


def test_star_selects_what_is_visible() -> None:
    text = "SELECT * { ?a ?b _:c . [] ?b ?d MINUS { ?e ?f ?g } FILTER(?h) { SELECT ?i { ?i ?j ?k } } BIND(1 AS ?l) }"
    query = parse_query(text)
    assert isinstance(query, Select)
    assert query.variables == ("?a", "?b", "?d", "?i", "?l")


def test_limit_and_offset_come_in_either_order() -> None:
    for text in ("LIMIT 3 OFFSET 2", "OFFSET 2 LIMIT 3"):
        pattern = parse_query(f"SELECT * {{}} {text}").pattern
        assert isinstance(pattern, Slice)
        assert (pattern.offset, pattern.limit) == (2, 3)


def test_operators_bind_as_the_grammar_says() -> None:
    one, two, three = map(number, "123")
    assert condition("1 + 2 * 3") == Arithmetic(one, (("+", Arithmetic(two, (("*", three),))),))
    assert condition("1 - 2 - 3") == Arithmetic(one, (("-", two), ("-", three)))
    assert condition("(1 - 2) * 3") == Arithmetic(Arithmetic(one, (("-", two),)), (("*", three),))
    assert condition("1 -2*3") == Arithmetic(one, (("+", Arithmetic(number("-2"), (("*", three),))),))
    assert condition("-?x * 3") == Arithmetic(Sign("-", "?x"), (("*", three),))
    assert condition("!?x = 1") == Compare("=", Not("?x"), one)
    both = condition("?x || ?y && ?z = 1")
    assert isinstance(both, Or)
    assert condition("?a<?b && ?c>?d") == condition("(?a < ?b) && (?c > ?d)")


def test_a_question_mark_is_a_path_only_where_no_variable_starts() -> None:
    def path(text: str) -> object:
        (pattern,) = inputs(parse_query(f"SELECT * {{ ?s {text} }}").pattern)
        return pattern.path if isinstance(pattern, PathPattern) else pattern

    assert path("<urn:p>? ?o") == Repeat("<urn:p>", 0, many=False)
    assert path("<urn:p>+?o") == Repeat("<urn:p>", 1, many=True)
    assert path("(<urn:p>)*?o") == Repeat("<urn:p>", 0, many=True)
    assert path("(^<urn:p>)* ?o") == Repeat(Inverse("<urn:p>"), 0, many=True)
    assert path("!(<urn:p>|^<urn:q>) ?o") == Negated(("<urn:p>",), ("<urn:q>",))
    assert path("!() ?o") == Negated((), None)
    assert not isinstance(path("<urn:p>?o"), Repeat)


@pytest.mark.parametrize(
    ("text", "operation"),
    [
        ("LOAD SILENT <urn:a> INTO GRAPH <urn:g>", Load("urn:a", "<urn:g>", silent=True)),
        ("CLEAR GRAPH <urn:g>", Clear("<urn:g>", silent=False)),
        ("DROP SILENT NAMED", Clear("NAMED", silent=True)),
        ("CREATE GRAPH <urn:g>", Create("<urn:g>", silent=False)),
        ("COPY <urn:a> TO GRAPH <urn:b>", Transfer("COPY", "<urn:a>", "<urn:b>", silent=False)),
        ("MOVE SILENT DEFAULT TO <urn:b>", Transfer("MOVE", "", "<urn:b>", silent=True)),
        ("ADD GRAPH <urn:a> TO DEFAULT", Transfer("ADD", "<urn:a>", "", silent=False)),
    ],
)
def test_operations_on_graphs(text: str, operation: object) -> None:
    assert parse_update(text) == (operation,)
    assert parse_update(f"PREFIX : <urn:> {text} ; BASE <urn:> ") == (operation,)


@pytest.mark.parametrize("text", ["", "  # nothing\n", "PREFIX : <urn:>", "BASE <urn:x>"])
def test_a_request_may_be_empty(text: str) -> None:
    assert parse_update(text) == ()


def test_the_dataset_of_a_modify() -> None:
    def dataset(text: str, given: Dataset | None = None) -> Dataset:
        (operation,) = parse_update(text, None, given)
        assert isinstance(operation, Modify)
        return operation.dataset

    assert dataset("INSERT {} WHERE {}") == Dataset(None, None)
    assert dataset("WITH <urn:g> INSERT {} WHERE {}") == Dataset(("<urn:g>",), None)
    assert dataset("WITH <urn:g> INSERT {} USING <urn:h> WHERE {}") == Dataset(("<urn:h>",), ())
    assert dataset("INSERT {} USING NAMED <urn:h> WHERE {}") == Dataset((), ("<urn:h>",))
    assert dataset("INSERT {} WHERE {}", Dataset(("<urn:z>",), ())) == Dataset(("<urn:z>",), ())
