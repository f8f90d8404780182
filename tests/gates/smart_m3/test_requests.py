"""Conversations in SSAP: everything that a knowledge processor asks for, and what it is answered."""

from xml.sax.saxutils import escape

import pytest

from gates.smart_m3.kp import ANY, NODE, insert, parameter, patterns, remove, space, sparql, triple
from waiting import asynchronous

A, B, P = "http://x.example/a", "http://x.example/b", "http://x.example/p"
EVERYTHING = patterns(triple(ANY, ANY, ANY))
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"


@asynchronous
async def test_a_confirmation_repeats_the_header_of_its_request() -> None:
    async with space() as shared:
        joined = await shared.kp().ask("JOIN", parameter("credentials", "XYZZY"))
        assert joined.status == "m3:Success"
        assert joined.header == {
            "node_id": NODE, "space_id": "X", "transaction_type": "JOIN", "message_type": "CONFIRM",
            "transaction_id": "7",
        }  # fmt: skip
        assert (await shared.kp().ask("LEAVE")).status == "m3:Success"


@asynchronous
async def test_what_is_inserted_can_be_asked_for_by_patterns_and_removed_by_them() -> None:
    async with space() as shared:
        kp = shared.kp()
        await kp.ask("INSERT", insert(triple(A, P, "22", "literal"), triple(A, P, B), triple(B, P, "22", "literal")))
        assert (await kp.ask("QUERY", patterns(triple(A, ANY, ANY)))).triples() == [(A, P, '"22"'), (A, P, B)]
        both = patterns(triple(A, ANY, B), triple(ANY, P, "22", "literal"), triple(ANY, ANY, "22", "literal"))
        assert (await kp.ask("QUERY", both)).triples() == [(A, P, '"22"'), (A, P, B), (B, P, '"22"')]
        assert (await kp.ask("REMOVE", remove(triple(ANY, P, "22", "literal")))).status == "m3:Success"
        assert (await kp.ask("QUERY", EVERYTHING)).triples() == [(A, P, B)]


@asynchronous
async def test_an_update_removes_first_and_is_one_commit() -> None:
    async with space() as shared:
        kp = shared.kp()
        await kp.ask("INSERT", insert(triple(A, P, "old", "literal")))
        before = shared.premises.broker.last_commit
        await kp.ask("UPDATE", insert(triple(A, P, "new", "literal")), remove(triple(A, P, ANY)))
        assert (await kp.ask("QUERY", EVERYTHING)).triples() == [(A, P, '"new"')]
        assert shared.premises.broker.last_commit == before + 1


@asynchronous
async def test_a_literal_stands_for_all_that_read_so_unless_its_datatype_is_said() -> None:
    async with space() as shared:
        kp = shared.kp()
        await kp.ask("QUERY", sparql(f'INSERT DATA {{ <{A}> <{P}> 22, "22", "22"@en, "23" }}'))
        said = (await kp.ask("QUERY", patterns(triple(A, P, "22", "literal")))).triples()
        assert said == [(A, P, '"22"'), (A, P, '"22"en'), (A, P, f'"22"{INTEGER}')]
        number = f'<triple><subject>{A}</subject><predicate>{P}</predicate><object type="literal" datatype="{INTEGER}">'
        await kp.ask("REMOVE", remove(f"{number}22</object></triple>"))
        assert (await kp.ask("QUERY", EVERYTHING)).triples() == [(A, P, '"22"'), (A, P, '"22"en'), (A, P, '"23"')]
        await kp.ask("REMOVE", remove(triple(A, P, "22", "literal")))
        assert (await kp.ask("QUERY", EVERYTHING)).triples() == [(A, P, '"23"')]


@asynchronous
async def test_blank_nodes_are_answered_with_the_uris_that_they_have_got() -> None:
    async with space() as shared:
        kp = shared.kp()
        nodes = insert(triple("n", P, "m", "bnode", "bnode"), triple("n", P, "1", "literal", "bnode"))
        confirmed = await kp.ask("INSERT", nodes)
        uris = {each.get("tag"): each.text for each in confirmed.parameters["bnodes"].iter("uri")}
        assert uris.keys() == {"n", "m"}
        told = (await kp.ask("QUERY", patterns(triple(str(uris["n"]), ANY, ANY)))).triples()
        assert told == [(uris["n"], P, '"1"'), (uris["n"], P, uris["m"])]
        plain = await kp.ask("INSERT", insert(triple(A, P, B)))
        assert [each.tag for each in plain.parameters["bnodes"]] == ["urllist"]


DOCUMENT = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.example/">'
    f'<rdf:Description rdf:about="{A}"><x:p><!-- é -->2&amp;2</x:p></rdf:Description></rdf:RDF>'
)


@pytest.mark.parametrize("document", [escape(DOCUMENT), f"<![CDATA[{DOCUMENT}]]>", f"\n{DOCUMENT}\n"])
@asynchronous
async def test_a_document_of_rdf_xml_can_be_inserted(document: str) -> None:
    async with space() as shared:
        kp = shared.kp()
        assert (await kp.ask("INSERT", parameter("insert_graph", document, encoding="RDF-XML"))).status == "m3:Success"
        assert (await kp.ask("QUERY", EVERYTHING)).triples() == [(A, P, '"2&2"')]


