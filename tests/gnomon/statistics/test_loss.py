"""Lost trials: what they are predicted to score, and how far the unequal part may move a difference."""

import numpy as np
import pytest
from scipy.stats import norm

from gnomon.statistics.design import design
from gnomon.statistics.loss import Loss, difficulties, level_at_worst, loss_of


def a_loss(baseline: list[float], variant: list[float]) -> Loss:
    """Two arms over independent samples, NaN where the trial is lost."""
    means = np.array([baseline, variant])
    lost, ease = np.isnan(means).astype(float), difficulties(means)
    both = ~np.isnan(means).any(axis=0)
    observed = float(np.mean(means[1, both] - means[0, both]))
    grouping = design(np.zeros(len(baseline), dtype=np.intp), np.arange(len(baseline)))
    return loss_of((means[0], means[1]), (lost[0], lost[1]), (ease[0], ease[1]), grouping, observed=observed)


def test_a_lost_trial_scores_what_items_of_its_difficulty_do() -> None:
    easy, hard = [1.0] * 20, [0.0] * 20
    variant = [1.0] * 16 + [0.0] * 3 + [np.nan] + [1.0] * 4 + [0.0] * 15 + [np.nan]
    loss = a_loss(easy + hard, variant)
    expected = (16 + 16 / 19 + 4 + 4 / 19) / 40 - 0.5
    assert loss.modelled == pytest.approx(expected)


def test_where_nothing_tells_the_difficulty_it_scores_the_arms_mean() -> None:
    loss = a_loss([1.0, np.nan, 0.0, 1.0], [1.0, np.nan, 1.0, 0.0])
    assert loss.modelled == pytest.approx(2 / 3 - 2 / 3)
    assert loss.p == 1.0


def test_unequal_loss_is_told_from_equal_loss() -> None:
    scores = [0.0, 1.0] * 20
    assert a_loss([np.nan, *scores[1:]], [*scores[:-1], np.nan]).p == 1.0
    assert a_loss(scores, [*scores[:-8], *[np.nan] * 8]).p == pytest.approx(2 / 2**8)


def test_an_interval_is_moved_and_widened_and_stays_on_the_scale() -> None:
    loss = Loss(shares=(0, 0), surplus=(), observed=0.2, modelled=0.3, se=0.03)
    assert loss.moved((0.1, 0.3), 0.04) == pytest.approx((0.3 - 0.125, 0.3 + 0.125))
    assert loss.moved((-0.9, 0.9), 0.04) == (-1.0, 1.0)


@pytest.mark.parametrize("width", [0.0, 0.01, 0.05, 0.4])
def test_ends_of_a_range_are_read_at_imbens_and_manskis_level(width: float) -> None:
    quantile = norm.ppf((1 + level_at_worst(width, 0.02)) / 2)
    assert norm.cdf(quantile + width / 0.02) - norm.cdf(-quantile) == pytest.approx(0.95, abs=1e-6)
