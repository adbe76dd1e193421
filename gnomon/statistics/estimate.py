"""A mean or difference, its standard error, and the intervals and p values that follow from the two."""

from dataclasses import dataclass

from scipy.special import ndtri, stdtr, stdtrit

Ends = tuple[float, float]
FLAT = 1e-12  # a standard error below this is rounding noise


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A value on a scale with ends `limits`; `se` and `df` are None where one cluster is all there is."""

    value: float
    se: float | None
    df: float | None
    n: int
    clusters: int
    effective_clusters: float
    effective_samples: float  # independent ones that these are worth
    limits: tuple[float, float]

    @property
    def is_flat(self) -> bool:
        """All samples agree: the standard error is zero, which understates the doubt."""
        return self.se is not None and self.se < FLAT

    def interval(self, level: float = 0.95) -> tuple[float, float] | None:
        """Student's t interval, cut to the scale; None with fewer than two clusters.

        Where all samples agree it is not ±0: of n agreeing samples a share up to z²/(n + z²) may yet
        differ (Wilson's upper end at 0 of n), and those may be at either end of the scale; n counts the
        independent samples that these are worth.

        >>> none_of_30 = Estimate(
        ...     value=0,
        ...     se=0,
        ...     df=29,
        ...     n=30,
        ...     clusters=30,
        ...     effective_clusters=30,
        ...     effective_samples=30,
        ...     limits=(0, 1),
        ... )
        >>> [round(end, 3) for end in none_of_30.interval()]
        [0.0, 0.114]
        """
        if self.se is None or self.df is None:
            return None
        return self.around(t_quantile(level, self.df), level)

    def around(self, quantile: float, level: float) -> tuple[float, float]:
        """The interval of `quantile` standard errors to both sides, cut to the scale; as `interval` if flat.

        Needs a standard error.
        """
        lowest, highest = self.limits
        if self.is_flat or self.se is None:
            z_squared = normal_quantile(level) ** 2
            share = z_squared / (self.effective_samples + z_squared)
            return self.value - share * (self.value - lowest), self.value + share * (highest - self.value)
        half = quantile * self.se
        return max(lowest, self.value - half), min(highest, self.value + half)

    def p_value(self) -> float | None:
        """Two-sided p of the value being zero, by Student's t; None where the error is unknown or flat."""
        if self.se is None or self.df is None or self.is_flat:
            return None
        return float(2.0 * stdtr(self.df, -abs(self.value) / self.se))


def t_quantile(level: float, df: float) -> float:
    """The t that bounds the central share `level` of Student's distribution.

    >>> round(t_quantile(0.95, 10), 3)
    2.228
    """
    return float(stdtrit(df, (1.0 + level) / 2.0))


def normal_quantile(level: float) -> float:
    """The z that bounds the central share `level` of the normal distribution.

    >>> round(normal_quantile(0.95), 2)
    1.96
    """
    return float(ndtri((1.0 + level) / 2.0))


def wilson(share: float, n: float, *, quantile: float | None = None) -> tuple[float, float]:
    """Wilson's interval (1927) of a share seen in `n` trials; `n` may be an effective, broken number.

    `quantile` is 1.96 for a 95 % interval unless given.

    >>> [round(end, 3) for end in wilson(0.0, 30)]
    [0.0, 0.114]
    """
    z = normal_quantile(0.95) if quantile is None else quantile
    centre = share + z**2 / (2 * n)
    half = z * ((max(share * (1 - share), 0.0) + z**2 / (4 * n)) / n) ** 0.5
    low, high = (centre - half) / (1 + z**2 / n), (centre + half) / (1 + z**2 / n)
    return (0.0 if share <= 0 else max(low, 0.0)), (1.0 if share >= 1 else min(high, 1.0))
