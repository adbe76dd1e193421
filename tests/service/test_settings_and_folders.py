"""The environment, and which paths may be read."""

from pathlib import Path

import pytest

from gnomon.core.errors import SpecError
from gnomon.spec.data_paths import for_command_line, from_request
from gnomon_service.settings import read_settings


def test_an_empty_environment_gives_the_documented_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = read_settings({})
    assert settings.data_dir == tmp_path / ".gnomon"
    assert settings.database_url == f"sqlite:///{tmp_path}/.gnomon/gnomon.db"
    assert settings.is_embedded
    assert settings.media_roots is None
    assert not settings.api_keys


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GNOMON_API_KEYS", "short"),
        ("GNOMON_API_KEYS_FILE", "/nowhere"),
        ("GNOMON_ALLOWED_API_BASES", "what is this"),
        ("GNOMON_ALLOWED_COMMANDS", "uvx 'server"),
        ("GNOMON_MAX_REQUESTS_PER_MINUTE", "0"),
    ],
)
def test_a_bad_variable_is_named(name: str, value: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_settings({name: value})
    assert caught.value.field == name


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, ...]:
    for name in ("one", "two", "secret"):
        (tmp_path / name).mkdir()
    (tmp_path / "two" / "inside.txt").write_text("x")
    (tmp_path / "secret" / "file.txt").write_text("x")
    (tmp_path / "one" / "link").symlink_to(tmp_path / "secret")
    return (tmp_path / "one", tmp_path / "two")


def test_a_request_may_read_under_any_root(roots: tuple[Path, ...]) -> None:
    inside = roots[1] / "inside.txt"
    assert from_request("inside.txt", roots, field="data") == inside
    assert from_request(str(inside), roots, field="data") == inside


@pytest.mark.parametrize(
    "given",
    [
        "../secret/file.txt",
        "link/file.txt",
        "/etc/passwd",
        "/proc/self/environ",
        "nothing",
        "a\0b",
        "~root",
        "x" * 5000,
    ],
)
def test_a_request_leaves_its_roots_on_no_way(roots: tuple[Path, ...], given: str) -> None:
    with pytest.raises(SpecError) as caught:
        from_request(given, roots, field="data")
    assert caught.value.field == "data"


@pytest.mark.parametrize("roots", [None, ()])
def test_without_roots_a_request_reads_nothing(roots: tuple[Path, ...] | None, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="GNOMON_MEDIA_ROOTS"):
        from_request(str(tmp_path), roots, field="data")


def test_a_typed_path_starts_where_the_user_stands(
    roots: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(roots[0])
    assert for_command_line("../secret", None, field="data") == tmp_path / "secret"
    with pytest.raises(SpecError, match="not under GNOMON_MEDIA_ROOTS"):
        for_command_line("../secret", roots, field="data")
    with pytest.raises(SpecError, match=r"does not exist .looked for /"):
        for_command_line("nowhere", None, field="data")
    with pytest.raises(SpecError, match=r"does not exist$"):
        for_command_line(str(roots[0] / "nowhere"), None, field="data")
