"""The query page in a real browser: subscribe, update from elsewhere, and see the row arrive."""

import pytest
from playwright.sync_api import Page, expect

from dashboard.conftest import Visit, serious_findings, with_an_mqtt_gate, write
from gates.wire import Broker
from plain import calls
from waiting import PATIENCE, wait_until

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]
expect.set_options(timeout=1000 * PATIENCE)

POWER = "#/query?query=SELECT+%3Flamp+%3Fpower+WHERE+%7B+%3Flamp+%3Curn%3Apower%3E+%3Fpower+%7D"
LAMP = "INSERT DATA { <urn:lamp:1> <urn:power> 40 }"


def cells(page: Page) -> list[list[str]]:
    rows = page.locator(".body [role=row]:not(.leaving)")
    return [row.locator("[role=cell]").all_inner_texts()[1:] for row in rows.all()]


def downloaded(page: Page, format_: str) -> bytes:
    page.get_by_role("button", name="Download").click()
    with page.expect_download() as begun:
        page.get_by_role("button", name=format_, exact=True).click()
    return begun.value.path().read_bytes()


def test_a_row_that_is_published_elsewhere_arrives_and_leaves(visit: Visit, broker: Broker) -> None:
    page = visit.open(POWER)
    page.get_by_role("button", name="Subscribe").click()
    expect(page.get_by_text("rows appear here as soon as they are published")).to_be_visible()
    broker.update(LAMP)
    expect(page.locator(".arriving")).to_be_visible()
    assert cells(page) == [["<urn:lamp:1>", "40"]]
    page.get_by_role("tab", name="Notifications").click()
    expect(page.locator(".heard tbody tr")).to_have_count(2)
    page.get_by_role("tab", name="Table").click()
    broker.update("DELETE DATA { <urn:lamp:1> <urn:power> 40 } ; INSERT DATA { <urn:lamp:1> <urn:power> 45 }")
    expect(page.locator(".changed")).to_be_visible()
    assert cells(page) == [["<urn:lamp:1>", "45"]]
    broker.update("CLEAR DEFAULT")
    expect(page.locator("[data-rows='0']")).to_be_visible()
    expect(page.get_by_text("The answer is empty")).to_be_visible()


def test_several_subscriptions_are_live_at_once_each_in_its_tab(visit: Visit, broker: Broker) -> None:
    page = visit.open(POWER)
    page.get_by_role("button", name="Subscribe").click()
    expect(page.get_by_text("rows appear here")).to_be_visible()
    page.get_by_role("button", name="Another query").click()
    write(page, "ASK { ?lamp <urn:power> ?power }")
    page.get_by_role("button", name="Subscribe").click()
    expect(page.get_by_role("cell", name="false")).to_be_visible()
    broker.update(LAMP)
    expect(page.get_by_role("cell", name="true")).to_be_visible()
    page.get_by_role("tab", name="SELECT ?lamp").click()
    expect(page.get_by_role("cell", name="40")).to_be_visible()


def test_a_mistake_is_marked_where_the_parser_of_the_broker_found_it(visit: Visit) -> None:
    page = visit.open(POWER)
    write(page, "SELECT ?x WHERE {\n  ?x <urn:p> ,\n}")
    mistake = page.locator(".cm-line").nth(1).locator(".cm-lintRange-error")
    expect(mistake).to_have_text(",")
    expect(page.get_by_role("status").filter(has_text="line 2, column 14")).to_be_visible()
    assert visit.complaints == []  # it was only read
    page.get_by_role("button", name="Run once").click()
    expect(page.get_by_role("alert")).to_contain_text("line 2, column 14")
    wait_until(lambda: bool(page.evaluate("true") and visit.complaints))  # the browser says so as well, in its time
    assert visit.complaints.pop().startswith("Failed to load resource")
    write(page, "SELECT ?x WHERE {\n  ?x <urn:p> 1\n}")
    expect(mistake).to_have_count(0)


def test_words_of_the_data_are_completed_and_their_prefix_declared(visit: Visit) -> None:
    page = visit.open("#/query?query=SELECT+*+WHERE+%7B+%3Fx+a+%7D&graph=urn:tidings:demo")
    page.get_by_role("textbox", name="SPARQL query").focus()
    page.keyboard.press("Control+End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.type("light:PresenceS")
    page.get_by_role("option", name="light:PresenceSensor").click()
    expect(page.locator(".cm-content")).to_have_text(
        "PREFIX light: <http://tidings.example/lighting#>SELECT * WHERE { ?x a light:PresenceSensor}"
    )
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-rows='525']")).to_be_visible()


def test_what_was_asked_before_is_in_a_menu_that_the_window_has_room_for(visit: Visit, broker: Broker) -> None:
    broker.update(LAMP)
    page = visit.open(f"{POWER}&live=1")
    expect(page.locator("[data-rows='1']")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("no longer followed")).to_be_visible()
    write(page, f"PREFIX urn: <urn:> # {'long ' * 30}\nSELECT ?power WHERE {{ ?lamp urn:power ?power }}")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("cell", name="lamp:1")).to_have_count(0)
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 860})
        page.get_by_role("button", name="History").click()
        menu = page.locator(".list.sheet")
        expect(menu.get_by_text("SELECT ?lamp ?power WHERE")).to_be_visible()
        box = menu.bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert box["y"] + box["height"] <= 860
        page.keyboard.press("Escape")


