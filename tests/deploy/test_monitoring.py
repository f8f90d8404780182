"""Prometheus, its alerts and the dashboard: checked by promtool, and by a Prometheus that asks a broker."""

import json
import re
from collections.abc import Iterator
from itertools import count
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from deploy.places import (
    DEPLOY,
    HOST,
    ROOT,
    NotListening,
    gibibytes,
    listening,
    read_yaml,
    run,
    tool,
    tries,
    unit_value,
    until,
)
from gates.wire import Broker
from plain import calls
from ports import free_ports
from waiting import PATIENCE

PROMETHEUS = DEPLOY / "prometheus"
ALERTS = [rule for group in read_yaml(PROMETHEUS / "alerts.yml")["groups"] for rule in group["rules"]]
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana" / "dashboards" / "tidings.json").read_text())
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
EXPRESSIONS = [target["expr"] for panel in PANELS for target in panel.get("targets", ())]
OF_PROMETHEUS = {"up"}
"""What Prometheus says of those it asks."""
_WORDS = {"and", "or", "unless", "sum", "by"}


def metrics_in(expression: str) -> set[str]:
    """The metrics that an expression names: names that are no function, no label and no word of the language."""
    bare = re.sub(r"\{[^}]*\}|\[[^]]*\]|by \([^)]*\)", " ", expression)
    return set(re.findall(r"\b[a-zA-Z_]\w*\b(?!\s*\()", bare)) - _WORDS


@pytest.fixture(scope="session")
def exported(broker: Broker) -> set[str]:
    """The names of all samples of a real broker."""
    text = calls.get(f"{broker.http}/metrics", timeout=PATIENCE).text
    return {sample.name for family in text_string_to_metric_families(text) for sample in family.samples}


# -- rules ------------------------------------------------------------------------------------------------------


def test_the_configuration_of_prometheus_passes_its_own_check() -> None:
    assert "is valid prometheus config" in run(tool("promtool"), "check", "config", "prometheus.yml", folder=PROMETHEUS)


def test_the_alerts_fire_when_they_should_and_only_then() -> None:
    run(tool("promtool"), "check", "rules", "alerts.yml", folder=PROMETHEUS)
    assert "SUCCESS" in run(tool("promtool"), "test", "rules", "alerts.test.yml", folder=PROMETHEUS)


def test_every_alert_is_tested_both_ways() -> None:
    cases = [case for test in read_yaml(PROMETHEUS / "alerts.test.yml")["tests"] for case in test["alert_rule_test"]]
    names = {rule["alert"] for rule in ALERTS}
    assert {case["alertname"] for case in cases if case.get("exp_alerts")} == names
    assert {case["alertname"] for case in cases if not case.get("exp_alerts")} == names


def test_an_alert_says_how_urgent_it_is_and_what_to_do() -> None:
    for rule in ALERTS:
        assert rule["labels"]["severity"] in {"page", "ticket"}
        assert rule["annotations"].keys() == {"summary", "description"}


def test_every_alert_is_explained_in_the_guide() -> None:
    guide = (ROOT / "docs" / "deploy.md").read_text()
    assert set(re.findall(r"`(Tidings[A-Z]\w+)`", guide)) == {rule["alert"] for rule in ALERTS}


def test_names_are_found_in_expressions() -> None:
    expression = 'histogram_quantile(0.9, sum by (instance, le) (rate(a_bucket{job="x"}[5m]))) > 0.1 * b and c_total'
    assert metrics_in(expression) == {"a_bucket", "b", "c_total"}


@pytest.mark.server
@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: rule["alert"])
def test_an_alert_is_about_what_a_broker_exports(rule: dict[str, Any], exported: set[str]) -> None:
    named = metrics_in(rule["expr"])
    assert named
    assert named <= exported | OF_PROMETHEUS


def test_memory_is_compared_with_what_the_service_may_have() -> None:
    (rule,) = [rule for rule in ALERTS if rule["alert"] == "TidingsMemory"]
    granted = read_yaml(DEPLOY / "compose.yaml")["services"]["broker"]["deploy"]["resources"]["limits"]["memory"]
    assert unit_value("MemoryMax") == granted
    assert rule["expr"].endswith(f"> 0.8 * {gibibytes(granted)} * 1024 ^ 3")


# -- the dashboard ----------------------------------------------------------------------------------------------


@pytest.mark.server
def test_the_dashboard_shows_what_a_broker_exports_and_all_that_a_broker_exports(exported: set[str]) -> None:
    named = set().union(*map(metrics_in, EXPRESSIONS))
    marked = [annotation["expr"] for annotation in DASHBOARD["annotations"]["list"]]
    chosen = [variable["definition"] for variable in DASHBOARD["templating"]["list"] if "definition" in variable]
    assert chosen == ["label_values(tidings_build_info, instance)"]
    assert named.union(*map(metrics_in, marked)) <= exported
    ours = {re.sub(r"_(count|sum)$", "_bucket", name) for name in exported if name.startswith("tidings_")}
    assert ours <= named


