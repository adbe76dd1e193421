"""Shapley values are those that were planted, and their errors say how far off they may be."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.statistics.coalitions import Coalition, antithetic_orders, coalitions
from gnomon.statistics.shapley import Attribution, shapley

Game = Callable[[Coalition], float]
PLAYERS = ("a", "b", "c", "d")


def substitutes(one: Coalition) -> float:
    """`a` and `b` can each do the job; `c` adds by itself; `d` nothing."""
    return 0.2 + 0.3 * bool(one & {"a", "b"}) + 0.1 * ("c" in one)


def complements(one: Coalition) -> float:
    """`a` and `b` only help together; `d` hurts."""
    return 0.3 + 0.4 * ({"a", "b"} <= one) - 0.1 * ("d" in one)


TRUE = {substitutes: (0.15, 0.15, 0.1, 0.0), complements: (0.2, 0.2, 0.0, -0.1)}


def certain(game: Game, players: Sequence[str], orders: Sequence[Sequence[str]]) -> Attribution:
    scores = {one: np.full((6, 1), game(one)) for one in coalitions(players, orders)}
    return shapley(scores, players=players, orders=orders, clusters=np.arange(6), draws=50)


@pytest.mark.parametrize("game", TRUE)
def test_exact_values_are_those_that_were_planted(game: Game) -> None:
    found = certain(game, PLAYERS, ())
    assert [one.value for one in found.values] == pytest.approx(TRUE[game])
    assert found.is_exact
    assert found.gap == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("game", TRUE)
def test_one_antithetic_pair_already_knows_two_substitutes_or_complements(game: Game) -> None:
    found = certain(game, PLAYERS, antithetic_orders(PLAYERS, 2, seed=3))
    assert [one.value for one in found.values] == pytest.approx(TRUE[game])
    assert all(one.ci95 is None for one in found.values), "one pair says nothing of how orders differ"


@given(st.integers(2, 5), st.integers(1, 4), st.integers(0, 10**6))
def test_values_add_up_to_the_total_whatever_the_game(count: int, pairs: int, seed: int) -> None:
    players = PLAYERS[:count] if count < 5 else (*PLAYERS, "e")
    random = np.random.default_rng(seed)
    worth = {one: float(random.random()) for one in coalitions(players, ())}
    for orders in ((), antithetic_orders(players, 2 * pairs, seed=seed)):
        found = certain(worth.__getitem__, players, orders)
        assert found.total == pytest.approx(worth[frozenset(players)] - worth[frozenset()])
        assert abs(found.gap) < 1e-9


def test_all_orders_give_the_exact_values() -> None:
    random = np.random.default_rng(5)
    worth = {one: float(random.random()) for one in coalitions("abc", ())}
    orders = ["abc", "cba", "acb", "bca", "bac", "cab"]
    sampled, exact = certain(worth.__getitem__, "abc", orders), certain(worth.__getitem__, "abc", ())
    assert [one.value for one in sampled.values] == pytest.approx([one.value for one in exact.values])


def noisy(
    game: Game,
    orders: Sequence[Sequence[str]],
    seed: int,
    *,
    clusters: int = 30,
    size: int = 4,
    repeats: int = 2,
    varies: float = 0.0,
) -> Attribution:
    """Answers of 0 and 1 around the game's value; the effect of what is added varies by cluster."""
    random = np.random.default_rng(seed)
    kin = np.repeat(np.arange(clusters), size)
    own = random.normal(1.0, varies, clusters)[kin]
    scores = {}
    for one in coalitions(PLAYERS, orders):
        gain = game(one) - game(frozenset())
        rate = np.clip(game(frozenset()) + own * gain, 0, 1)
        scores[one] = (random.random((len(kin), repeats)) < rate[:, None]).astype(np.float64)
    return shapley(scores, players=PLAYERS, orders=orders, clusters=kin, draws=200)


@pytest.mark.parametrize("game", TRUE)
@pytest.mark.parametrize("sampled", [False, True])
def test_intervals_hold_the_planted_values(game: Game, sampled: bool) -> None:
    held = of = 0
    for seed in range(60):
        orders = antithetic_orders(PLAYERS, 8, seed=seed) if sampled else ()
        found = noisy(game, orders, seed, varies=0.3)
        for one, true in zip(found.values, TRUE[game], strict=True):
            assert one.ci95 is not None
            held += one.ci95[0] <= true <= one.ci95[1]
            of += 1
    assert held >= 0.9 * of  # 0.95 expected; 240 intervals, those of one study not independent


def test_missing_trials_open_a_gap_that_is_told() -> None:
    random = np.random.default_rng(1)
    scores = {one: random.random((40, 1)) for one in coalitions(PLAYERS, ())}
    scores[frozenset({"a"})][:20] = np.nan
    found = shapley(scores, players=PLAYERS, orders=(), clusters=np.arange(40), draws=50)
    assert abs(found.gap) > 1e-6
    assert all(np.isfinite(one.value) for one in found.values)


def test_repeats_tell_which_part_of_the_error_they_would_remove() -> None:
    one = noisy(substitutes, (), 1, repeats=1).values[0]
    two = noisy(substitutes, (), 1, repeats=4).values[0]
    assert one.generation_se is None
    assert two.generation_se is not None
    assert two.cluster_se is not None
    assert two.generation_se < 1.5 * two.cluster_se


def test_one_cluster_has_values_and_no_errors() -> None:
    scores = {one: np.full((3, 1), substitutes(one)) for one in coalitions(PLAYERS, ())}
    found = shapley(scores, players=PLAYERS, orders=(), clusters=np.zeros(3, dtype=np.intp))
    assert all(one.se is None and one.ci95 is None for one in found.values)


def test_orders_come_in_pairs() -> None:
    with pytest.raises(ValueError, match="pairs"):
        antithetic_orders("ab", 3)
