"""Time and memory of a report over many rows: 10,000 samples × 8 arms × 3 repeats unless told otherwise.

    .venv/bin/python bench/report_size.py [--samples 10000] [--arms 8] [--repeats 3] [--cells 14]

Rows are made one by one while the report reads them, as a store would hand them out; making them is timed
apart and left out.
"""

import argparse
import resource
import time
from collections.abc import Iterator

import numpy as np

from gnomon.job import trial_id
from gnomon.outcome import Outcome
from gnomon.report.build import build_report
from gnomon.report.html import render_html
from gnomon.row import Row
from gnomon.spec import JobSpec

TOOLS = {"bearing": {"calls": 2, "bad_arguments": 0, "errors": 0}}


def rows(samples: int, arms: int, repeats: int, cells: int) -> Iterator[Row]:
    random = np.random.default_rng(0)
    for sample in range(samples):
        level = random.uniform(0.2, 0.7)
        right = random.random((repeats, arms)) < level + 0.02 * np.arange(arms)
        for repeat in range(repeats):
            for arm in range(arms):
                yield Row(
                    job_id="j",
                    trial_id=trial_id("j", f"s{sample}", "m", f"arm{arm}", repeat),
                    benchmark="worlds",
                    task="t",
                    cell=f"cell{sample % cells:02}",
                    sample_id=f"s{sample}",
                    cluster=f"v{sample // 5}",
                    model="m",
                    arm=f"arm{arm}",
                    repeat=repeat,
                    outcome=Outcome.SCORED,
                    stop_reason="answered",
                    score=float(right[repeat, arm]),
                    answer="A",
                    tool_calls=2 if arm else 0,
                    tools_used=TOOLS if arm else {},
                    prompt_tokens=100,
                    completion_tokens=10,
                    usd=0.001,
                    wall_s=0.5,
                )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, default in (("samples", 10_000), ("arms", 8), ("repeats", 3), ("cells", 14)):
        parser.add_argument(f"--{name}", type=int, default=default)
    size = vars(parser.parse_args())
    spec = JobSpec.model_validate(
        {
            "benchmark": "worlds",
            "models": [{"id": "m"}],
            "arms": [{"name": f"arm{arm}", "agent": "direct"} for arm in range(size["arms"])],
            "repeats": size["repeats"],
        }
    )
    planned = size["samples"] * size["arms"] * size["repeats"]
    start = time.perf_counter()
    for _ in rows(**size):
        pass
    making_s = time.perf_counter() - start
    start = time.perf_counter()
    report = build_report(job_id="j", spec=spec, status="completed", rows=rows(**size), planned=planned)
    report_s = time.perf_counter() - start - making_s
    start = time.perf_counter()
    page = render_html(report)
    page_s = time.perf_counter() - start
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{planned:,} rows: report {report_s:.1f} s, page {page_s:.1f} s ({len(page) / 1e6:.1f} MB), ", end=""
    )
    print(f"peak {peak_mb:.0f} MB; making the rows took {making_s:.1f} s besides")


if __name__ == "__main__":
    main()
