"""The image and the compose file: what they name exists, no password is built in, only workers have keys."""

from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml

from gnomon_service.cli.main import COMMANDS
from gnomon_service.settings import read_settings

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    return found


def test_our_services_run_commands_that_there_are(services: dict[str, Any]) -> None:
    for name in ("api", "worker"):
        assert services[name]["command"][0] in COMMANDS.names()
        assert services[name]["read_only"]
        assert services[name]["cap_drop"] == ["ALL"]


def test_every_password_is_the_operators(services: dict[str, Any]) -> None:
    text = (ROOT / "compose.yaml").read_text()
    uses = [line for line in text.splitlines() if "PASSWORD" in line and not line.startswith("#")]
    assert len(uses) >= 5
    assert all("PASSWORD:?set it" in line for line in uses)
    assert services["redis"]["command"][-2] == "--requirepass"


def test_provider_keys_reach_workers_and_nobody_else(services: dict[str, Any]) -> None:
    assert {name for name, service in services.items() if "env_file" in service} == {"worker"}


def test_the_api_asks_for_keys_and_its_settings_are_understood(
    services: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "keys").write_text("a-key-of-some-length\n")
    given = services["api"]["environment"] | {"GNOMON_API_KEYS_FILE": str(tmp_path / "keys")}
    plain = {name: str(value) for name, value in given.items() if "${" not in str(value)}
    assert read_settings(plain, data_dir=tmp_path).api_keys
    assert not any(":" in port.partition("127.0.0.1:")[0] for port in services["api"]["ports"])


def test_what_the_image_is_made_of_is_here_and_it_runs_as_nobody() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    given = [name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]]
    assert len(given) >= 10
    assert [name for name in given if not (ROOT / name).exists()] == []
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "bench"}
    assert packages <= set(given), "each of our packages is in the image"
    assert lines.index("USER gnomon") < lines.index('ENTRYPOINT ["gnomon"]')


def test_secrets_and_volumes_that_services_use_are_declared() -> None:
    whole = yaml.safe_load((ROOT / "compose.yaml").read_text())
    for service in whole["services"].values():
        assert set(service.get("secrets", ())) <= whole["secrets"].keys()
        assert {config["source"] for config in service.get("configs", ())} <= whole["configs"].keys()
        used = {str(volume).partition(":")[0] for volume in service.get("volumes", ())}
        assert {name for name in used if name.isidentifier()} <= whole["volumes"].keys()
        assert set(service.get("depends_on", ())) <= whole["services"].keys()
        assert all("healthcheck" in whole["services"][name] for name in service.get("depends_on", ()))


def test_the_pooler_starts_only_where_it_is_asked_for_and_is_set_as_on_kubernetes() -> None:
    whole = yaml.safe_load((ROOT / "compose.yaml").read_text())
    manifests = (ROOT / "deploy" / "kubernetes" / "pgbouncer.yaml").read_text()
    assert whole["services"]["pgbouncer"]["profiles"] == ["pooled"]

    def read(text: str) -> dict[str, str]:
        parser = ConfigParser()
        parser.read_string(text)
        return {name: value for name, value in parser["pgbouncer"].items() if name != "auth_file"}

    on_kubernetes = next(yaml.safe_load_all(manifests))["data"]["pgbouncer.ini"]
    assert read(whole["configs"]["pgbouncer"]["content"]) == read(on_kubernetes)
