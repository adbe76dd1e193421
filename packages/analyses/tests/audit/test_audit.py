"""What the audit measures of any benchmark."""

import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from gnomon.core.audit_plugin import AnswerOptions, ShortcutGuess, find_audit_plugin, guess
from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.errors import DataError
from gnomon.core.sample import DataFault, Part, Sample, SampleRef
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_analyses.audit.audit import audit, letters, option_faults, shortcut_accuracies, try_lengths
from gnomon_analyses.audit.findings import Findings, ShortcutAccuracy
from gnomon_analyses.audit.tables import tables

FOUR = AnswerOptions(options=("a", "bb", "ccc", "dddd"), right=(1,))


def ref(name: str, cluster: str = "", cell: str = "cell") -> SampleRef:
    return SampleRef(sample_id=name, task="task", cell=cell, cluster=cluster or name)


def attempt(
    name: str, value: float, *, applies: bool = True, kind: Any = "leak", view: Any = "guarded"
) -> ShortcutGuess:
    return ShortcutGuess(
        shortcut="rule", kind=kind, view=view, sample_id=name, value=value, chance=0.25, applies=applies
    )


def only(guesses: list[ShortcutGuess], clusters: dict[str, str] | None = None) -> ShortcutAccuracy:
    refs = {one.sample_id: ref(one.sample_id, (clusters or {}).get(one.sample_id, "")) for one in guesses}
    (accuracy,) = shortcut_accuracies(guesses, refs)
    return accuracy


def test_a_rule_that_leaves_nothing_counts_as_chance() -> None:
    for left in (None, ()):
        one = guess("rule", "leak", "official", "s", left=left, offered=FOUR)
        assert (one.value, one.chance, one.applies) == (0.25, 0.25, False)


def test_a_rule_that_leaves_two_is_worth_half_if_the_right_one_is_left() -> None:
    assert guess("rule", "leak", "official", "s", left=(0, 1), offered=FOUR).value == 0.5
    assert guess("rule", "leak", "official", "s", left=(0, 2), offered=FOUR).value == 0.0


def test_hits_are_of_the_samples_where_the_rule_applies_and_the_value_of_all() -> None:
    accuracy = only(
        [
            attempt("1", 1.0),
            attempt("2", 0.0),
            attempt("3", 0.25, applies=False),
            attempt("4", 0.25, applies=False),
        ]
    )
    assert (accuracy.n, accuracy.applies, accuracy.hits) == (4, 2, 1.0)
    assert accuracy.value == pytest.approx((1 + 0 + 0.25 + 0.25) / 4)


def test_a_leak_survives_only_in_the_guarded_prompt_and_above_chance() -> None:
    always = [attempt(str(index), 1.0) for index in range(12)]
    assert only(always).survives
    assert not only([attempt(str(index), 1.0, view="official") for index in range(12)]).survives
    assert not only([attempt(str(index), 1.0, kind="floor") for index in range(12)]).survives
    assert not only([attempt(str(index), float(index % 4 == 0)) for index in range(12)]).survives


def test_samples_of_one_kin_are_no_proof() -> None:
    guesses = [attempt(str(index), 1.0) for index in range(12)]
    assert not only(guesses, dict.fromkeys(map(str, range(12)), "one car")).survives
    assert only(guesses).ci95 is not None


def test_a_rule_that_never_applies_has_no_interval() -> None:
    accuracy = only([attempt(str(index), 0.25, applies=False) for index in range(12)])
    assert (accuracy.ci95, accuracy.value, accuracy.survives) == (None, 0.25, False)


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from("abcd")), min_size=1, max_size=20))
def test_a_worth_and_its_interval_stay_within_the_scale(given: list[tuple[float, str]]) -> None:
    guesses = [attempt(str(index), value) for index, (value, _) in enumerate(given)]
    accuracy = only(guesses, {str(index): cluster for index, (_, cluster) in enumerate(given)})
    low, high = accuracy.ci95 or (0.0, 1.0)
    assert 0 <= low <= accuracy.value + 1e-9
    assert accuracy.value - 1e-9 <= high <= 1


def test_letters_are_counted_by_cell() -> None:
    asked = {"1": FOUR, "2": FOUR, "3": AnswerOptions(options=("x", "y"), right=(0,))}
    refs = {"1": ref("1"), "2": ref("2"), "3": ref("3", cell="other")}
    first, second = letters(asked, refs, "official")
    assert (first.counts, first.best, first.chance) == ({"A": 0, "B": 2, "C": 0, "D": 0}, 1.0, 0.25)
    assert (second.cell, second.counts, second.chance) == ("other", {"A": 1, "B": 0}, 0.5)


def test_length_tells_nothing_where_all_are_as_long() -> None:
    same = AnswerOptions(options=("aa", "bb"), right=(0,))
    longest, same_longest, shortest, _ = try_lengths({"1": FOUR, "2": same}, "official")
    assert (longest.value, shortest.value) == (0.0, 0.0)
    assert not same_longest.applies


def test_an_option_listed_twice_is_named_and_whether_it_is_right() -> None:
    asked = {"1": FOUR, "2": AnswerOptions(options=("x", "x", "y"), right=(0,))}
    (fault,) = option_faults(asked)
    assert (fault.sample_id, fault.kind, fault.detail) == ("2", "duplicate_option", "x (the right one)")