def test_the_dashboard_has_a_row_for_each_matter_and_no_panels_on_top_of_each_other() -> None:
    rows = [panel["title"] for panel in PANELS if panel["type"] == "row"]
    assert rows == ["At a glance", "Updates", "Subscriptions", "Log", "Connections and queries", "Process"]
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    taken: set[tuple[int, int]] = set()
    for panel in PANELS:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert max(x for x, _ in cells) < 24
        assert not cells & taken, panel["title"]
        taken |= cells


def test_the_dashboard_asks_the_source_that_is_provisioned() -> None:
    provisioning = DEPLOY / "grafana" / "provisioning"
    (source,) = read_yaml(provisioning / "datasources" / "prometheus.yml")["datasources"]
    compose = read_yaml(DEPLOY / "compose.yaml")["services"]
    assert source["url"] == f"http://prometheus:{compose['prometheus']['ports'][0].rpartition(':')[2]}"
    scraped = read_yaml(PROMETHEUS / "prometheus.yml")
    assert source["jsonData"]["timeInterval"] == scraped["global"]["scrape_interval"]
    variables = {variable["name"]: variable for variable in DASHBOARD["templating"]["list"]}
    assert variables["datasource"]["current"]["value"] == source["uid"]
    assert {json.dumps(panel["datasource"]) for panel in PANELS if "targets" in panel} == {
        json.dumps({"type": "prometheus", "uid": "${datasource}"})
    }
    (provider,) = read_yaml(provisioning / "dashboards" / "tidings.yml")["providers"]
    assert f"./grafana/dashboards:{provider['options']['path']}:ro" in compose["grafana"]["volumes"]


# -- all of it together -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def prometheus(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A Prometheus as it is deployed, but in a hurry."""
    folder = tmp_path_factory.mktemp("prometheus")
    text = (PROMETHEUS / "prometheus.yml").read_text()
    for written, meant in (("broker:8000", f"{HOST}:{broker.http_port}"), ("15s", "200ms")):
        assert written in text
        text = text.replace(written, meant)
    (folder / "prometheus.yml").write_text(text)
    (folder / "alerts.yml").write_text((PROMETHEUS / "alerts.yml").read_text())
    for last in tries():
        (port,) = free_ports(1)
        options = (
            f"--web.listen-address={HOST}:{port}",
            f"--storage.tsdb.path={folder / 'data'}",
            "--config.file=prometheus.yml",
        )
        try:
            with (
                listening(port, folder / "log", tool("prometheus"), *options),
                httpx.Client(base_url=f"http://{HOST}:{port}", timeout=PATIENCE) as client,
            ):
                until(lambda: client.get("/-/ready").is_success, "what Prometheus does before it answers")
                yield client
                return
        except NotListening:
            if last:
                raise


def asked(prometheus: httpx.Client, expression: str) -> list[dict[str, Any]]:
    """The series that an expression of the dashboard has now."""
    meant = expression.replace("$__rate_interval", "1m").replace("$instance", ".+")
    answer = prometheus.get("/api/v1/query", params={"query": meant}).json()
    assert answer["status"] == "success", answer
    series: list[dict[str, Any]] = answer["data"]["result"]
    return series


@pytest.mark.server
def test_prometheus_has_something_to_show_for_every_expression_of_the_dashboard(
    broker: Broker, prometheus: httpx.Client
) -> None:
    waiting = {*EXPRESSIONS}
    numbers = count(1)

    def all_have_something() -> bool:
        broker.update(f"INSERT DATA {{ <http://e/a> <http://e/p> {next(numbers)} }}")
        waiting.difference_update([expression for expression in waiting if asked(prometheus, expression)])
        return not waiting

    def updates_took_some_time() -> bool:
        broker.update(f"INSERT DATA {{ <http://e/a> <http://e/p> {next(numbers)} }}")
        return any(float(series["value"][1]) > 0 for series in asked(prometheus, _latency()))  # NaN while none is new

    until(all_have_something, "something to show")
    until(updates_took_some_time, "how long updates take")


def _latency() -> str:
    found: str
    (found,) = [each for each in EXPRESSIONS if "0.99" in each and "tidings_update_seconds_bucket" in each]
    return found


@pytest.mark.server
def test_prometheus_evaluates_every_alert_and_none_fires_where_all_is_well(prometheus: httpx.Client) -> None:
    rules: list[dict[str, Any]] = []

    def all_are_evaluated() -> bool:
        groups = prometheus.get("/api/v1/rules").json()["data"]["groups"]
        rules[:] = [rule for group in groups for rule in group["rules"]]
        return bool(asked(prometheus, "up == 1")) and all(rule["health"] != "unknown" for rule in rules)

    until(all_are_evaluated, "an evaluation of all alerts")
    assert {rule["name"]: (rule["health"], rule.get("lastError", "")) for rule in rules} == {
        rule["alert"]: ("ok", "") for rule in ALERTS
    }
    assert {rule["name"] for rule in rules if rule["state"] == "firing"} == set()