def test_a_link_opens_what_was_shared_and_it_is_live(visit: Visit, broker: Broker) -> None:
    broker.update(LAMP)
    visit.page.route("**/status", with_an_mqtt_gate)
    page = visit.open(f"{POWER}&live=1")
    expect(page.get_by_role("cell", name="40")).to_be_visible()
    expect(page.locator("[data-state=live]")).to_be_visible()
    page.get_by_role("tab", name="Plan").click()
    expect(page.locator(".tree")).to_contain_text("<urn:power>")
    page.get_by_role("tab", name="Connect").click()
    for language, word in {
        "curl": "curl -sN",
        "Python": "async for",
        "JavaScript": "tidings-client",
        "JSAP": "sparql11seprotocol",
        "MQTT": "mosquitto_pub -h site -p 1883 -q 1 -t 'tidings/subscribe'",
    }.items():
        page.get_by_role("tab", name=language).click()
        expect(page.locator("pre")).to_contain_text(word)


def test_an_answer_is_downloaded_in_the_format_that_was_asked_for(visit: Visit, broker: Broker) -> None:
    broker.update(LAMP)
    page = visit.open(POWER)
    page.get_by_role("button", name="Run once").click()
    expect(page.locator("[data-rows='1']")).to_be_visible()
    assert downloaded(page, "CSV") == b"lamp,power\r\nurn:lamp:1,40\r\n"
    assert downloaded(page, "TSV").startswith(b"?lamp\t?power\n<urn:lamp:1>\t")
    assert downloaded(page, "JSON").startswith(b'{"head"')
    assert downloaded(page, "XML").startswith(b"<?xml")
    write(page, "CONSTRUCT WHERE { ?lamp <urn:power> ?power }")
    assert downloaded(page, "Turtle") == b"<urn:lamp:1> <urn:power> 40 .\n"


COUNT_WHAT_IS_ADDED = """
window.added = 0;
new MutationObserver(records => {
  for (const record of records) window.added += record.addedNodes.length;
}).observe(document, { childList: true, subtree: true });
"""
"""How many nodes a page adds to its document, those within what it adds at once counted as one."""


def test_fifty_thousand_rows_are_a_few_in_the_document(visit: Visit, broker: Broker) -> None:
    rows = 50_000
    triples = "\n".join(f"<urn:s:{number}> <urn:power> {number} ." for number in range(rows))
    turtle = {"content-type": "text/turtle"}
    calls.put(f"{broker.http}/rdf-graphs/service?default", content=triples, headers=turtle, timeout=PATIENCE)
    visit.page.add_init_script(COUNT_WHAT_IS_ADDED)
    page = visit.open(f"{POWER}&live=1")
    expect(page.locator(f"[data-rows='{rows}']")).to_be_visible()
    assert page.locator("[role=row]").count() < 100
    page.locator("[role=table]").evaluate("table => { table.scrollTop = table.scrollHeight }")
    expect(page.get_by_role("cell", name="50,000", exact=True)).to_be_visible()
    broker.update("INSERT DATA { <urn:s:new> <urn:power> -1 }")
    expect(page.locator(f"[data-rows='{rows + 1}']")).to_be_visible()
    page.get_by_role("button", name="power").click()
    page.locator("[role=table]").evaluate("table => { table.scrollTop = 0 }")
    expect(page.get_by_role("cell", name="-1", exact=True)).to_be_visible()
    assert page.locator("[role=row]").count() < 100
    assert 0 < page.evaluate("() => window.added") < rows // 10


def test_many_rows_that_are_sorted_take_in_what_comes_right_after(visit: Visit, broker: Broker) -> None:
    """Sorting so many again waits a moment, even if nothing else comes that would have them sorted."""
    triples = "\n".join(f"<urn:s:{number}> <urn:power> {number} ." for number in range(30_000))
    turtle = {"content-type": "text/turtle"}
    calls.put(f"{broker.http}/rdf-graphs/service?default", content=triples, headers=turtle, timeout=PATIENCE)
    page = visit.open(f"{POWER}&live=1")
    expect(page.locator("[data-rows='30000']")).to_be_visible()
    page.get_by_role("button", name="power").click()
    broker.update("INSERT DATA { <urn:s:first> <urn:power> -1 }")
    expect(page.get_by_role("cell", name="-1", exact=True)).to_be_visible()
    broker.update("INSERT DATA { <urn:s:second> <urn:power> -2 }")
    expect(page.get_by_role("cell", name="-2", exact=True)).to_be_visible()


def test_the_page_keeps_nobody_out_by_day_and_by_night(visit: Visit, broker: Broker) -> None:
    broker.update(LAMP)
    page = visit.open(f"{POWER}&live=1")
    expect(page.get_by_role("cell", name="40")).to_be_visible()
    expect(page.locator(".cm-content")).to_be_visible()
    assert serious_findings(page) == []
    page.emulate_media(color_scheme="dark")
    assert serious_findings(page) == []
