"""Audits the blind placebo: whether its results tell anything about the answer, and whether it looks live.

    python bench/placebo_audit.py ROWS.ndjson

Reads the rows of a job with the arms `raw`, `placebo` and `live`, such as that of examples/placebo.yaml.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from gnomon.statistics.design import design
from gnomon.statistics.paired import compare

MEASURES = ("tool_calls", "model_calls", "tool_errors")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    rows = [json.loads(line) for line in parser.parse_args().rows.read_text().splitlines()]
    by_arm: dict[str, dict[str, dict[str, object]]] = defaultdict(dict)
    for row in rows:
        by_arm[row["arm"]][row["sample_id"]] = row
    samples = sorted(by_arm["raw"])
    clusters = np.unique([by_arm["raw"][s]["cluster"] for s in samples], return_inverse=True)[1]
    scores = {
        arm: np.array([float(str(by_arm[arm][s]["score"])) for s in samples])
        for arm in ("raw", "placebo", "live")
    }
    for cell in ("all", *sorted({str(by_arm["raw"][s]["cell"]) for s in samples})):
        inside = np.array([cell in ("all", by_arm["raw"][s]["cell"]) for s in samples])
        plain = design(np.zeros(int(inside.sum()), dtype=np.intp), clusters[inside])
        versus = compare(scores["raw"][inside], scores["placebo"][inside], plain)
        low, high = versus.ci95 or (float("nan"), float("nan"))
        means = "  ".join(f"{arm} {100 * values[inside].mean():5.1f}" for arm, values in scores.items())
        ends = f"[{100 * low:+5.1f}, {100 * high:+5.1f}]"
        print(f"{cell:13} {means}  placebo − raw {100 * versus.diff:+5.1f} {ends}  n = {versus.n}")
    agreement = [
        by_arm["placebo"][s]["answer"] == by_arm["live"][s]["answer"]
        for s in samples
        if by_arm["live"][s]["score"] == 1.0 and by_arm["live"][s]["metrics"]
    ]
    print(f"placebo gives the live arm's right answer in {sum(agreement)} of {len(agreement)} samples")
    for measure in MEASURES:
        means = "  ".join(
            f"{arm} {np.mean([float(str(row[measure])) for row in by_arm[arm].values()]):.3f}"
            for arm in by_arm
        )
        print(f"{measure:13} {means}")


if __name__ == "__main__":
    main()