@dataclass(frozen=True, kw_only=True)
class Texts:
    """A sample set of plain texts; a text of None is a broken picture."""

    texts: dict[str, str | None]
    faults: Sequence[DataFault] = ()

    @property
    def refs(self) -> list[SampleRef]:
        return [ref(name) for name in self.texts]

    def get(self, sample_id: str) -> Sample:
        text = self.texts[sample_id]
        if text is None:
            raise DataError("a picture cannot be read")
        missing = ("clip.mp4",) if text == "blind" else ()
        return Sample(ref=ref(sample_id), parts=(Part(content=text),), target={}, missing=missing)


@dataclass(frozen=True, kw_only=True)
class Plain:
    """A benchmark that tells the audit nothing of its questions."""

    texts: dict[str, str | None]
    name: str = "plain"
    version: str = "3"
    faults: Sequence[DataFault] = field(default=())

    def open(self, **_: Any) -> Texts:
        return Texts(texts=self.texts, faults=self.faults)


def audit_plain(media: Path, **texts: str | None) -> Findings:
    benchmark: Any = Plain(texts=texts, faults=(DataFault(sample_id="9", kind="malformed"),))
    return audit(benchmark, data=None, select=Select(), media=MediaStore(media))


def test_without_a_hook_faults_media_and_twins_are_still_found(tmp_path: Path) -> None:
    found = audit_plain(tmp_path, a="one", b="two", c="one", d="blind", e=None)
    assert {(fault.sample_id, fault.kind) for fault in found.faults} == {
        ("9", "malformed"),
        ("e", "broken"),
        ("d", "missing_media"),
        ("a", "same_prompt"),
    }
    assert found.unread == {"official": 4, "guarded": 4}
    assert not found.surviving


def test_an_empty_selection_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no usable sample"):
        audit_plain(tmp_path)


def test_the_tables_say_what_is_not_known(tmp_path: Path) -> None:
    console = Console(width=150, record=True, file=io.StringIO())
    for block in tables(audit_plain(tmp_path, a="[odd] text", d="blind")):
        console.print(block)
    text = console.export_text()
    assert "2 of 2 samples have no options that the audit can read" in text
    assert "No leak could be tested under the guarded prompt" in text
    assert "No leak is seen" not in text
    assert "clip.mp4" in text


def verdict(*guesses: ShortcutGuess) -> str:
    """The last line of an audit that tried these rules."""
    refs = {tried.sample_id: ref(tried.sample_id) for tried in guesses}
    accuracies = shortcut_accuracies(guesses, refs)
    findings = Findings(benchmark="plain", version="1", samples={"cell": len(refs)}, accuracies=accuracies)
    *_, last = tables(findings)
    assert isinstance(last, str)
    return last


def test_the_verdict_says_that_baselines_alone_were_tried_and_of_how_many_rules() -> None:
    said = verdict(*(attempt(str(index), 0.25, kind="floor") for index in range(12)))
    assert said.startswith("Whether the guarded prompt leaks was not tested: of 1 rule tried on it, none")
    assert "All are baselines" in said
    assert said.endswith("plain has no rule for a leak.")
    elsewhere = [attempt(str(index), 0.25, view="files") for index in range(12)]
    baseline = [replace(attempt(str(index), 0.25, kind="floor"), shortcut="near") for index in range(12)]
    assert verdict(*elsewhere, *baseline).endswith("plain has 1 rule for leaks, of other views.")


def test_the_verdict_counts_the_leaks_that_were_tried_and_those_that_find_nothing_to_go_by() -> None:
    applied = [attempt(str(index), float(index % 4 == 0)) for index in range(12)]
    idle = [replace(attempt(str(index), 0.25, applies=False), shortcut="idle") for index in range(12)]
    assert "of 1 rule for leaks that was tried on it, none is significantly above" in verdict(*applied)
    assert "of 2 rules for leaks that were tried on it" in verdict(*applied, *idle)
    assert verdict(*applied, *idle).endswith("1 of them finds nothing there to go by.")


def test_the_progress_ends_with_all_samples(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    audit(
        BENCHMARKS.get("worlds"),
        data=None,
        select=Select(limit=3),
        media=MediaStore(tmp_path),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen[-1] == (3, 3)


@pytest.mark.parametrize("name", BENCHMARKS.names())
def test_a_hook_offers_all_three_functions(name: str) -> None:
    plugin = find_audit_plugin(name)
    if plugin is not None:
        assert all(
            callable(getattr(plugin, part)) for part in ("answer_options", "try_shortcuts", "case_faults")
        )


def test_a_name_that_is_no_benchmark_has_no_hook() -> None:
    assert find_audit_plugin("plain") is None


def test_a_rule_on_true_steps_is_a_leak_far_above_chance_alone() -> None:
    def hits(right: int, kind: str = "leak") -> ShortcutAccuracy:
        return only(
            [attempt(str(index), float(index < right), kind=kind, view="steps") for index in range(30)]
        )

    assert hits(30).survives
    assert hits(20).survives
    assert hits(16).beats_chance
    assert not hits(16).survives
    assert not hits(30, "floor").survives
