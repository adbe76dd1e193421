"""Leaves out one cluster after the other, to see how much the result rests on a single cluster.

A sensitivity check, not a test: a result that turns with one cluster rests on that cluster.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gnomon.report.pairs import ArmPair
from gnomon.report.section import PairKey, pair_key
from gnomon.report.text_formats import count, points
from gnomon.statistics.design import Floats
from gnomon_analyses.kinds import ComputedFromJob, need
from gnomon_analyses.stored_job import PairedScores, StoredJob

MIN_CLUSTERS = 3
JUDGED = 60  # clusters of the greatest weight in the result whose verdict is worked out anew
SHOWN = 10


def count_without(job: StoredJob) -> dict[str, Any]:
    """By compared pair: the range of the difference over all clusters left out, and where the verdict turns.

    The difference is worked out without each cluster. The verdict, by the report's whole rule, is worked out
    without each of the clusters that move the difference most.

    Raises:
        SpecError: fewer than three clusters hold samples of a pair.
    """
    compared = job.compared
    paired = [job.paired(pair) for pair in compared]
    for pair_scores in paired:
        need("clusters", pair_scores.grouping.clusters_n, MIN_CLUSTERS)
    without = [_diffs_without(pair_scores) for pair_scores in paired]
    codes = [np.unique(job.scores.clusters[pair_scores.both]) for pair_scores in paired]
    verdicts = {pair_key(contrast): contrast for contrast in job.verdicts(job.scores)}
    judged = {
        code: {pair_key(c): c["verdict"] for c in job.verdicts(_scores_without(job, code))}
        for code in sorted(_most_moving(paired, without, codes))
    }
    return {
        "pairs": [
            _pair(job, pair, pair_scores, diffs, list(map(int, own)), verdicts[pair.key]["verdict"], judged)
            for pair, pair_scores, diffs, own in zip(compared, paired, without, codes, strict=True)
        ]
    }


def _diffs_without(paired: PairedScores) -> Floats:
    """The difference without each cluster, by code of the pair's own design; NaN where nothing is left."""
    grouping, d = paired.grouping, paired.variant - paired.baseline
    diffs = np.full(grouping.clusters_n, np.nan)
    for cluster in range(grouping.clusters_n):
        rest = grouping.clusters != cluster
        sizes = np.bincount(grouping.strata[rest])
        is_left = sizes > 0
        if is_left.any():
            sums = np.bincount(grouping.strata[rest], d[rest])
            diffs[cluster] = np.mean(sums[is_left] / sizes[is_left])
    return diffs


def _most_moving(paired: list[PairedScores], without: list[Floats], codes: list[Any]) -> set[int]:
    most: set[int] = set()
    for pair_scores, diffs, own in zip(paired, without, codes, strict=True):
        diff = pair_scores.grouping.mean(pair_scores.variant - pair_scores.baseline)
        order = np.argsort(-np.abs(diffs - diff), kind="stable")
        most |= {int(code) for code in own[order[:JUDGED]]}
    return most


def _scores_without(job: StoredJob, cluster: int) -> Any:
    left_out = {
        sample
        for sample, code in zip(job.scores.samples, job.scores.clusters.tolist(), strict=True)
        if code == cluster
    }
    return job.scores_of([row for row in job.rows if row.sample_id not in left_out])


def _pair(
    job: StoredJob,
    pair: ArmPair,
    paired: PairedScores,
    diffs: Floats,
    codes: list[int],
    verdict: str,
    judged: Mapping[int, Mapping[PairKey, str]],
) -> dict[str, Any]:
    diff = paired.grouping.mean(paired.variant - paired.baseline)
    sizes = np.bincount(paired.grouping.clusters)
    clusters: list[dict[str, Any]] = [
        {
            "cluster": job.cluster_names[code],
            "samples": int(sizes[at]),
            "diff_without": float(diffs[at]),
            "moves": float(diffs[at] - diff),
            "verdict_without": judged.get(code, {}).get(pair.key),
        }
        for at, code in enumerate(codes)
    ]
    clusters.sort(key=lambda cluster: (-abs(cluster["moves"]), cluster["cluster"]))
    turned = [c for c in clusters if c["verdict_without"] not in (None, verdict)]
    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "samples": len(paired.baseline),
        "clusters": len(clusters),
        "diff": diff,
        "verdict": verdict,
        "lowest": float(np.nanmin(diffs)),
        "highest": float(np.nanmax(diffs)),
        "judged": sum(c["verdict_without"] is not None for c in clusters),
        "turned": len(turned),
        "turned_by": turned[:SHOWN],
        "most_moving": clusters[:SHOWN],
    }


def lines(result: dict[str, Any]) -> Iterator[str]:
    """The result in words and a table for each pair."""
    for pair in result["pairs"]:
        size = f"{count(pair['samples'], 'sample')} in {count(pair['clusters'], 'cluster')}"
        yield (
            f"{pair['model']}: {pair['variant']} − {pair['baseline']} {points(pair['diff'])} points,"
            f" {pair['verdict']} ({size})."
        )
        reach = f"{points(pair['lowest'])} to {points(pair['highest'])} points"
        yield f"Without any one cluster: {reach}. {_turning(pair)}"
        yield f"  {'left out':<28} {'samples':>7}  {'points':>7}  {'moves':>6}  verdict"
        for c in pair["most_moving"]:
            name = c["cluster"] if len(c["cluster"]) <= 28 else f"{c['cluster'][:27]}…"
            yield (
                f"  {name:<28} {c['samples']:>7}  {points(c['diff_without']):>7}  {points(c['moves']):>6}"
                f"  {c['verdict_without'] or '–'}"
            )


def _turning(pair: dict[str, Any]) -> str:
    of = f"{pair['judged']} of {count(pair['clusters'], 'cluster')} tried, those that move it most"
    if pair["judged"] == pair["clusters"]:
        of = f"all {pair['clusters']} tried"
    if not pair["turned"]:
        return f"The verdict stays ({of})."
    names = ", ".join(f"{c['cluster']} ({c['verdict_without']})" for c in pair["turned_by"])
    return f"The verdict turns without {pair['turned']} ({of}): {names}."


leave_one_cluster_out = ComputedFromJob(
    name="leave_one_cluster_out",
    description="How far each difference and its verdict rest on one cluster of samples.",
    count=count_without,
    lines=lines,
)
