"""Resolves the dependencies again into requirements/*.lock, with hashes, for every supported Python.

Releases younger than a week are left out: most malicious ones are found within days.
Run it by `make lock`; it needs uv, which it finds on the PATH or installs into the environment.
"""

import datetime as dt
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
RUN = ["build", "postgresql", "tracing"]
# The servers that `make evidence` asks have environments of their own.
SERVERS = {
    "evidence-servers": ("mcp-server-time",),
    "card-servers": ("mcp-server-calculator", "mcp-server-git", "mcp-server-sqlite", "unit-converter-mcp"),
}
EXTRAS = {"run": RUN, "dev": [*RUN, "audit", "frames", "dev", "lm"]}


def main() -> None:
    """Write the lock files."""
    uv = shutil.which("uv") or str(Path(sys.executable).parent / "uv")
    if not Path(uv).exists():
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "uv"], check=True)
    newest = dt.datetime.now(dt.UTC) - dt.timedelta(days=7)
    command = [
        uv,
        "pip",
        "compile",
        "--quiet",
        "--universal",
        "--generate-hashes",
        "--no-header",
        "--no-annotate",
    ]
    command += ["--python-version", "3.11", "--exclude-newer", newest.isoformat(), "--upgrade"]
    projects = ["pyproject.toml", *map(str, sorted(Path("packages").glob("*/pyproject.toml")))]
    for kind, extras in EXTRAS.items():
        flags = [flag for extra in extras for flag in ("--extra", extra)]
        if kind == "dev":
            flags += ["--constraint", "requirements/run.lock"]
        write = [*command, *flags, *projects, "--output-file", f"requirements/{kind}.lock"]
        subprocess.run(write, cwd=ROOT, check=True)  # noqa: S603 our own arguments
    for name, packages in SERVERS.items():
        write = [*command, "-", "--output-file", f"requirements/{name}.lock"]
        subprocess.run(write, input="\n".join(packages), text=True, cwd=ROOT, check=True)  # noqa: S603 our own arguments


if __name__ == "__main__":
    main()
