"""The locked packages: each file is pinned by its hash, and another file is not installed."""

import hashlib
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

LOCKS = sorted((Path(__file__).parents[2] / "requirements").glob("*.lock"))
METADATA = "Metadata-Version: 2.1\nName: planted\nVersion: 1\n"


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_locked_package_has_a_version_and_hashes(lock: Path) -> None:
    entries = re.split(r"\n(?=\S)", lock.read_text().strip().replace("\\\n", ""))
    packages = [entry for entry in entries if not entry.startswith(("#", "-"))]
    assert packages
    for entry in packages:
        assert re.search(r"==| @ ", entry), entry[:80]
        assert re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry), entry[:80]


@pytest.mark.parametrize("is_tampered", [False, True])
def test_a_file_that_was_tampered_with_is_not_installed(tmp_path: Path, is_tampered: bool) -> None:
    wheel = tmp_path / "planted-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("planted.py", "")
        file.writestr("planted-1.dist-info/METADATA", METADATA)
        file.writestr("planted-1.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr("planted-1.dist-info/RECORD", "")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    (tmp_path / "planted.lock").write_text(f"planted==1 --hash=sha256:{digest}\n")
    if is_tampered:
        with zipfile.ZipFile(wheel, "a") as file:
            file.writestr("more.py", "print('ours now')")
    install = [sys.executable, "-m", "pip", "install", "--isolated", "--no-index", "--no-deps"]
    where = ["--find-links", str(tmp_path), "--target", str(tmp_path / "there")]
    done = subprocess.run(
        [*install, *where, "--require-hashes", "--requirement", str(tmp_path / "planted.lock")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (tmp_path / "there" / "planted.py").exists() is not is_tampered
    assert ("DO NOT MATCH THE HASHES" in done.stderr) is is_tampered, done.stderr
