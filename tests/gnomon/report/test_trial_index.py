"""An index of trials answers what a plain reading of the rows answers, however it was built."""

import json
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.report.score_matrix import read_scores
from gnomon.report.trial_index.columns import ANSWER_CHARS, STORED_COLUMNS, natural_key, natural_order
from gnomon.report.trial_index.filters import CHANGES, FACETS, TrialFilter
from gnomon.report.trial_index.index import PAIR_SORTS, TRIAL_SORTS, TrialIndex

PAIR = TrialFilter(baseline="raw", variant="tools")
ANSWERS = (None, "B", "b and Café", "<script>")


def a_row(sample: int, arm: str, score: float | None = 1.0, **changes: Any) -> Row:
    """A trial; without a score it is missing."""
    repeat, model = changes.get("repeat", 0), changes.get("model", "m")
    return replace(
        Row(
            job_id="j",
            trial_id=f"t_{model}{sample}{arm}{repeat}",
            benchmark="tiny",
            task=f"task{sample % 2}",
            cell=f"cell{sample % 3}",
            sample_id=f"s{sample}",
            cluster=f"clip{sample // 2}",
            model=model,
            arm=arm,
            repeat=repeat,
            outcome=Outcome.INFRA_MISSING if score is None else Outcome.SCORED,
            stop_reason="answered",
            score=score,
        ),
        **changes,
    )


def stored(rows: Sequence[Row], *, first: int = 1) -> list[tuple[Any, ...]]:
    """The rows as the table holds them, numbered."""
    own = {"flags": lambda row: json.dumps(row.flags), "tools_used": lambda row: json.dumps(row.tools_used)}
    return [
        (seq, *(own[name](row) if name in own else getattr(row, name) for name in STORED_COLUMNS[1:]))
        for seq, row in enumerate(rows, first)
    ]


def index_of(rows: Sequence[Row], unrun: Sequence[tuple[str, ...]] = ()) -> TrialIndex:
    return TrialIndex.empty(["m", "n"], ["raw", "tools"]).extended([stored(rows)], unrun)


@st.composite
def jobs(draw: st.DrawFn) -> list[Row]:
    """Rows of a job of two models, three arms and up to two repeats, each trial once, in any order."""
    trial = st.tuples(
        st.integers(0, 5), st.sampled_from("mn"), st.sampled_from(["raw", "tools", "vote"]), st.integers(0, 1)
    )
    rows = []
    for sample, model, arm, repeat in draw(st.lists(trial, unique=True, max_size=24)):
        score = draw(st.sampled_from([None, 0.0, 0.3, 0.5, 0.7, 1.0]))
        rows.append(
            a_row(
                sample,
                arm,
                score,
                model=model,
                repeat=repeat,
                answer=draw(st.sampled_from(ANSWERS)),
                stop_reason=draw(st.sampled_from(["answered", "max_turns"])),
                flags=draw(st.sampled_from([(), ("clipped",), ("late", "clipped")])),
                tools_used=draw(st.sampled_from([{}, {"lookup": {"calls": 1}}, {"look": {}, "lookup": {}}])),
                tool_calls=draw(st.integers(0, 3)),
                tool_errors=draw(st.integers(0, 1)),
                usd=draw(st.sampled_from([None, 0.0, 0.5])),
                wall_s=draw(st.sampled_from([0.0, 1.5])),
            )
        )
    return rows


def some(*values: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from([*values, "absent"]), max_size=2, unique=True).map(tuple)


FILTERS = st.builds(
    TrialFilter,
    model=some("m", "n"),
    arm=some("raw", "tools", "vote"),
    cell=some("cell0", "cell1"),
    task=some("task0"),
    outcome=some("scored", "infra_missing"),
    stop=some("max_turns"),
    flag=some("clipped", "late"),
    tool=some("look", "lookup"),
    changed=st.lists(st.sampled_from(CHANGES), max_size=2, unique=True).map(tuple),
    baseline=st.just("raw"),
    variant=st.sampled_from(["tools", "vote"]),
    q=st.sampled_from(["", "S1", "CAFÉ", "b", "nowhere"]),
)


