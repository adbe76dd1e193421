"""The ratio of two paired means, such as points gained for each extra dollar."""

from dataclasses import dataclass

from gnomon.statistics.design import Design, Floats
from gnomon.statistics.estimate import t_quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A ratio of means with its 95 % interval."""

    value: float
    ci95: tuple[float, float]


def ratio_of_means(top: Floats, bottom: Floats, grouping: Design, *, level: float = 0.95) -> Ratio | None:
    """mean(top) / mean(bottom) with Fieller's interval (1954), its covariances robust to clusters.

    None where the bottom's interval holds zero, as the ratio may then be anything, or with fewer than two
    clusters.
    """
    limits = (-float("inf"), float("inf"))
    above = grouping.estimate(top, limits=limits)
    below = grouping.estimate(bottom, limits=limits)
    if above.se is None or below.se is None or above.df is None or below.value == 0:
        return None
    quantile = t_quantile(level, above.df)
    g = (quantile * below.se / below.value) ** 2
    if g >= 1:
        return None
    value = above.value / below.value
    covariance = float(grouping.influence(top) @ grouping.influence(bottom))
    centre = value - g * covariance / below.se**2 if below.se > 0 else value
    inner = above.se**2 - 2 * value * covariance + value**2 * below.se**2
    if below.se > 0:
        inner -= g * (above.se**2 - covariance**2 / below.se**2)
    half = quantile / abs(below.value) * max(inner, 0.0) ** 0.5
    return Ratio(value=value, ci95=((centre - half) / (1 - g), (centre + half) / (1 - g)))
