"""Finds a trial's neighbours in the list of trials that its page's address names."""

import functools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import quote, urlencode

from gnomon.report.pairs import pairs
from gnomon.report.trial_index.filters import TrialFilter
from gnomon.spec.job_spec import JobSpec
from gnomon_service.api.state import State
from gnomon_workers.store.records import JobRecord

Kind = Literal["pairs", "trials", "grid"]
PAIR_ORDERS = {  # words by sort
    "sample": "sample",
    "-difference": "largest gain",
    "difference": "largest loss",
    "baseline_score": "baseline’s score, lowest first",
    "-baseline_score": "baseline’s score, highest first",
    "variant_score": "variant’s score, lowest first",
    "-variant_score": "variant’s score, highest first",
    "-variant_calls": "most tool calls",
    "-variant_cost": "most expensive",
    "-variant_time": "slowest",
}
TRIAL_ORDERS = {
    "seq": "as they ended",
    "-seq": "newest first",
    "sample": "sample",
    "score": "score, lowest first",
    "-score": "score, highest first",
    "-calls": "most tool calls",
    "-cost": "most expensive",
    "-time": "slowest",
}
ORDERS: dict[Kind, dict[str, str]] = {"pairs": PAIR_ORDERS, "trials": TRIAL_ORDERS, "grid": PAIR_ORDERS}
SEARCH_S = 4.0  # of a request that a search in questions may take; the next request goes on from there


@dataclass(frozen=True, kw_only=True)
class TrialList:
    """A list of a job's pairs or trials, or a grid of them: its filter as it was asked for, and its order.

    `pair` are the baseline and the variant that rows compare: the job's own first pair unless the filter
    names another; None where the job has one arm.
    """

    job_id: str
    filters: TrialFilter
    kind: Kind
    sort: str
    pair: tuple[str, str] | None

    @property
    def asked(self) -> TrialFilter:
        """The filter for the index, with the two arms that are compared."""
        if self.pair is None:
            return replace(self.filters, baseline="", variant="")
        return replace(self.filters, baseline=self.pair[0], variant=self.pair[1])

    @functools.cached_property
    def own_query(self) -> str:
        """The query of the list as it is, which each of its rows passes on."""
        return self.query()

    def query(self, *, filters: TrialFilter | None = None, **changes: str) -> str:
        """The list's query, with another filter or other parameters; what is as usual is left out."""
        usual = {"view": "pairs" if self.pair else "trials", "sort": "", "after": ""}
        kind = changes.get("view", self.kind)
        sort = "" if "view" in changes else self.sort
        values = {"view": kind, "sort": sort, **changes}
        first = next(iter(ORDERS["trials" if kind == "trials" else "pairs"]))
        chosen = (self.filters if filters is None else filters).as_query()
        rest = [
            (name, value)
            for name, value in values.items()
            if value != usual[name] and not (name == "sort" and value == first)
        ]
        return urlencode([*chosen, *rest])

    def href(self, *, filters: TrialFilter | None = None, **changes: str) -> str:
        """The address of the list."""
        return _with_query(f"/ui/jobs/{self.job_id}/trials", self.query(filters=filters, **changes))

    def sample_href(self, sample_id: str) -> str:
        """The address of a sample of the list."""
        return _with_query(f"/ui/jobs/{self.job_id}/samples/{quote(sample_id)}", self.own_query)

    def trial_href(self, trial_id: str) -> str:
        """The address of a trial of the list."""
        return _with_query(f"/ui/trials/{trial_id}", self.own_query)


def asked_of(state: State, job: JobRecord, listed: TrialList) -> tuple[TrialFilter, int]:
    """The filter for the index, with the samples in whose question the searched text stands; and how many
    questions could not be searched yet.
    """
    if not listed.filters.q:
        return listed.asked, 0
    names = state.indexes.get(job.id).value.sample_ids
    texts = state.questions.texts(job.id, job.spec, names, patience_s=SEARCH_S)
    sought = listed.filters.q.casefold()
    found = frozenset(name for name in names if sought in texts.get(name, "").casefold())
    return replace(listed.asked, asking=found), sum(name not in texts for name in names)


def trial_list(job_id: str, spec: JobSpec, parameters: Iterable[tuple[str, str]]) -> TrialList:
    """The list that an address's parameters describe; those it does not know mean the usual."""
    parameters = list(parameters)
    values = dict(parameters)
    filters = TrialFilter.from_query(parameters)
    pair = _pair(spec, filters)
    usual: Kind = "pairs" if pair else "trials"
    kind = next((kind for kind in ORDERS if kind == values.get("view")), usual)
    kind = usual if kind == "pairs" else kind
    sort = values.get("sort", "")
    if sort.removeprefix("-") not in {name.removeprefix("-") for name in ORDERS[kind]}:
        sort = next(iter(ORDERS[kind]))
    return TrialList(job_id=job_id, filters=filters, kind=kind, sort=sort, pair=pair)


def _pair(spec: JobSpec, filters: TrialFilter) -> tuple[str, str] | None:
    arms = [arm.name for arm in spec.arms]
    if len(arms) < 2:
        return None
    declared = [(pair.baseline, pair.variant) for pair in pairs(spec)]
    first = declared[0] if declared else (arms[0], arms[1])
    baseline = filters.baseline if filters.baseline in arms else first[0]
    variant = filters.variant if filters.variant in arms else first[1]
    if baseline == variant:
        baseline = first[0] if first[0] != variant else next(arm for arm in arms if arm != variant)
    return baseline, variant


def _with_query(path: str, query: str) -> str:
    return f"{path}?{query}" if query else path