class Plain:
    """The same answers from the rows, one by one."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows

    def answered(self, sample: str, model: str, arm: str) -> list[Row]:
        return [
            row
            for row in self.rows
            if (row.sample_id, row.model, row.arm) == (sample, model, arm) and row.score is not None
        ]

    def is_right(self, sample: str, model: str, arm: str) -> bool:
        mean = self.mean(sample, model, arm)
        is_even = len(self.answered(sample, model, arm)) > 1 and mean == 0.5
        return mean is not None and mean >= 0.5 and not is_even

    def mean(self, sample: str, model: str, arm: str, column: str = "score") -> float | None:
        values = [getattr(row, column) for row in self.answered(sample, model, arm)]
        return math.fsum(values) / len(values) if values and None not in values else None

    def changed(self, sample: str, model: str, filters: TrialFilter) -> str:
        if not {filters.baseline, filters.variant} <= {"raw", "tools", *(row.arm for row in self.rows)}:
            return ""
        arms = filters.baseline, filters.variant
        if any(self.mean(sample, model, arm) is None for arm in arms):
            return "not_comparable"
        before, after = (self.is_right(sample, model, arm) for arm in arms)
        kinds = {(False, True): "fixed", (True, False): "regressed", (True, True): "both_right"}
        return kinds.get((before, after), "both_wrong")

    def values(self, row: Row, facet: str, filters: TrialFilter) -> Sequence[str]:
        match facet:
            case "changed":
                return [self.changed(row.sample_id, row.model, filters)]
            case "flag":
                return row.flags
            case "tool":
                return list(row.tools_used)
            case "stop":
                return [row.stop_reason]
            case _:
                return [str(getattr(row, facet) or "")]

    def matching(self, filters: TrialFilter, without: str = "") -> Iterator[Row]:
        for row in self.rows:
            texts = f"{row.sample_id}\n{row.answer or ''}".casefold()
            if filters.q.casefold() in texts and all(
                set(self.values(row, facet, filters)) & set(filters.values(facet))
                for facet in FACETS
                if filters.values(facet) and facet != without
            ):
                yield row

    def facets(self, filters: TrialFilter) -> dict[str, dict[str, int]]:
        counts = {}
        for facet in FACETS:
            rows = list(self.matching(filters, facet))
            if facet == "changed":
                left = [
                    self.changed(sample, model, filters) for sample, model in self.pairs_of(rows, filters)
                ]
                found = Counter(kind for kind in left if kind)
            else:
                found = Counter(value for row in rows for value in self.values(row, facet, filters))
            counts[facet] = {**dict.fromkeys(filters.values(facet), 0), **found}
        return counts

    def pairs_of(self, rows: Sequence[Row], filters: TrialFilter) -> set[tuple[str, str]]:
        """Samples and models of these trials, and those that have none where the filter allows that."""
        matched = {(row.sample_id, row.model) for row in rows}
        if any(filters.values(name) for name in ("arm", "outcome", "stop", "flag", "tool")):
            return matched
        for model in filters.model or ("m", "n"):
            have = {row.sample_id for row in self.rows if row.model == model}
            for row in self.rows:
                if (
                    model in ("m", "n")
                    and row.sample_id not in have
                    and row.cell in (filters.cell or [row.cell])
                    and row.task in (filters.task or [row.task])
                    and filters.q.casefold() in row.sample_id
                ):
                    matched.add((row.sample_id, model))
        return matched

    def pairs(self, filters: TrialFilter) -> set[tuple[str, str]]:
        pairs = self.pairs_of(list(self.matching(filters, "changed")), filters)
        return {pair for pair in pairs if self.changed(*pair, filters) in (filters.changed or CHANGES)}


@given(jobs(), FILTERS)
def test_facets_count_what_the_rows_say(rows: list[Row], filters: TrialFilter) -> None:
    assert index_of(rows).facets(filters) == Plain(rows).facets(filters)


@given(jobs(), FILTERS, st.sampled_from(TRIAL_SORTS), st.booleans())
def test_trials_are_those_that_match_in_order(
    rows: list[Row], filters: TrialFilter, sort: str, is_descending: bool
) -> None:
    listed = index_of(rows).trials(filters, f"{'-' * is_descending}{sort}", limit=100)
    matching = {row.trial_id: row for row in Plain(rows).matching(filters)}
    assert sorted(entry.trial_id for entry in listed.items) == sorted(matching)
    assert (listed.total, listed.next_cursor) == (len(matching), None)
    names = {"calls": "tool_calls", "cost": "usd", "time": "wall_s", "sample": "sample_id"}
    values = [getattr(entry, names.get(sort, sort)) for entry in listed.items]
    known = [value for value in values if value is not None]
    assert values == sorted(known, reverse=is_descending) + [None] * (len(values) - len(known))
    for entry in listed.items:
        row = matching[entry.trial_id]
        assert (entry.score, entry.answer, entry.usd) == (row.score, row.answer, row.usd)
        assert (set(entry.flags), set(entry.tools)) == (set(row.flags), set(row.tools_used))
        assert (entry.cell, entry.task, entry.cluster) == (row.cell, row.task, row.cluster)


@given(jobs(), FILTERS, st.sampled_from(PAIR_SORTS), st.booleans())
def test_pairs_are_those_that_match_in_order(
    rows: list[Row], filters: TrialFilter, sort: str, is_descending: bool
) -> None:
    index, plain = index_of(rows), Plain(rows)
    filters = replace(filters, variant="tools")
    listed = index.pairs(filters, f"{'-' * is_descending}{sort}", limit=100)
    assert {(entry.sample_id, entry.model) for entry in listed.items} == plain.pairs(filters)
    assert len(listed.items) == listed.total == len(plain.pairs(filters))
    values = []
    for entry in listed.items:
        first, second = (plain.mean(entry.sample_id, entry.model, arm) for arm in ("raw", "tools"))
        assert (entry.baseline.score, entry.variant.score) == pytest.approx((first, second))
        assert entry.difference == (
            None if first is None or second is None else pytest.approx(second - first)
        )
        assert entry.changed == plain.changed(entry.sample_id, entry.model, filters)
        ids = [row.trial_id for row in rows if (row.sample_id, row.model) == (entry.sample_id, entry.model)]
        own = [trial.trial_id for result in (entry.baseline, entry.variant) for trial in result.trials]
        assert sorted(own) == sorted(name for name in ids if "vote" not in name)
        calls = {"variant_calls": entry.variant.tool_calls, "sample": entry.sample_id}
        scores = {"baseline_score": entry.baseline.score, "variant_score": entry.variant.score}
        spent = {
            "variant_cost": plain.mean(entry.sample_id, entry.model, "tools", "usd"),
            "variant_time": plain.mean(entry.sample_id, entry.model, "tools", "wall_s"),
        }
        values.append((calls | scores | spent | {"difference": entry.difference})[sort])
    known = [value for value in values if value is not None]
    assert values == sorted(known, reverse=is_descending) + [None] * (len(values) - len(known))


@given(jobs(), FILTERS, st.sampled_from([*TRIAL_SORTS, *(f"-{name}" for name in TRIAL_SORTS)]))
def test_pages_of_trials_follow_each_other(rows: list[Row], filters: TrialFilter, sort: str) -> None:
    index, ids, after = index_of(rows), list[str](), None
    while True:
        page = index.trials(filters, sort, after, limit=3)
        ids += [entry.trial_id for entry in page.items]
        after = page.next_cursor
        if after is None:
            break
    assert ids == [entry.trial_id for entry in index.trials(filters, sort).items]


@given(jobs(), FILTERS, st.sampled_from([*PAIR_SORTS, *(f"-{name}" for name in PAIR_SORTS)]))
def test_pages_of_pairs_follow_each_other(rows: list[Row], filters: TrialFilter, sort: str) -> None:
    index, names, after = index_of(rows), list[tuple[str, str]](), None
    filters = replace(filters, variant="tools")
    while True:
        page = index.pairs(filters, sort, after, limit=2)
        names += [(entry.sample_id, entry.model) for entry in page.items]
        after = page.next_cursor
        if after is None:
            break
    assert names == [(entry.sample_id, entry.model) for entry in index.pairs(filters, sort).items]


@given(jobs(), FILTERS, st.sampled_from(["seq", "-score", "sample", "-sample", "difference"]))
def test_neighbours_are_those_of_the_list(rows: list[Row], filters: TrialFilter, sort: str) -> None:
    index = index_of(rows)
    filters = replace(filters, variant="tools")
    is_of_pairs = "sample" in sort or sort == "difference"
    listed = index.pairs(filters, sort) if is_of_pairs else index.trials(filters, sort)
    samples = list(dict.fromkeys(entry.sample_id for entry in listed.items))
    for place, sample in enumerate(samples):
        near = index.neighbours(filters, sort, sample)
        assert (near.position, near.total) == (place + 1, len(samples))
        assert near.previous == (samples[place - 1] if place else None)
        assert near.next == (samples[place + 1] if place + 1 < len(samples) else None)
    assert index.neighbours(filters, sort, "elsewhere").position == 0


@given(jobs(), st.lists(st.integers(0, 24), max_size=3), FILTERS)
def test_an_index_built_in_pieces_is_that_built_at_once(
    rows: list[Row], cuts: list[int], filters: TrialFilter
) -> None:
    index, bounds = TrialIndex.empty(["m", "n"], ["raw", "tools"]), sorted({0, *cuts, len(rows)})
    for start, end in pairwise(bounds):
        index = index.extended([stored(rows[start:end], first=start + 1)])
    assert index.facets(filters) == index_of(rows).facets(filters)
    assert index.trials(filters) == index_of(rows).trials(filters)
    assert index.pairs(PAIR) == index_of(rows).pairs(PAIR)


@given(jobs(), FILTERS)
def test_a_saved_index_answers_as_before(rows: list[Row], filters: TrialFilter) -> None:
    index = index_of(rows, [("later", "task0", "cell9", "clip9")])
    again = TrialIndex.from_bytes(index.to_bytes())
    assert (again.facets(filters), again.trials(filters)) == (index.facets(filters), index.trials(filters))
    assert again.pairs(PAIR) == index.pairs(PAIR)
    assert (again.size, again.last_seq) == (index.size, index.last_seq)


@given(jobs(), FILTERS)
def test_a_saved_index_goes_on_as_before(rows: list[Row], filters: TrialFilter) -> None:
    index = TrialIndex.from_bytes(index_of(rows[:7]).to_bytes()).extended([stored(rows[7:], first=8)])
    assert index.trials(filters) == index_of(rows).trials(filters)
    assert index.facets(filters) == index_of(rows).facets(filters)


@given(
    jobs(),
    st.lists(st.integers(0, 24), max_size=3),
    FILTERS,
    st.sampled_from([*PAIR_SORTS, *(f"-{name}" for name in PAIR_SORTS)]),
)
def test_an_index_that_was_asked_before_new_results_answers_as_one_built_at_once(
    rows: list[Row], cuts: list[int], filters: TrialFilter, sort: str
) -> None:
    index, bounds = TrialIndex.empty(["m", "n"], ["raw", "tools"]), sorted({0, *cuts, len(rows)})
    for start, end in pairwise(bounds):
        index = index.extended([stored(rows[start:end], first=start + 1)])
        at_once = index_of(rows[:end])
        assert index.pairs(PAIR, sort) == at_once.pairs(PAIR, sort)
        assert index.facets(filters) == at_once.facets(filters)
        assert index.neighbours(PAIR, sort, "s3") == at_once.neighbours(PAIR, sort, "s3")
    waiting = [("later", "task0", "cell9", "clip9")]
    assert index.extended((), waiting).pairs(PAIR, sort) == index_of(rows, waiting).pairs(PAIR, sort)


@given(FILTERS)
def test_a_filter_is_its_query(filters: TrialFilter) -> None:
    assert TrialFilter.from_query(filters.as_query()) == filters


def test_an_index_without_trials_has_no_entry_and_every_list() -> None:
    index = TrialIndex.empty(["m"], ["raw", "tools"])
    assert index.facets(PAIR) == {facet: {} for facet in FACETS}
    assert (index.trials(TrialFilter()).items, index.pairs(PAIR).items) == ((), ())
    assert index.neighbours(TrialFilter(), "seq", "s0").total == 0
    assert (index.size, index.last_seq) == (0, 0)


def test_a_sample_is_shown_under_every_arm_by_repeat() -> None:
    rows = [a_row(0, "tools", 0.0, repeat=1), a_row(0, "tools", 1.0), a_row(1, "raw", 1.0)]
    first, second = index_of(rows).grid(TrialFilter(model=("m",))).items
    assert [(row.sample_id, row.model) for row in (first, second)] == [("s0", "m"), ("s1", "m")]
    raw, tools = first.results
    assert (raw.arm, tools.arm) == ("raw", "tools")
    assert ([trial.repeat for trial in tools.trials], tools.score) == ([0, 1], 0.5)
    assert (raw.trials, raw.score) == ((), None)


def test_a_search_finds_samples_by_what_their_questions_ask() -> None:
    index = index_of([a_row(0, "raw", 1.0), a_row(1, "raw", 1.0)])
    chosen = TrialFilter(q="helsinki", asking=frozenset({"s1"}))
    assert [trial.sample_id for trial in index.trials(chosen).items] == ["s1"]
    assert TrialFilter.from_query(chosen.as_query()) == TrialFilter(q="helsinki")


def test_planned_samples_without_a_result_are_listed_among_pairs() -> None:
    index = index_of([a_row(0, "raw"), a_row(0, "tools")], [("s7", "task1", "cell7", "clip7")] * 2)
    entries = {(entry.sample_id, entry.model): entry.changed for entry in index.pairs(PAIR).items}
    assert entries["s0", "m"] == "both_right"
    assert entries["s7", "m"] == entries["s0", "n"] == "not_comparable"
    only = index.pairs(replace(PAIR, cell=("cell7",), model=("m",)))
    assert [entry.sample_id for entry in only.items] == ["s7"]
    assert index.pairs(replace(PAIR, outcome=("scored",))).total == 1
    assert index.facets(PAIR)["changed"] == {"not_comparable": 3, "both_right": 1}


def test_a_score_of_a_missing_trial_does_not_count() -> None:
    row = a_row(0, "raw", 1.0, outcome=Outcome.INFRA_MISSING)
    assert index_of([row]).trials(TrialFilter()).items[0].score is None


def test_what_the_job_has_no_value_for_is_named() -> None:
    index = index_of([a_row(0, "raw", flags=("clipped",))])
    filters = TrialFilter(arm=("raw", "gone"), flag=("clipped", "late"), changed=("better",), variant="vote")
    assert index.unknown(filters) == [
        ("arm", "gone"),
        ("flag", "late"),
        ("changed", "better"),
        ("variant", "vote"),
    ]
    assert index.unknown(filters.without("arm", "gone"))[0] == ("flag", "late")


def test_a_long_answer_is_shortened() -> None:
    entry = index_of([a_row(0, "raw", answer="x" * 10_000)]).trials(TrialFilter()).items[0]
    assert entry.answer == "x" * ANSWER_CHARS


def test_text_that_utf_8_cannot_hold_is_written_out() -> None:
    index = index_of([a_row(0, "raw", answer="\ud800", flags=("\ud800",), tools_used={"\ud800": {}})])
    entry = TrialIndex.from_bytes(index.to_bytes()).trials(TrialFilter()).items[0]
    assert "".join([entry.answer or "", *entry.flags, *entry.tools]).encode()


@pytest.mark.parametrize("after", ["x", "!", "AAAA", "W10", "é", "W1tbW1tb" * 500, "bnVsbA", "NQ"])
def test_a_cursor_of_another_list_is_refused(after: str) -> None:
    index = index_of([a_row(n, "raw") for n in range(5)])
    with pytest.raises(SpecError, match="no cursor of this list"):
        index.trials(TrialFilter(), "seq", after)
    foreign = index.trials(TrialFilter(), "-score", limit=2).next_cursor
    with pytest.raises(SpecError, match="no cursor of this list"):
        index.trials(TrialFilter(), "seq", foreign)


def test_an_order_or_an_arm_that_there_is_not_is_refused_by_name() -> None:
    index = index_of([a_row(0, "raw")])
    with pytest.raises(SpecError, match="'best' is no order; allowed: seq"):
        index.trials(TrialFilter(), "best")
    with pytest.raises(SpecError, match="'difference' is no order; allowed: seq"):
        index.trials(TrialFilter(), "difference")
    with pytest.raises(SpecError, match="variant: 'vote' is no arm; allowed: raw, tools"):
        index.pairs(replace(PAIR, variant="vote"))


def test_a_page_goes_on_where_it_ended_when_samples_have_come_before_it() -> None:
    rows = [a_row(n, arm) for n in range(2, 8) for arm in ("raw", "tools")]
    index = index_of(rows)
    page = index.pairs(replace(PAIR, model=("m",)), limit=3)
    more = index.extended([stored([a_row(1, "raw"), a_row(9, "raw")], first=100)])
    later = more.pairs(replace(PAIR, model=("m",)), after=page.next_cursor, limit=100)
    assert [entry.sample_id for entry in later.items] == ["s5", "s6", "s7", "s9"]


def test_the_mean_of_repeats_is_the_reports_to_the_last_digit() -> None:
    scores = [0.1, 0.7, 0.2, 1.0]
    for order in permutations(scores):
        rows = [a_row(0, "raw", score, repeat=n) for n, score in enumerate(order)]
        report = read_scores(rows, [("m", "raw")]).means(0)[0]
        assert index_of(rows).grid(TrialFilter()).items[0].results[0].score == report


@given(st.lists(st.lists(st.floats(0, 1), max_size=5), min_size=1, max_size=6), st.integers(0, 40))
def test_means_of_any_repeats_are_the_reports_to_the_last_digit(
    scores: list[list[float]], later: int
) -> None:
    rows = [
        a_row(sample, "raw", score, repeat=repeat)
        for sample, repeats in enumerate(scores)
        for repeat, score in enumerate(repeats)
    ]
    if later and rows:  # a repeat far from the others, so that most places have none
        rows.append(replace(rows[0], repeat=5 + later, trial_id="later", score=0.3))
    report, index = read_scores(rows, [("m", "raw")]), index_of(rows)
    means = {row.sample_id: row.results[0].score for row in index.grid(TrialFilter(model=("m",))).items}
    for name, mean in zip(report.samples, report.means(0).tolist(), strict=True):
        assert means[name] == mean


def test_two_indexes_made_of_one_do_not_see_each_others_trials() -> None:
    rows = [a_row(sample, arm, sample / 10) for sample in range(10) for arm in ("raw", "tools")]
    ours, theirs = [a_row(11, "raw", 0.5)], [a_row(12, "tools", 0.25), a_row(13, "raw", None)]
    start = index_of(rows)
    grown = start.extended([stored(ours, first=21)])
    first, second = (grown.extended([stored(new, first=22)]) for new in (theirs, ours))
    assert start.facets(PAIR) == index_of(rows).facets(PAIR)
    for index, new in ((grown, ours), (first, [*ours, *theirs])):
        whole = index_of([*rows, *new])
        assert index.trials(PAIR, "-score") == whole.trials(PAIR, "-score")
    assert [entry.seq for entry in second.trials(PAIR, "-seq").items][:3] == [22, 21, 20]


@given(
    st.lists(st.none() | st.text("aAßẞSİ\uffff ힿ한"), max_size=6),
    st.text("aAsSßİ한\ud800", max_size=3),
)
def test_a_text_is_found_wherever_it_is_and_never_across_two(texts: list[str | None], part: str) -> None:
    index = index_of([a_row(sample, "raw", answer=text) for sample, text in enumerate(texts)])
    entries = index.trials(TrialFilter(q=part or "a")).items
    in_texts = {
        f"s{n}" for n, text in enumerate(texts) if (part or "a").casefold() in (text or "").casefold()
    }
    in_ids = {f"s{n}" for n in range(len(texts)) if (part or "a").casefold() in f"s{n}"}
    assert {entry.sample_id for entry in entries} == in_texts | in_ids


def test_an_index_that_grows_orders_and_counts_as_one_that_is_made_at_once() -> None:
    def stored(n: int) -> tuple[object, ...]:
        sample = f"s{n * 7 % 40:02}"
        facts = ("T", f"c{n % 3}", "v", "m", ("raw", "tools")[n % 2], n // 40, "scored", "answered", 0.5)
        flags = '["late"]' if n % 2 else "[]"
        return n + 1, f"t{n}", sample, *facts, "A", flags, "{}", 0, 0, 0.1, 1.0, "read"

    rows = [stored(n) for n in range(80)]
    pair = TrialFilter(baseline="raw", variant="tools")
    grown = TrialIndex.empty(["m"], ["raw", "tools"])
    for start in range(0, 80, 10):
        grown = grown.extended([rows[start : start + 10]])
        whole = TrialIndex.empty(["m"], ["raw", "tools"]).extended([rows[: start + 10]])
        assert grown.facets(pair) == whole.facets(pair)
        assert grown.pairs(pair, "-sample") == whole.pairs(pair, "-sample")
        assert grown.sample_ranks.tolist() == whole.sample_ranks.tolist()


@given(st.lists(st.from_regex(r"[ab]?[0-9]{1,3}(-[0-9]{1,2})?x?", fullmatch=True), unique=True, max_size=12))
def test_ids_are_ordered_by_their_key(ids: list[str]) -> None:
    assert [ids[at] for at in natural_order(pa.array(ids, pa.string()))] == sorted(ids, key=natural_key)


def test_samples_are_ordered_by_the_numbers_in_their_ids() -> None:
    names = ["q1", "q2", "q10", "s2-1", "s2-10", "s10-1"]
    index = index_of([replace(a_row(0, "raw"), trial_id=name, sample_id=name) for name in reversed(names)])
    first = index.trials(TrialFilter(), "sample", limit=2)
    rest = index.trials(TrialFilter(), "sample", first.next_cursor, limit=9)
    assert [entry.sample_id for entry in [*first.items, *rest.items]] == names
