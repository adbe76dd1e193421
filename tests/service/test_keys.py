"""Keys: what an entry says, and how one is struck out while the service runs."""

import datetime as dt
import re
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gnomon.core.errors import SpecError
from gnomon_service.api_keys import RELOAD_S, KeyRing, entry_of, new_key, parse_key, read_key_file
from gnomon_service.cli.main import main
from gnomon_service.settings import read_settings
from tests.service.play import OpenApi

KEY, OTHER = "first-key-0123456789", "second-key-012345678"


def scope(ring: KeyRing, key: str, today: dt.date | None = None) -> str | None:
    entry = ring.find(key, today=today)
    return None if entry is None else entry.scope


def test_keys_are_kept_as_digests_only() -> None:
    settings = read_settings({"GNOMON_API_KEYS": f"{KEY}, read {OTHER}"})
    assert [scope(settings.api_keys, key) for key in (KEY, OTHER, "another")] == ["run", "read", None]
    assert KEY not in repr([vars(settings.api_keys), settings.api_keys])


def test_an_entry_lets_in_the_key_it_was_made_for_and_no_other() -> None:
    key = new_key()
    ring = KeyRing([parse_key(entry_of(key, "read"))])
    assert scope(ring, key) == "read"
    assert scope(ring, new_key()) is scope(ring, "") is None


def test_of_two_live_entries_the_wider_one_holds() -> None:
    entries = (f"read {KEY}", f"run {KEY} until 2020-01-01", f"run {KEY} until 2999-01-01")
    assert scope(KeyRing(map(parse_key, entries)), KEY) == "run"
    assert scope(KeyRing(map(parse_key, entries[:2])), KEY) == "read"


def test_a_key_opens_on_its_last_day_and_not_after() -> None:
    ring = KeyRing([parse_key(f"{KEY} until 2026-03-01")])
    assert scope(ring, KEY, today=dt.date(2026, 3, 1)) == "run"
    assert scope(ring, KEY, today=dt.date(2026, 3, 2)) is None


@pytest.mark.parametrize(
    "entry",
    ["short", f"write {KEY}", f"{KEY} {OTHER}", "sha256:12", f"{KEY} until tomorrow", f"{KEY} until", "read"],
)
def test_a_bad_entry_is_refused_without_repeating_it(entry: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_key(entry)
    assert caught.value.field == "GNOMON_API_KEYS"
    assert KEY not in str(caught.value)


def test_a_key_file_says_which_line_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text(f"# the lab\n{KEY}  # Ada\n\nread {OTHER}\n")
    assert [key.scope for key in read_key_file(file)] == ["run", "read"]
    file.write_text(f"{KEY}\nbad\n")
    with pytest.raises(SpecError, match="16 or more") as caught:
        read_key_file(file)
    assert caught.value.field == "GNOMON_API_KEYS_FILE line 2"


def test_keys_are_rotated_while_the_service_runs(
    open_api: OpenApi, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "keys"
    write(file, f"{KEY}\n")
    api = open_api(GNOMON_API_KEYS_FILE=str(file))
    assert codes(api) == [200, 401]
    write(file, f"{KEY}\n{OTHER}\n")  # both live, so that no caller is shut out on the way
    assert until(api, [200, 200])
    write(file, f"{OTHER}\n")
    assert until(api, [401, 200])
    write(file, "what?\n")  # a broken file opens nothing, rather than what it opened before
    assert until(api, [401, 401])
    assert len(caplog.messages) == 1, "each fault is told once"
    assert "no key of the file is valid until it is mended: GNOMON_API_KEYS_FILE line 1: " in caplog.text
    file.unlink()
    assert codes(api) == [401, 401]


def write(file: Path, text: str) -> None:
    """Replace the file at once, as a careful operator does."""
    new = file.with_suffix(".new")
    new.write_text(text)
    new.replace(file)


def codes(api: TestClient) -> list[int]:
    bearers = [{"Authorization": f"Bearer {key}"} for key in (KEY, OTHER)]
    return [api.get("/v1/jobs", headers=bearer).status_code for bearer in bearers]


def until(api: TestClient, wanted: list[int]) -> bool:
    for _ in range(100):
        if codes(api) == wanted:
            return True
        time.sleep(RELOAD_S / 10)
    return False


def test_the_command_line_makes_keys(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["keys", "new", "--scope", "read", "--until", "2999-01-01"])
    assert ended.value.code == 0
    key, entry = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"gn_[\w-]{43}", key)
    assert scope(KeyRing([parse_key(entry)]), key) == "read"


@pytest.mark.parametrize(
    ("about", "option"),
    [({"name": "a b"}, "--name"), ({"usd": "-1"}, "--usd"), ({"until": dt.date(2020, 1, 1)}, "--until")],
)
def test_a_new_key_is_refused_by_the_option_that_is_wrong(about: dict[str, Any], option: str) -> None:
    with pytest.raises(SpecError) as refused:
        entry_of("0123456789abcdef", "run", **about)
    assert refused.value.field == option
