"""The image and what Compose makes of it: linted, and in agreement with each other and with the broker."""

import json
import os
import re
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from deploy.places import (
    DEPLOY,
    ROOT,
    dockerfile,
    environment_of_the_image,
    last_stage,
    read_yaml,
    run,
    seconds,
)  # fmt: skip
from gates.wire import Broker
from ports import free_ports
from tidings.server import gates
from tidings.server.config import ENVIRONMENT, SETTINGS, read_settings
from tidings.server.exposure import check_exposure
from tidings.server.health import Health, HealthServer

COMPOSE: dict[str, Any] = read_yaml(DEPLOY / "compose.yaml")
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
HADOLINT = Path(sys.prefix) / "bin" / "hadolint"


# -- the image --------------------------------------------------------------------------------------------------


def test_the_dockerfile_passes_the_linter() -> None:
    run(HADOLINT, "--failure-threshold", "style", DEPLOY / "Dockerfile")


def test_the_linter_would_complain(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("FROM python\nRUN cd /tmp && pip install x\nCMD tidings\n")
    with pytest.raises(AssertionError, match="DL3006"):
        run(HADOLINT, "--failure-threshold", "style", tmp_path / "Dockerfile")


def test_every_stage_begins_with_a_version_of_python_that_the_broker_supports() -> None:
    bases = [each.rest for each in dockerfile() if each.name == "FROM"]
    assert {base.split()[0] for base in bases} == {"python:${PYTHON}", "wheels"}
    (version,) = [each.rest for each in dockerfile() if each.rest.startswith("PYTHON=")]
    assert re.fullmatch(r"PYTHON=3\.(11|12|13)-slim-\w+", version)


def test_everything_is_installed_at_the_versions_of_the_constraints() -> None:
    runs = [each.rest for each in dockerfile() if each.name == "RUN"]
    installing = [call for rest in runs for call in re.findall(r"pip (?:--python \S+ )?(?:install|wheel)\b[^&]*", rest)]
    assert len(installing) == 4
    assert all("-c constraints.txt" in call for call in installing)


def test_the_image_has_the_thesaurus_that_set_up_gets() -> None:
    tool = (ROOT / "scripts" / "tool").read_text()
    (version,), (digest,) = (re.findall(rf"^moby_{name}=(\S+)$", tool, re.MULTILINE) for name in ("version", "digest"))
    (getting,) = [each.rest for each in dockerfile() if "share/moby" in each.rest]
    assert f"moby@{version} " in getting
    assert f"{digest}  /source/moby-{version}.tgz" in getting


def test_the_image_runs_the_broker_as_somebody_without_rights() -> None:
    (user,) = last_stage("USER")
    assert re.fullmatch(r"([1-9]\d{3,}):\1", user)
    (made,) = [rest for rest in last_stage("RUN") if "useradd" in rest]
    assert f"--uid {user.split(':')[0]}" in made
    assert [json.loads(rest) for rest in (*last_stage("ENTRYPOINT"), *last_stage("CMD"))] == [["tidings"], ["serve"]]
    assert last_stage("STOPSIGNAL") == ["SIGTERM"]


def test_the_image_has_settings_under_which_a_broker_serves_its_volume_and_its_ports() -> None:
    environment = environment_of_the_image()
    settings = read_settings({}, environment)
    assert settings.host == "0.0.0.0"
    check_exposure(settings)
    assert settings.health_port not in {None, settings.http_port, settings.ws_port}
    assert last_stage("EXPOSE") == [f"{settings.http_port} {settings.ws_port}"]
    assert [json.loads(rest) for rest in last_stage("VOLUME")] == [[settings.data]]
    assert _named(environment) <= _known()


def test_the_image_is_built_from_what_it_needs_and_from_nothing_else() -> None:
    ignored, *rest = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    welcome = {line[1:] for line in rest if line.startswith("!")}
    assert ignored == "*"
    copied = [each.rest.split()[:-1] for each in dockerfile() if each.name == "COPY" and "--from" not in each.rest]
    assert {name for names in copied for name in names} == welcome
    assert all((ROOT / name).exists() for name in welcome)


# -- its health -------------------------------------------------------------------------------------------------


def health(port: int, variable: str = "TIDINGS_HTTP_PORT") -> subprocess.CompletedProcess[str]:
    """What the health check of the image says, run as the image runs it."""
    (check,) = last_stage("HEALTHCHECK")
    program, *arguments, path = json.loads(check.partition("CMD ")[2])
    assert (program, path) == ("python", "/opt/tidings/healthcheck.py")
    environment = {variable: str(port), "http_proxy": "http://127.0.0.1:9", "PATH": os.environ["PATH"]}
    return subprocess.run(
        [sys.executable, *arguments, DEPLOY / "healthcheck.py"],
        env=environment, capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip


@pytest.mark.server
def test_a_broker_that_is_well_passes_the_health_check(broker: Broker) -> None:
    checked = health(broker.http_port)
    assert (checked.returncode, json.loads(checked.stdout)["status"]) == (0, "ok"), checked


def test_a_broker_that_starts_passes_the_health_check_at_the_port_of_health() -> None:
    with HealthServer(Health(time.monotonic), "127.0.0.1", 0) as server:
        checked = health(server.port, "TIDINGS_HEALTH_PORT")
    assert (checked.returncode, json.loads(checked.stdout)["status"]) == (0, "starting"), checked


def test_nobody_does_not_pass_the_health_check() -> None:
    (port,) = free_ports(1)
    checked = health(port)
    assert (checked.returncode, checked.stderr) == (1, "")
    assert f"nobody answers at port {port}" in checked.stdout


def test_a_broker_that_says_that_it_is_not_well_does_not_pass_the_health_check() -> None:
    class Unwell(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(503, "log_broken")

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- its name in the base class
            """Nothing on stderr."""

    with HTTPServer(("127.0.0.1", 0), Unwell) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        checked = health(server.server_port)
        thread.join()
    assert checked.returncode == 1
    assert "log_broken" in checked.stdout


# -- Compose ----------------------------------------------------------------------------------------------------


def test_compose_publishes_on_this_machine_only() -> None:
    ports = [port for service in SERVICES.values() for port in service["ports"]]
    assert all(re.fullmatch(r"127\.0\.0\.1:(\d+):\1", port) for port in ports), ports


def test_compose_publishes_the_ports_and_keeps_the_volume_of_the_image() -> None:
    published = {port.rpartition(":")[2] for port in SERVICES["broker"]["ports"]}
    assert published == set(last_stage("EXPOSE")[0].split())
    mounted = [volume.split(":")[1] for volume in SERVICES["broker"]["volumes"]]
    assert mounted == json.loads(last_stage("VOLUME")[0])


def test_what_compose_mounts_is_there_or_is_a_volume_of_its_own() -> None:
    mounts: list[str] = [volume for service in SERVICES.values() for volume in service["volumes"]]
    files = [mount for mount in mounts if mount.startswith(".")]
    assert all((DEPLOY / mount.split(":")[0]).exists() for mount in files), files
    assert all(mount.endswith(":ro") for mount in files), files
    assert {mount.split(":")[0] for mount in mounts if mount not in files} == COMPOSE["volumes"].keys()


def test_compose_builds_the_image_of_the_dockerfile() -> None:
    build = SERVICES["broker"]["build"]
    context = (DEPLOY / build["context"]).resolve()
    assert context == ROOT
    assert context / build["dockerfile"] == DEPLOY / "Dockerfile"
    arguments = {each.rest.split("=")[0] for each in dockerfile() if each.name == "ARG"}
    assert build["args"].keys() <= arguments


def test_compose_names_images_by_version() -> None:
    images = {name: service["image"] for name, service in SERVICES.items() if "build" not in service}
    assert images.keys() == {"prometheus", "grafana"}
    assert all(re.fullmatch(r"[\w/]+:v?\d+\.\d+\.\d+", image) for image in images.values()), images


@pytest.mark.parametrize("name", SERVICES)
def test_compose_takes_from_a_service_what_it_does_not_need(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["deploy"]["resources"]["limits"].keys() == {"cpus", "memory", "pids"}
    assert "healthcheck" in service or "build" in service  # the image has one


def test_compose_lets_a_broker_end_in_its_own_time_and_open_as_many_files_as_it_may_have_connections() -> None:
    broker = SERVICES["broker"]
    settings = read_settings({}, broker["environment"])
    assert broker["init"] is True
    assert seconds(broker["stop_grace_period"]) > 2 * gates.LAST_SECONDS + 5
    assert broker["ulimits"]["nofile"]["soft"] > settings.max_connections + settings.max_requests + 1000
    assert _named(broker["environment"]) <= _known()


def test_settings_in_examples_are_settings_that_exist() -> None:
    example = (DEPLOY / "systemd" / "tidings.env").read_text()
    given = dict(re.findall(r"^# (TIDINGS_\w+)=(.*)$", example, re.MULTILINE))
    assert len(given) > 5
    assert given.keys() <= _known()
    read_settings({}, given)
    written = "".join(path.read_text() for path in [*DEPLOY.rglob("*"), ROOT / "docs" / "deploy.md"] if path.is_file())
    assert set(re.findall(r"TIDINGS_[A-Z_]*[A-Z]", written)) <= _known() | {"TIDINGS_HTTP", "TIDINGS_WS", "TIDINGS_CA"}


def _known() -> set[str]:
    return {ENVIRONMENT + setting.name.upper() for setting in SETTINGS}


def _named(environment: dict[str, str]) -> set[str]:
    return {name for name in environment if name.startswith(ENVIRONMENT)}
