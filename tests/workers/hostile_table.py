"""The hostile replies: `python -m tests.workers.hostile_table` prints what each costs, over both paths."""

import sys
import tempfile
import warnings
from pathlib import Path

from gnomon_workers.store import Store
from tests.workers.hostile import CLEAN, MODELS, Damage, damage, hostile, hostile_provider, run_against


def measured() -> str:
    """The table: for each way to end, the replies that end so."""
    found: dict[str, dict[str, Damage]] = {}
    lost: dict[str, int] = {}
    for path in MODELS:
        with tempfile.TemporaryDirectory() as folder, hostile_provider() as provider:
            store = Store(f"sqlite:///{folder}/gnomon.db")
            job = run_against(provider, store, Path(folder), path)
            found[path], clean = damage(provider, list(store.iter_rows(job.id)))
            lost[path] = CLEAN - sum(row.score == 1.0 for row in clean)
            store.close()
    replies: dict[str, list[str]] = {}
    for name in hostile():
        ends = " | ".join(_end(found[path][name]) for path in MODELS)
        replies.setdefault(ends, []).append(name)
    lines = [f"| {' | '.join(MODELS)} | replies |", "|---|" + "---|" * len(MODELS)]
    lines += [f"| {ends} | {'; '.join(names)} |" for ends, names in replies.items()]
    others = ", ".join(f"{count} of {CLEAN} over {path}" for path, count in lost.items())
    return "\n".join([*lines, "", f"Other trials lost: {others}."]) + "\n"


def _end(one: Damage) -> str:
    calls = "1 call" if one.calls == 1 else f"{one.calls} calls"
    return ", ".join([f"`{one.stop_reason}`", *one.flags, calls])


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")  # Pydantic's, of what it is given
    sys.stdout.write(measured())


if __name__ == "__main__":
    main()