@asynchronous
async def test_sparql_is_answered_with_sparql_results_and_updates_may_come_as_queries() -> None:
    async with space() as shared:
        kp = shared.kp()
        update = await kp.ask(
            "QUERY", sparql(f"# a comment\nPREFIX x: <http://x.example/>\ninsert data {{ <{A}> x:p 1 }}")
        )
        assert update.status == "m3:Success"
        (results,) = update.parameters["results"]
        assert results.tag == "{http://www.w3.org/2005/sparql-results#}sparql"
        answer = await kp.ask("QUERY", sparql("SELECT ?o { ?s ?p ?o }"))
        assert ["".join(each.itertext()) for each in answer.parameters["results"].iter() if "binding" in each.tag] == [
            "1"
        ]
        asked = await kp.ask("QUERY", sparql("ASK { ?s ?p 2 }"))
        assert "".join(asked.parameters["results"].itertext()).strip() == "false"
        await kp.ask("UPDATE", sparql(f"DELETE WHERE {{ <{A}> ?p ?o }}"))
        assert (await kp.ask("QUERY", EVERYTHING)).triples() == []


@asynchronous
async def test_what_need_not_be_confirmed_is_not_answered() -> None:
    async with space() as shared:
        kp = shared.kp()
        quiet = parameter("confirm", "FALSE")
        await kp.say("INSERT", insert(triple(A, P, B)), quiet)
        await kp.say("INSERT", insert(triple(A, ANY, B)), quiet)
        assert (await kp.ask("QUERY", EVERYTHING)).triples() == [(A, P, B)]
        assert kp.heard.empty()


BAD = {
    "no type": ("", "m3:KP.Error.Message.Incomplete", "message_incomplete"),
    "a type that there is not": ("DANCE", "m3:KP.Error.Message.Syntax", "message_syntax"),
    "nothing to insert": ("INSERT", "m3:KP.Error.Message.Incomplete", "message_incomplete"),
    "nothing to ask for": ("QUERY", "m3:KP.Error.Message.Incomplete", "message_incomplete"),
    "no subscription": ("UNSUBSCRIBE", "m3:KP.Error.Message.Incomplete", "message_incomplete"),
}


@pytest.mark.parametrize("what", BAD)
@asynchronous
async def test_what_is_missing_is_said_in_the_codes_that_kps_know(what: str) -> None:
    kind, status, code = BAD[what]
    async with space() as shared:
        answer = await shared.kp().ask(kind)
        assert (answer.status, answer.text("error")) == (status, code)


NESTED = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.example/"><x:a>'
    f"{'<x:p><x:a>' * 600}{'</x:a></x:p>' * 600}</x:a></rdf:RDF>"
)
WRONG = {
    "a wildcard that is inserted": ("INSERT", insert(triple(A, ANY, B)), "m3:KP.Error.Request"),
    "a literal as a subject": ("INSERT", insert(triple("a", P, B, subject="literal")), "m3:KP.Error.Request"),
    "what is no URI": ("QUERY", patterns(triple("http://x.example/a b", P, B)), "m3:KP.Error.Request"),
    "a blank node in a pattern": ("REMOVE", remove(triple("n", P, B, subject="bnode")), "m3:KP.Error.Request"),
    "a node of no type": ("INSERT", insert(triple(A, P, B, "thing")), "m3:KP.Error.Message.Syntax"),
    "a triple of two": ("INSERT", insert("<triple><subject>a</subject></triple>"), "m3:KP.Error.Message.Syntax"),
    "SPARQL that is none": ("QUERY", sparql("SELECT"), "m3:KP.Error.Request"),
    "another language": ("QUERY", parameter("type", "WQL-VALUES"), "m3:SIB.Failure.NotImplemented"),
    "another encoding": ("INSERT", parameter("insert_graph", "", encoding="N3"), "m3:SIB.Failure.NotImplemented"),
    "RDF/XML that is nested too deeply": (
        "INSERT", parameter("insert_graph", escape(NESTED), encoding="RDF-XML"), "m3:KP.Error.Request",
    ),
    "RDF/XML that is none": ("INSERT", parameter("insert_graph", "x", encoding="RDF-XML"), "m3:KP.Error.Request"),
    "a subscription that there is not": (
        "UNSUBSCRIBE", parameter("subscription_id", "urn:x"), "m3:KP.Error.Request"
    ),
    "a number that is none": (
        "SUBSCRIBE", EVERYTHING + parameter("subscription_id", "urn:x"), "m3:KP.Error.Message.Syntax"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
@asynchronous
async def test_what_is_wrong_is_refused_and_changes_nothing(what: str) -> None:
    kind, said, status = WRONG[what]
    async with space() as shared:
        kp = shared.kp()
        assert (await kp.ask(kind, said)).status == status
        assert (await kp.ask("QUERY", EVERYTHING)).triples() == []


@asynchronous
async def test_a_broker_that_is_read_only_takes_no_updates() -> None:
    async with space(read_only=True) as shared:
        kp = shared.kp()
        for kind, said in (("INSERT", insert(triple(A, P, B))), ("QUERY", sparql("CLEAR ALL"))):
            assert (await kp.ask(kind, said)).status == "m3:SIB.Error.AccessDenied"
        assert (shared.counts.requests, shared.counts.errors) == (2, 2)


@asynchronous
async def test_answers_come_in_the_order_of_requests_however_many_are_under_way() -> None:
    async with space() as shared:
        kp = shared.kp()
        for number in range(200):
            await kp.say("INSERT", insert(triple(A, P, str(number), "literal")), transaction=str(number))
        await kp.say("QUERY", EVERYTHING, transaction="last")
        answers = [await kp.next() for _ in range(201)]
        assert [each.header["transaction_id"] for each in answers] == [*map(str, range(200)), "last"]
        assert len(answers[-1].triples()) == 200
