"""Data folders: nobody but their owner reads them."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gnomon_service.data_folder import keep_private
from tests.service.play import SPEC


def opened(folder: Path) -> list[str]:
    """What others may read or enter, sockets and links left out."""
    found = (folder, *folder.rglob("*"))
    return [f"{path.stat().st_mode & 0o777:o} {path.name}" for path in found if path.stat().st_mode & 0o077]


def test_a_run_leaves_nothing_for_others_and_its_report_as_the_user_wants_it(
    tmp_path: Path, run_gnomon: Callable[..., "subprocess.CompletedProcess[str]"]
) -> None:
    (tmp_path / "job.json").write_text(json.dumps({**SPEC, "select": {"limit": 1}}))
    done = run_gnomon("run", "job.json", "--data-dir", "data", "--out", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert opened(tmp_path / "data") == []
    (tmp_path / "as-the-user-wants").touch()
    wanted = (tmp_path / "as-the-user-wants").stat().st_mode
    assert (tmp_path / "out" / "report.html").stat().st_mode == wanted


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder as earlier versions left it."""
    folder = tmp_path / "old"
    (folder / "media" / "ab").mkdir(parents=True)
    for file in ("gnomon.db", f"media/ab/{'ab' * 32}"):
        (folder / file).write_text("x")
        (folder / file).chmod(0o644)
    for path in (folder, folder / "media", folder / "media" / "ab"):
        path.chmod(0o755)
    return folder


def test_an_open_folder_is_closed(old: Path) -> None:
    keep_private(old)
    assert opened(old) == []


def test_what_is_not_ours_beside_it_stays_as_it_was(old: Path) -> None:
    (old / "thesis.tex").write_text("x")
    (old / "thesis.tex").chmod(0o644)
    (old / "link").symlink_to(old / "thesis.tex")
    keep_private(old)
    assert sorted(opened(old)) == sorted(["755 old", "644 thesis.tex", "644 link"])


OWN_FOLDERS = (
    "media/ab/photo.jpg",
    "logs/debug.log",
    "redis/redis.conf",
    "demo/index.html",
    "analyses/a.ipynb",
)


@pytest.mark.parametrize("theirs", OWN_FOLDERS)
@pytest.mark.parametrize("store", ["gnomon.db", None])
def test_a_folder_of_somebody_s_own_stays_open_whatever_it_is_called(
    tmp_path: Path, theirs: str, store: str | None
) -> None:
    files = [tmp_path / theirs, *([tmp_path / store] if store else [])]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x")
        file.chmod(0o644)
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(path.stat().st_mode | 0o055) if path.is_dir() else None
    before = {path: path.stat().st_mode for path in (tmp_path, *tmp_path.rglob("*"))}
    keep_private(tmp_path)
    changed = [path.name for path, mode in before.items() if path.stat().st_mode != mode]
    assert changed == ([store] if store else [])


def test_a_folder_that_holds_analyses_is_closed_too(old: Path) -> None:
    (old / "analyses" / "0a1b").mkdir(parents=True)
    (old / "analyses" / "0a1b" / "cases.ndjson").write_text("{}")
    keep_private(old)
    assert opened(old) == []


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    keep_private(tmp_path / "none")
    assert not (tmp_path / "none").exists()
