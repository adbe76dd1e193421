"""The report's flips: which samples one arm got right and the other wrong."""

import numpy as np

from gnomon.job import trial_id
from gnomon.report.contrasts import RIGHT, Pair, groups_of
from gnomon.report.ledger import Ledger
from gnomon.report.schema import FlippedSample, Flips

LISTED = 200


def flips(ledger: Ledger, pair: Pair, *, job_id: str) -> Flips:
    """The flipped samples of a pair, greatest change first, at most 200 of them."""
    one, other = groups_of(ledger, pair)
    baseline, variant = ledger.scores(one), ledger.scores(other)
    both = np.isfinite(baseline) & np.isfinite(variant)
    flipped = np.flatnonzero(both & ((baseline >= RIGHT) != (variant >= RIGHT)))
    change = np.abs(variant[flipped] - baseline[flipped])
    order = sorted(range(len(flipped)), key=lambda k: (-change[k], ledger.samples[flipped[k]]))

    def listed(sample: int) -> FlippedSample:
        name = ledger.samples[sample]
        return {
            "sample_id": name,
            "cell": ledger.cell_names[ledger.cells[sample]],
            "kind": "rescued" if variant[sample] > baseline[sample] else "broken",
            "baseline_score": float(baseline[sample]),
            "variant_score": float(variant[sample]),
            "baseline_answer": ledger.answers.get((one, sample)),
            "variant_answer": ledger.answers.get((other, sample)),
            "baseline_trial": trial_id(job_id, name, pair.model, pair.baseline, 0),
            "variant_trial": trial_id(job_id, name, pair.model, pair.variant, 0),
        }

    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "total": len(flipped),
        "samples": [listed(int(flipped[k])) for k in order[:LISTED]],
    }
