"""The compose file: what it starts exists, no password is built in, only workers have provider keys."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from service.cli.main import COMMANDS
from service.settings import read_settings

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
