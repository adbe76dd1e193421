"""Measures time and memory of `gnomon report` beside what merely reading its rows takes.

    python -m bench.report_size [--rows 240000 1000000] [--arms 8] [--repeats 3]

At least so many rows: whole samples under all arms, in a store on SQLite. The command runs in a process of
its own, once a format. The floor is a process that reads all columns of the same rows with the driver alone,
and keeps nothing. Start-up is counted everywhere.
"""

import multiprocessing
import sys
import tempfile
from pathlib import Path

from bench.finished_jobs import insert_job
from bench.meter import Spent, spent_by
from bench.servers import GNOMON
from bench.tables import head_of, line_of, parser_of, tell

READ_ALL = (
    "import sqlite3, sys\nfor row in sqlite3.connect(sys.argv[1]).execute('SELECT * FROM results'): pass"
)


def measure(folder: Path, job: str, rows: int) -> None:
    """Print the table of a job in this data folder."""
    tell("\n" + head_of([f"{rows:,} rows", "CPU s", "wall s", "peak MB", "× floor, CPU"]))
    floor = spent_by([sys.executable, "-c", READ_ALL, folder / "gnomon.db"])
    taken: dict[str, Spent] = {"floor: all columns from the driver": floor}
    for kind in ("json", "html", "md"):
        out = folder / f"report.{kind}"
        taken[f"report, {kind}"] = spent_by([GNOMON, "report", job, "--data-dir", folder, "--out", out])
    for name, spent in taken.items():
        figures = (f"{spent.cpu_s:.1f}", f"{spent.wall_s:.1f}", f"{spent.peak_mb:.0f}")
        tell(line_of([name, *figures, f"{spent.cpu_s / floor.cpu_s:.1f}"]))


def main() -> None:
    """Print a table for each number of rows."""
    parser = parser_of(__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[240_000, 1_000_000])
    parser.add_argument("--arms", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    for rows in options.rows:
        samples = -(-rows // (options.arms * options.repeats))
        sizes = {"samples": samples, "arms": options.arms, "repeats": options.repeats}
        with tempfile.TemporaryDirectory() as folder:
            database = f"sqlite:///{folder}/gnomon.db"
            # In a process of its own, as a child's peak counts what its parent has when it starts it.
            with multiprocessing.Pool(1) as filling:
                job = filling.apply(insert_job, (database,), sizes)
            measure(Path(folder), job, samples * options.arms * options.repeats)


if __name__ == "__main__":
    main()
