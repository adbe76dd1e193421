"""Estimates what a job would cost and could detect, before anything is spent."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.clusters import coarsest
from gnomon.core.errors import DataError
from gnomon.core.model import OWN_MODEL, Request, is_built_in
from gnomon.core.retry import changed_fields
from gnomon.core.row import Row
from gnomon.exchange.foreign import benchmark_called
from gnomon.report.cluster_codes import cluster_codes
from gnomon.report.detectable import (
    Detectable,
    Rule,
    never_claims,
    share_claimed,
    smallest_effect,
    within_share,
)
from gnomon.report.enough_samples import enough_samples
from gnomon.report.pairs import ArmPair, pairs
from gnomon.report.score_matrix import read_scores
from gnomon.report.text_formats import count
from gnomon.spec.environment import addresses_from_environment
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.margin_spec import margin_text
from gnomon.spec.model_spec import ModelSpec
from gnomon.statistics.design import ICC, Design, design, strata_of
from gnomon.statistics.power import PERSISTENCE, POWER, PlantedStudy, design_effect, right_or_wrong, spread_of
from gnomon.trials.trial_plan import cluster_of, repeats_of_pair
from gnomon_service.jobs import Draft
from gnomon_service.trial_costs import Probe, arm_costs, assumptions, judge_costs, probe_of, tool_warnings

if TYPE_CHECKING:
    from gnomon.report.contrast import Family
    from gnomon_workers.store.store import Store

DISCORDANT = (0.1, 0.2, 0.3, 0.4)
ENOUGH_DISCORDANT, ENOUGH_EFFECTS = 0.3, (0.2, 0.1)  # for which a job that is too small names a size
CELL_DRAWS = 60  # of a cell's comparison
SHARE_DRAWS = 60  # that show how seldom the largest effect is claimed where it is too small


def plan(
    draft: Draft,
    *,
    store: "Store | None" = None,
    pilot: str | None = None,
    lost: float = 0.0,
    icc: float = ICC,
) -> dict[str, Any]:
    """The plan of a job as plain data; `pilot` is the id of a stored job whose costs and spread it uses.

    `lost` is the share of each arm's trials expected to be lost, `icc` the correlation of the differences
    within a cluster; a pilot brings its own.

    Raises:
        NotFound: the pilot does not exist.
        DataError: the samples cannot be read.
    """
    spec, refs = draft.spec, draft.refs
    rows = list(store.iter_rows(store.job(pilot).id)) if store and pilot else []
    probe, elsewhere = probe_of(draft), addresses_from_environment(spec.called_models.values())
    requests = {arm.name: probe.first_requests(arm) for arm in spec.arms}
    arms, judge, usd = _costs(draft, probe, requests, rows)
    clusters = set(coarsest([ref.cluster or ref.sample_id for ref in refs]))
    cells = Counter(ref.cell for ref in refs)
    contrasts = pairs(spec)
    outlook = _outlook(draft, contrasts, lost=lost, icc=icc)
    detectable = [dict(row) for row in outlook.rows] if contrasts else []
    is_small = bool(contrasts) and all(row["all"] is None for row in detectable)
    enough = [dict(size) for size in outlook.enough] if is_small else []
    shown = outlook.assumptions_of_sizes() if enough else outlook.assumptions()
    return {
        "name": spec.name or spec.benchmark,
        "benchmark": spec.benchmark,
        "samples": len(refs),
        "clusters": len(clusters),
        "cells": len(cells),
        "trials": draft.planned_trials,
        "arms": arms,
        **({"judge": judge} if judge else {}),
        "usd": usd,
        "usd_limit": spec.limits.usd,
        **({"retry": retry} if (retry := changed_fields(spec.retry)) else {}),
        "comparisons": {
            "primary": sum(pair.is_primary for pair in contrasts),
            "all": len(contrasts) * (len(cells) + (len(cells) > 1)),  # a lone cell is the whole job
        },
        "margin_text": margin_text(spec.analysis.margin),
        "detectable": detectable,
        "never": outlook.never if is_small else "",
        "claims_from": outlook.claims_from if is_small else None,
        **({"enough": {"discordant": ENOUGH_DISCORDANT, "sizes": enough}} if enough else {}),
        **({"sequential": _sequential(draft, detectable)} if spec.analysis.sequential else {}),
        **({"servers": list(_servers(spec))} if spec.servers else {}),
        **({"environment": [asdict(where) for where in elsewhere]} if elsewhere else {}),
        "warnings": [*draft.warnings, *tool_warnings(spec, requests, samples=len(refs))],
        "notes": list(spec.analysis.notes),
        "pilot": _pilot(store, pilot, rows, outlook) if store and pilot else None,
        "assumptions": [
            *assumptions(has_pilot=any(arm["from_pilot"] for arm in arms)),
            *(shown if contrasts else ()),
        ],
    }


def estimate_of(draft: Draft) -> dict[str, Any]:
    """The size of a job, and what a plan expects it to cost: None where a price or a sample is unknown."""
    spec = draft.spec
    return {
        "samples": len(draft.refs),
        "trials": draft.planned_trials,
        "usd": 0.0 if all(map(_is_free, spec.all_models)) else _expected_usd(draft),
        "usd_limit": spec.limits.usd,
    }


def _is_free(model: ModelSpec) -> bool:
    return is_built_in(model.id) and model.id != OWN_MODEL


def _expected_usd(draft: Draft) -> float | None:
    try:
        probe = probe_of(draft)
        requests = {arm.name: probe.first_requests(arm) for arm in draft.spec.arms}
    except DataError:
        return None
    return _costs(draft, probe, requests, ())[2]


def _costs(
    draft: Draft, probe: Probe, requests: Mapping[str, list[Request]], rows: Sequence[Row]
) -> tuple[list[dict[str, Any]], dict[str, Any] | None, float | None]:
    """What arms and judge cost, and the sum of it where all of it is known."""
    spec, samples = draft.spec, len(draft.refs)
    arms = [
        arm_costs(spec, model, arm, samples=samples, probe=probe, requests=requests[arm.name], rows=rows)
        for model in spec.models
        for arm in spec.arms
    ]
    judge = judge_costs(spec, probe, samples=samples)
    prices = [part["usd"] for part in (*arms, *([judge] if judge else ()))]
    return arms, judge, None if None in prices else sum(price for price in prices if price is not None)


def _servers(spec: JobSpec) -> Iterator[dict[str, Any]]:
    """The tool servers with what they say of their tools, which goes to the model as it is."""
    for name, server in spec.servers.items():
        if server.listing is not None:
            yield {
                "name": name,
                "where": server.where(),
                "server": server.listing.server,
                "sandbox": server.listing.sandbox,
                "tools": [
                    {"name": tool.shown, "description": tool.description} for tool in server.listing.tools
                ],
            }


def _sequential(draft: Draft, detectable: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """When a job is looked at, and the share of it that is expected to run at the effects it can detect."""
    from gnomon.statistics.sequential import expected, look_points  # late, as SciPy: few plans need it

    clusters = len({cluster_of(draft.spec, ref) for ref in draft.refs})
    primary = sum(pair.is_primary for pair in pairs(draft.spec))
    by_looks = expected(clusters, primary)
    return {
        "looks": look_points(clusters),
        "share": by_looks.share,
        "detectable": [
            {
                "discordant": row["discordant"],
                "diff": None if row["all"] is None else by_looks.larger * row["all"],
            }
            for row in detectable
        ],
    }


def _within(share: float, detectable: Detectable, study: PlantedStudy, rule: Rule) -> Detectable:
    """What is detected where arms differ on this share of the samples alone."""
    claimed = None
    if detectable.effect is not None and detectable.effect > share:
        claimed = share_claimed(study, rule, share, draws=SHARE_DRAWS)
        if claimed >= POWER:  # the search ends near an effect, not at it
            return Detectable(effect=share)
    return within_share(detectable, share, claimed)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Outlook:
    """The design of a job, and by which rule its comparisons will be judged."""

    repeats: int
    whole: Design
    smallest_cell: Design
    primary: int  # comparisons among which p is adjusted
    exploratory: int
    lost: float
    icc: float
    can_stop_early: bool

    @cached_property
    def rows(self) -> Sequence[Mapping[str, Any]]:
        """What is detected, by the share of the samples on which two arms differ."""
        return [self._row(share) for share in DISCORDANT]

    def _row(self, share: float) -> dict[str, Any]:
        overall = self._overall(share)
        in_cell = self._in_cell(share) if self.has_cells else overall
        whole = {"discordant": share, "all": overall.effect, "all_note": overall.note}
        return {**whole, "smallest_cell": in_cell.effect, "smallest_cell_note": in_cell.note}

    @cached_property
    def never(self) -> str:
        """Why no result at all is claimed, by the rule that the report goes by; empty where some are."""
        never = never_claims(self._study(DISCORDANT[-1], self.whole), self._rule("primary"))
        return "" if never is None else never.note

    @property
    def claims_from(self) -> float | None:
        """The smallest effect that is claimed, on however many samples arms must differ for it."""
        return self._at_any_share[DISCORDANT[-1]].effect

    @cached_property
    def _at_any_share(self) -> Mapping[float, Detectable]:
        """By the share of samples that differ what is detected, were it more than that share."""
        return {share: self.of_study(self._study(share, self.whole)) for share in DISCORDANT}

    def of_study(self, study: PlantedStudy) -> Detectable:
        """What the primary comparison of such a study detects."""
        return smallest_effect(study, self._rule("primary"), looks=self.primary)

    def _overall(self, share: float) -> Detectable:
        study = self._study(share, self.whole)
        return _within(share, self._at_any_share[share], study, self._rule("primary"))

    def _in_cell(self, share: float) -> Detectable:
        study, rule = self._study(share, self.smallest_cell), self._rule("exploratory")
        detectable = smallest_effect(study, rule, looks=self.exploratory, draws=CELL_DRAWS)
        return _within(share, detectable, study, rule)

    @property
    def has_cells(self) -> bool:
        """Whether there is more than one cell: a lone one is the whole job."""
        return self.smallest_cell.n < self.whole.n

    def _study(self, share: float, grouping: Design) -> PlantedStudy:
        spread = right_or_wrong(share, icc=self.icc)
        lost = self.lost, self.lost
        return PlantedStudy(grouping=grouping, spread=spread, repeats=self.repeats, lost=lost)

    def _rule(self, family: "Family") -> Rule:
        from gnomon.report.comparing import rule_of  # late: it brings all that draws a report

        looks = self.primary if family == "primary" else self.exploratory
        return rule_of(family, looks=looks)

    @cached_property
    def enough(self) -> Sequence[Mapping[str, Any]]:
        """How many samples would show an effect, with clusters like those that there are; by effect."""
        study, sizes = self._study(ENOUGH_DISCORDANT, self.whole), []
        search = partial(
            enough_samples,
            study,
            self._rule("primary"),
            looks=self.primary,
            tried={},
            can_stop_early=self.can_stop_early,
        )
        for effect in ENOUGH_EFFECTS:
            larger = search(effect=effect)
            if larger is not None:
                sizes.append({"effect": effect, "samples": larger.n, "clusters": larger.clusters_n})
        return sizes

    def assumptions_of_sizes(self) -> list[str]:
        """What the sizes that would be enough rest on, in words."""
        among = f"p is adjusted among {count(self.primary, 'primary comparison')}"
        lost = f"{100 * self.lost:.3g} % of each arm's trials are lost"
        return [
            f"enough: claimed in 8 of 10 simulated jobs; scores are 0 or 1, {among}",
            f"samples of a cluster correlate by {self.icc:g}; {lost}",
        ]

    def assumptions(self) -> list[str]:
        """What the detectable effects rest on, in words."""
        deff = design_effect(np.bincount(self.whole.clusters).tolist(), self.icc)
        cell = self.smallest_cell
        judged = "judged as the report will be: interval, adjusted p, sign-flip check, lost trials"
        looks = count(self.primary, "primary comparison")
        if self.has_cells:
            looks += f", in a subset for {count(self.exploratory, 'other')}"
        signs = "apart from the effect an arm gains as many samples as it loses, more in some clusters"
        size = f"{count(cell.n, 'sample')} in {count(cell.clusters_n, 'cluster')}"
        lines = [
            f"intraclass correlation of a cluster's samples {self.icc:g}: a design effect of {deff:.2f}",
            f"detectable: the smallest true effect that is claimed in 8 of 10 simulated jobs, {judged}",
            f"p is adjusted for {looks}, as if these showed nothing",
            f"scores are 0 or 1; {signs}",
            f"lost at random: {100 * self.lost:.3g} % of each arm's trials",
            f"smallest subset: {size}",
        ]
        if self.repeats > 1:
            stays = f"{100 * PERSISTENCE:.0f} % of the variance of a sample's difference stay in every repeat"
            lines.append(f"{self.repeats} repeats: {stays}")
        return lines


def _outlook(draft: Draft, contrasts: Sequence[ArmPair], *, lost: float, icc: float) -> _Outlook:
    spec, refs = draft.spec, draft.refs
    is_clustered = spec.analysis.cluster == "auto"
    clusters, second = cluster_codes(
        [ref.cluster if is_clustered else "" for ref in refs], np.arange(len(refs))
    )
    cells = np.unique([ref.cell for ref in refs], return_inverse=True)[1]
    smallest = cells == int(np.argmin(np.bincount(cells)))
    cells_n = int(cells.max()) + 1
    primary = sum(pair.is_primary for pair in contrasts)
    headline = draft.job.bench.benchmark.headline
    return _outlook_of(
        strata_of(cells, headline).astype(np.intp).tobytes(),
        clusters.astype(np.intp).tobytes(),
        None if second is None else second.astype(np.intp).tobytes(),
        smallest.tobytes(),
        repeats=min(
            (
                repeats_of_pair(spec.repeats_of(pair.baseline), spec.repeats_of(pair.variant))
                for pair in contrasts
            ),
            default=spec.repeats,
        ),
        primary=max(1, primary),
        exploratory=max(1, len(contrasts) * (cells_n + (cells_n > 1)) - primary),
        lost=lost,
        icc=icc,
        can_stop_early=spec.analysis.sequential,
    )


@lru_cache(maxsize=16)  # a form asks for the plan at every change, and few changes touch the design
def _outlook_of(
    strata: bytes,
    clusters: bytes,
    second: bytes | None,
    smallest: bytes,
    *,
    repeats: int,
    primary: int,
    exploratory: int,
    lost: float,
    icc: float,
    can_stop_early: bool,
) -> _Outlook:
    """The outlook of a design, and what was simulated of it; arrays come as bytes, which can be keys."""
    by_cluster, is_smallest = np.frombuffer(clusters, dtype=np.intp), np.frombuffer(smallest, dtype=np.bool_)
    crossing = None if second is None else np.frombuffer(second, dtype=np.intp)
    crossing_there = None if crossing is None else crossing[is_smallest]
    one_stratum = np.zeros(int(is_smallest.sum()), dtype=np.intp)
    return _Outlook(
        repeats=repeats,
        whole=design(np.frombuffer(strata, dtype=np.intp), by_cluster, crossing),
        smallest_cell=design(one_stratum, by_cluster[is_smallest], crossing_there),
        primary=primary,
        exploratory=exploratory,
        lost=lost,
        icc=icc,
        can_stop_early=can_stop_early,
    )


def _pilot(store: "Store", job_id: str, rows: Sequence[Row], outlook: _Outlook) -> dict[str, Any]:
    """What the planned design detects where differences scatter, and trials get lost, as in the pilot."""
    from gnomon.report.compared_pair import compare_pair

    job = store.job(job_id)
    groups = [(model.label, arm.name) for model in job.spec.models for arm in job.spec.arms]
    scores = read_scores(rows, groups, clustered=job.spec.analysis.cluster == "auto")
    headline, everywhere = benchmark_called(job.spec.benchmark).headline, scores.everywhere()
    contrasts: list[dict[str, Any]] = []
    for pair in pairs(job.spec):
        result = compare_pair(scores, pair, "all", everywhere, headline=headline)
        if result.comparison is None or result.comparison.se is None or result.grouping is None:
            continue
        spread = spread_of(result.differences, result.grouping, se=result.comparison.se)
        study = PlantedStudy(
            grouping=outlook.whole, spread=spread, repeats=outlook.repeats, lost=result.missing
        )
        detectable = outlook.of_study(study)
        contrasts.append(
            {
                "model": pair.model,
                "baseline": pair.baseline,
                "variant": pair.variant,
                "samples": result.comparison.n,
                "detectable": detectable.effect,
                "detectable_note": detectable.note,
            }
        )
    return {"job": job_id, "contrasts": contrasts}
