"""The mixed logistic model against integrals by SciPy, and against truths that were planted."""

from math import exp, log, pi, sqrt

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.integrate import dblquad, quad
from scipy.special import expit

from gnomon_analyses.statistics.mixed_logistic import Answers, _Model, mixed_logistic, share_right

LEVELS = (-0.3, 0.5, 0.1, 0.9)


def answers(
    seed: int,
    *,
    clusters: int = 30,
    items: int = 5,
    deviations: tuple[float, float] = (1.0, 0.7),
    tries: int = 1,
) -> Answers:
    random, n = np.random.default_rng(seed), clusters * items
    of = np.repeat(np.arange(clusters), items)
    shift = random.normal(0, deviations[0], n) + random.normal(0, deviations[1], clusters)[of]
    right = np.stack([random.binomial(tries, expit(level + shift)) for level in LEVELS], axis=1)
    return Answers(right=right.astype(float), trials=np.full(right.shape, float(tries)), clusters=of)


def normal(z: float) -> float:
    return exp(-z * z / 2) / sqrt(2 * pi)


def test_the_likelihood_of_a_cluster_is_its_integral() -> None:
    small = Answers(
        right=np.array([[1.0, 1.0], [0.0, 2.0]]),
        trials=np.array([[1.0, 2.0], [1.0, 2.0]]),
        clusters=np.zeros(2, int),
    )
    theta = np.array([-0.4, 0.6, 1.3, 0.8])

    def item(at: int, z_item: float, z_cluster: float) -> float:
        chance = expit(theta[:2] + theta[2] * z_item + theta[3] * z_cluster)
        right, trials = small.right[at], small.trials[at]
        return float(np.prod(chance**right * (1 - chance) ** (trials - right))) * normal(z_item)

    def both(z_cluster: float) -> float:
        own = [quad(lambda z, at=at: item(at, z, z_cluster), -9, 9)[0] for at in (0, 1)]
        return own[0] * own[1] * normal(z_cluster)

    expected = log(quad(both, -9, 9)[0])
    model = _Model.of(small, is_random=(True, True))
    for nodes in (model, model.centred(theta)):
        values, gradient = nodes.scores(theta)
        assert values.sum() == pytest.approx(expected, abs=2e-5)
        for at, step in enumerate(1e-5 * np.eye(4)):
            difference = nodes.scores(theta + step)[0].sum() - nodes.scores(theta - step)[0].sum()
            assert gradient[:, at].sum() == pytest.approx(difference / 2e-5, abs=1e-6)


def test_without_random_parts_it_is_plain_logistic_regression() -> None:
    plain = answers(1, deviations=(0.0, 0.0), clusters=60)
    model = _Model.of(plain, is_random=(False, False))
    outcome, which = plain.right.ravel(), np.tile(np.eye(4), (len(plain.clusters), 1))
    regression = sm.GLM(outcome, which, family=sm.families.Binomial()).fit()
    values, gradient = model.scores(np.asarray(regression.params))
    assert values.sum() == pytest.approx(regression.llf)
    assert np.abs(gradient.sum(axis=0)).max() < 1e-6
    assert np.linalg.inv(model.information(np.asarray(regression.params)).sum(axis=0)) == pytest.approx(
        regression.cov_params(), abs=1e-6
    )


def test_it_finds_what_was_planted() -> None:
    fit = mixed_logistic(answers(2, clusters=120, items=6))
    assert fit.is_converged
    assert fit.item_deviation == pytest.approx(1.0, abs=0.25)
    assert fit.cluster_deviation == pytest.approx(0.7, abs=0.25)
    effect = fit.figure(lambda levels, _: float(levels[1] - levels[0]))
    assert effect.ci95[0] < 0.8 < effect.ci95[1]
    assert effect.se == pytest.approx(effect.model_se, rel=0.25)
    assert effect.p < 1e-6
    interaction = fit.figure(lambda levels, _: float(levels[3] - levels[2] - levels[1] + levels[0]))
    assert interaction.ci95[0] < 0.0 < interaction.ci95[1]


def test_one_step_is_close_to_fitting_again_without_a_cluster() -> None:
    whole = answers(3, clusters=25)
    rest = whole.clusters != 7
    again = mixed_logistic(
        Answers(
            right=whole.right[rest],
            trials=whole.trials[rest],
            clusters=np.unique(whole.clusters[rest], return_inverse=True)[1],
        )
    )
    fit = mixed_logistic(whole)
    moved = fit._left_out[7] - fit._theta
    assert fit._left_out[7][:4] == pytest.approx(again.levels, abs=0.2 * float(np.abs(moved).max()) + 0.01)


def test_items_alike_have_no_deviation() -> None:
    fit = mixed_logistic(answers(4, clusters=20, deviations=(0.0, 0.0), tries=3))
    assert fit.item_deviation < 0.4
    assert fit.cluster_deviation < 0.4
    assert fit.is_converged


@pytest.mark.parametrize(("level", "deviation"), [(0.7, 1.2), (-3.0, 2.0), (1.0, 0.3)])
def test_a_share_is_the_logistic_normal_integral(level: float, deviation: float) -> None:
    whole = quad(lambda z: expit(level + deviation * z) * normal(z), -9, 9)[0]
    assert share_right(level, deviation) == pytest.approx(whole, abs=1e-6)


def test_two_deviations_add_up_in_squares() -> None:
    whole = dblquad(lambda a, b: expit(0.4 + a + 0.5 * b) * normal(a) * normal(b), -8, 8, -8, 8)[0]
    assert share_right(0.4, sqrt(1.25)) == pytest.approx(whole, abs=1e-5)


@pytest.mark.parametrize(
    ("right", "says"),
    [
        ([[0, 1]] * 6, "always right, or always wrong"),
        ([[0, 1], [1, 1], [0, 1], [0, 1], [0, 0], [0, 1]], "no bound"),
    ],
)
def test_odds_without_a_bound_are_refused(right: list[list[int]], says: str) -> None:
    hits = np.array(right * 5, dtype=float)
    with pytest.raises(ValueError, match=says):
        mixed_logistic(Answers(right=hits, trials=np.ones_like(hits), clusters=np.arange(30) // 3))
