"""Data folders: nobody but their owner reads them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from service.data_folder import keep_private
from tests.service.play import SPEC


def opened(folder: Path) -> list[str]:
    """What others may read or enter, sockets and links left out."""
    found = (folder, *folder.rglob("*"))
    return [f"{path.stat().st_mode & 0o777:o} {path.name}" for path in found if path.stat().st_mode & 0o077]


def test_a_run_leaves_nothing_for_others_and_its_report_as_the_user_wants_it(tmp_path: Path) -> None:
    (tmp_path / "job.json").write_text(json.dumps(SPEC))
    command = [sys.executable, "-m", "service.cli", "run", "job.json", "--data-dir", "data", "--out", "out"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        umask=0o022,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert opened(tmp_path / "data") == []
    assert (tmp_path / "out" / "report.html").stat().st_mode & 0o777 == 0o644


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder as earlier versions left it."""
    folder = tmp_path / "old"
    (folder / "media" / "ab").mkdir(parents=True)
    for file in ("gnomon.db", "media/ab/abc"):
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
    (old / "media" / "link").symlink_to(old / "thesis.tex")
    keep_private(old)
    assert sorted(opened(old)) == sorted(["755 old", "644 thesis.tex", "644 link"])


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    keep_private(tmp_path / "none")
    assert not (tmp_path / "none").exists()
