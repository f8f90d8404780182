"""Publishing from the page: what an update would do first, then what it did; and what is known of a resource."""

import pytest
from playwright.sync_api import Page, Route, expect

from dashboard.conftest import Visit, serious_findings, write
from gates.wire import Broker
from waiting import PATIENCE, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
expect.set_options(timeout=1000 * PATIENCE)

POWER = "SELECT ?power WHERE { <urn:lamp:1> <urn:power> ?power }"


def power(broker: Broker) -> list[str]:
    return [row["power"]["value"] for row in broker.query(POWER)]


def opened(visit: Visit) -> Page:
    page = visit.open("#/update")
    expect(page.get_by_role("textbox", name="SPARQL update")).to_be_visible()
    return page


def test_an_update_is_tried_out_and_then_published(visit: Visit, broker: Broker) -> None:
    page = opened(visit)
    page.get_by_role("button", name="Try it out").click()
    expect(page.get_by_text("It would add 1 quad and remove 0. Nothing has been done yet.")).to_be_visible()
    expect(page.get_by_role("region", name="What it would do")).to_contain_text("<urn:lamp:1>")
    assert power(broker) == []
    assert serious_findings(page) == []
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_text("+1 −0")).to_be_visible()
    assert power(broker) == ["40"]


def test_an_update_for_later_waits_in_a_list_and_can_be_cancelled(visit: Visit, broker: Broker) -> None:
    page = opened(visit)
    write(page, "PREFIX l: <urn:lamp:> INSERT DATA { l:1 <urn:power> 40 }")
    page.get_by_label("When").select_option("P1D")
    page.get_by_role("button", name="Publish").click()
    waiting = page.get_by_role("region", name="Delayed updates").get_by_role("listitem").filter(has_text="l:1")
    expect(waiting).to_be_visible()
    expect(waiting.locator("code")).to_have_text("INSERT DATA { l:1 <urn:power> 40 }")
    waiting.get_by_role("button", name="Cancel").click()
    expect(waiting).to_have_count(0)
    assert power(broker) == []


def test_a_file_is_loaded_into_a_graph_and_the_graph_dropped_after_a_question(visit: Visit, broker: Broker) -> None:
    page = opened(visit)
    content = {"name": "lamps.ttl", "mimeType": "text/turtle", "buffer": b"<urn:lamp:1> <urn:power> 40, 41 ."}
    page.get_by_label("File").set_input_files(content)  # type: ignore[arg-type]
    page.get_by_label("Graph", exact=True).fill("urn:loaded")
    page.get_by_role("button", name="Load").click()
    expect(page.get_by_text("lamps.ttl: 2 triples added.")).to_be_visible()
    content = {"name": "table.csv", "mimeType": "text/csv", "buffer": b"a,b"}
    page.get_by_label("File").set_input_files(content)  # type: ignore[arg-type]
    page.get_by_role("button", name="Load").click()
    expect(page.get_by_role("alert")).to_contain_text("table.csv is none of .ttl, .nt,")
    row = page.get_by_role("row").filter(has_text="urn:loaded")
    row.get_by_role("button", name="Drop").click()
    row.get_by_role("button", name="Yes, remove them").click()
    expect(row).to_have_count(0)
    wait_until(lambda: broker.query("SELECT * WHERE { GRAPH <urn:loaded> { ?s ?p ?o } }") == [])


def test_a_slow_answer_does_not_bring_back_the_graphs_of_before(visit: Visit, broker: Broker) -> None:
    held: list[Route] = []

    def hold_the_first(route: Route) -> None:
        if held or "COUNT" not in (route.request.post_data or route.request.url):
            route.continue_()
        else:
            held.append(route)

    visit.page.route("**/query*", hold_the_first)
    page = opened(visit)
    wait_until(lambda: bool(page.evaluate("true") and held))  # the page goes on while it is asked something
    before = held[0].fetch()
    broker.update("INSERT DATA { GRAPH <urn:later> { <urn:s> <urn:p> 1 } }")
    page.get_by_role("button", name="Publish", exact=True).click()
    row = page.get_by_role("row").filter(has_text="urn:later")
    expect(row).to_be_visible()
    with page.expect_response("**/query*"):
        held[0].fulfill(response=before)
    page.evaluate("() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
    expect(row).to_be_visible()
    broker.update("DROP GRAPH <urn:later>")


def test_a_resource_is_described_in_both_directions_and_stays_up_to_date(visit: Visit, broker: Broker) -> None:
    broker.update("INSERT DATA { <urn:a> <urn:p> <urn:b> . <urn:c> <urn:q> <urn:a> }")
    page = visit.open("#/explore?iri=urn:a")
    says, pointed = (page.get_by_role("region", name=name) for name in ("What it says", "What points to it"))
    expect(says.get_by_role("link", name="<urn:b>")).to_be_visible()
    expect(pointed.get_by_role("link", name="<urn:c>")).to_be_visible()
    broker.update("INSERT DATA { <urn:a> <urn:p> 'new' }")
    expect(says.get_by_role("cell", name="new")).to_be_visible()
    pointed.get_by_role("link", name="<urn:c>").click()
    expect(page.get_by_role("heading", name="<urn:c>")).to_be_visible()
    expect(says.get_by_role("link", name="<urn:a>")).to_be_visible()
    expect(pointed.get_by_text("Nothing in the default graph, so far.")).to_be_visible()


def test_nothing_moves_under_the_pointer_when_the_graphs_arrive(visit: Visit, broker: Broker) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        if "COUNT" in (route.request.post_data or route.request.url):
            held.append(route)
        else:
            route.continue_()

    visit.page.route("**/query*", hold)
    page = visit.open("#/explore?iri=urn:a&graph=urn:tidings:demo")
    look = page.get_by_role("button", name="Open")
    wait_until(lambda: bool(page.evaluate("true") and held))
    before = look.bounding_box()
    assert before is not None
    for route in held:
        route.continue_()
    expect(page.get_by_label("Graph").locator("option", has_text="(")).to_have_count(1)
    assert look.bounding_box() == before


def test_a_resource_is_found_by_its_short_name_in_the_graph_of_the_address(visit: Visit, broker: Broker) -> None:
    page = visit.open("#/explore?iri=urn:a&graph=urn:tidings:demo")
    page.get_by_label("IRI").fill("light:LAMP_1_1")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("region", name="What it says").get_by_role("link", name="light:POST_1_1")).to_be_visible()
    broker.update("INSERT DATA { <http://tidings.example/lighting#LAMP_1_1> <urn:p> 'here' }")
    page.get_by_label("Graph").select_option("")
    expect(page.get_by_role("cell", name="here")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("link", name="light:POST_1_1").first).to_be_visible()
    page.get_by_label("IRI").fill("no name")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("alert")).to_have_text("no name is no IRI.")
