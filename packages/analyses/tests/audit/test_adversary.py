"""The adversary of the audit learns what rules miss, and is tried on other places than it is fitted on."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from gnomon.core.audit_plugin import AnswerOptions
from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.option_features import OptionTable, worded
from gnomon.core.sample import SampleRef
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon_analyses.audit import audit as audit_module
from gnomon_analyses.audit.adversary import FEWEST, LACKING, is_installed, try_adversary

PLACES, EACH = 20, 6
needs_learner = pytest.mark.skipif(not is_installed(), reason="scikit-learn, the extra `audit`, is not here")


def planted(is_telling: bool, places: int = PLACES) -> dict[str, list[float]]:
    """By shortcut what the adversary gets right where the second lowest is right, or any."""
    rng, names = np.random.default_rng(0), [f"s{number}" for number in range(places * EACH)]
    options = rng.normal(size=(len(names), 4, 3))
    right = options[:, :, 0].argsort(axis=1)[:, 1] if is_telling else rng.integers(0, 4, len(names))
    table = OptionTable(
        sees="without the map", names=("a", "b", "c"), sample_ids=tuple(names), options=options
    )
    offered = {
        name: AnswerOptions(options=("a", "b", "c", "d"), right=(int(at),))
        for name, at in zip(names, right, strict=True)
    }
    refs = {
        name: SampleRef(sample_id=name, task="t", cell="c", cluster=f"place {number // EACH}")
        for number, name in enumerate(names)
    }
    found: dict[str, list[float]] = {}
    for tried in try_adversary([table], offered, refs, {}):
        found.setdefault(tried.shortcut, []).append(tried.value)
    return found


@needs_learner
def test_it_learns_a_rank_that_no_rule_of_least_or_most_finds() -> None:
    [(name, values)] = planted(is_telling=True).items()
    assert name == "adversary without the map"
    assert len(values) == PLACES * EACH
    assert sum(values) / len(values) > 0.8


@needs_learner
def test_it_is_at_chance_where_features_tell_nothing() -> None:
    [values] = planted(is_telling=False).values()
    sigma = (0.25 * 0.75 / len(values)) ** 0.5
    assert abs(sum(values) / len(values) - 0.25) < 4 * sigma


@needs_learner
def test_it_says_nothing_where_other_places_hold_too_few_questions() -> None:
    assert planted(is_telling=True, places=FEWEST // EACH) == {}


def test_words_of_options_are_counted() -> None:
    assert worded(["west 3.5 m", "west"], "Which way, west?") == [
        [0.0, 10.0, 4.0, 2.0, 3.5, 1.0, 1.0],
        [1.0, 4.0, 1.0, 0.0, 0.0, 1.0, 1.0],
    ]


def test_worlds_offer_features_without_the_map_and_with_it(tmp_path: Path) -> None:
    worlds = BENCHMARKS.get("worlds")
    select = Select(limit=14, seed=5)
    samples = worlds.open(data=None, select=select, protocol="guarded", media=MediaStore(tmp_path))
    plugin = importlib.import_module("gnomon_worlds.benchmarks.worlds.audit")
    tables = list(plugin.option_tables([samples.get(ref.sample_id) for ref in samples.refs]))
    assert {table.sees for table in tables} >= {"without the map", "with the map", "by words of the steps"}
    for table in tables:
        assert table.options.shape == (len(table.sample_ids), table.options.shape[1], len(table.names))
        assert np.isfinite(table.options).all()
    assert sum(len(table.sample_ids) for table in tables) == 6 * 14


def test_an_audit_without_the_learner_says_that_it_was_not_tried(tmp_path: Path) -> None:
    if is_installed():
        pytest.skip("scikit-learn is here")
    findings = audit_module.audit(
        BENCHMARKS.get("worlds"), data=None, select=Select(limit=2), media=MediaStore(tmp_path)
    )
    assert LACKING in findings.remarks
