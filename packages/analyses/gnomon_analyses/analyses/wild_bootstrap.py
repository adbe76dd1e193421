"""Tests each difference by the wild cluster bootstrap, beside what the report says."""

from collections.abc import Iterator
from typing import Any

from gnomon.report.section import pair_key
from gnomon.report.text_formats import count, p_text, points
from gnomon_analyses.kinds import ComputedFromJob, need
from gnomon_analyses.statistics.wild_bootstrap import wild_bootstrap as bootstrapped
from gnomon_analyses.stored_job import StoredJob

MIN_CLUSTERS = 3


def count_wild(job: StoredJob) -> dict[str, Any]:
    """By compared pair: p and interval of the wild bootstrap, and the report's p, interval and verdict.

    Raises:
        SpecError: fewer than three clusters hold samples of a pair.
    """
    verdicts = {pair_key(contrast): contrast for contrast in job.verdicts(job.scores)}
    rows = []
    for pair in job.compared:
        paired, contrast = job.paired(pair), verdicts[pair.key]
        need("clusters", paired.grouping.clusters_n, MIN_CLUSTERS)
        wild = bootstrapped(paired.variant - paired.baseline, paired.grouping)
        rows.append(
            {
                "model": pair.model,
                "baseline": pair.baseline,
                "variant": pair.variant,
                "samples": len(paired.baseline),
                "clusters": paired.grouping.clusters_n,
                "diff": paired.grouping.mean(paired.variant - paired.baseline),
                "p": wild.p if wild else None,
                "ci95": list(wild.ci95) if wild else None,
                "weights": wild.weights if wild else None,
                "draws": wild.draws if wild else None,
                "all_patterns": wild.is_exhaustive if wild else None,
                "report": {key: contrast[key] for key in ("p", "test", "ci95", "interval_method", "verdict")},
            }
        )
    return {"pairs": rows}


def lines(result: dict[str, Any]) -> Iterator[str]:
    """Two lines for each pair: the wild bootstrap's, and the report's beside it."""
    for pair in result["pairs"]:
        size = f"{count(pair['samples'], 'sample')} in {count(pair['clusters'], 'cluster')}"
        yield (
            f"{pair['model']}: {pair['variant']} − {pair['baseline']} {points(pair['diff'])} points ({size})"
        )
        if pair["p"] is None:
            yield "  wild cluster bootstrap: none, as all clusters change alike"
        else:
            draws = f"{'all ' if pair['all_patterns'] else ''}{pair['draws']:,} draws"
            low, high = (None if end is None else points(end) for end in pair["ci95"])
            yield (
                f"  wild cluster bootstrap: p {p_text(pair['p'])}, 95 % {low or 'no lower end'} to"
                f" {high or 'no upper end'} ({pair['weights']}, {draws})"
            )
        report = pair["report"]
        ends = report["ci95"]
        reach = f"95 % {points(ends[0])} to {points(ends[1])}" if ends else "no interval"
        yield (
            f"  the report: p {p_text(report['p'])} ({report['test']}), {reach}"
            f" ({report['interval_method']}); {report['verdict']}"
        )


wild_bootstrap = ComputedFromJob(
    name="wild_bootstrap",
    description="The wild cluster bootstrap of each difference: for few and unequal clusters.",
    count=count_wild,
    lines=lines,
)
