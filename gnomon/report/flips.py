"""The report's flips: which samples one arm got right and the other wrong."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gnomon.report.contrasts import groups_of
from gnomon.report.pairs import ArmPair
from gnomon.report.schema import FlippedSample, Flips
from gnomon.report.score_matrix import RIGHT, ScoreMatrix
from gnomon.report.trace_diff import align

LISTED = 200
TRACED_PRIMARY, TRACED = 40, 8  # flips that open both traces
ReadTrace = Callable[[str], Mapping[str, Any] | None]


def flips(ledger: ScoreMatrix, pair: ArmPair, *, trace: ReadTrace) -> Flips:
    """The flipped samples of a pair, greatest change first, at most 200 of them.

    `trace` reads a stored trace; the first 40 rows of a primary pair (8 of another) hold both, aligned.
    """
    one, other = groups_of(ledger, pair)
    baseline, variant = ledger.scores(one), ledger.scores(other)
    both = np.isfinite(baseline) & np.isfinite(variant)
    flipped = np.flatnonzero(both & ((baseline >= RIGHT) != (variant >= RIGHT)))
    change = np.abs(variant[flipped] - baseline[flipped])
    order = sorted(range(len(flipped)), key=lambda k: (-change[k], ledger.samples[flipped[k]]))

    traced = TRACED_PRIMARY if pair.is_primary else TRACED

    def listed(sample: int, place: int) -> FlippedSample:
        name, ids = (
            ledger.samples[sample],
            (ledger.trial(one, sample), ledger.trial(other, sample)),
        )
        return {
            "sample_id": name,
            "cell": ledger.cell_names[ledger.cells[sample]],
            "kind": "rescued" if variant[sample] > baseline[sample] else "broken",
            "baseline_score": float(baseline[sample]),
            "variant_score": float(variant[sample]),
            "baseline_answer": ledger.answer(one, sample),
            "variant_answer": ledger.answer(other, sample),
            "baseline_trial": ids[0],
            "variant_trial": ids[1],
            "aligned": align(trace(ids[0]), trace(ids[1])) if place < traced and ids[0] and ids[1] else None,
        }

    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "total": len(flipped),
        "traced": min(traced, len(flipped)),
        "samples": [listed(int(flipped[k]), place) for place, k in enumerate(order[:LISTED])],
    }
