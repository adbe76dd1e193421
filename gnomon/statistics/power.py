"""The effect that a job could detect, before anything is spent."""

import math
from collections.abc import Sequence
from statistics import NormalDist

ICC = 0.2  # of samples of one cluster, where no pilot shows it; STI-Bench and UrbanVideo: 0.2 to 0.3


def planned_mde(
    samples: int, *, discordant: float = 0.2, design_effect: float = 1.0, power: float = 0.8
) -> float:
    """The minimum detectable effect (MDE) of `samples` pairs of 0/1 scores, two-sided at 5 %.

    `discordant` is the share of samples on which the arms are expected to differ, `design_effect` how many
    clustered samples are worth one independent. δ² = κ·q/(1 + κ), κ = (1.96 + z of the power)²·effect/n,
    from Var(d) = q − δ².

    >>> round(planned_mde(30), 3), round(planned_mde(420), 3)
    (0.204, 0.061)

    Raises:
        ValueError: there are no samples.
    """
    if samples < 1:
        raise ValueError(f"a plan needs at least one sample, got {samples}")
    kappa = _z(power) ** 2 * design_effect / samples
    return min(1.0, math.sqrt(kappa * discordant / (1 + kappa)))


def design_effect(sizes: Sequence[int], icc: float = ICC) -> float:
    """How many samples in clusters of these sizes are worth one independent sample (Kish 1965).

    1 + (m − 1)·icc, m the size of the cluster of a sample, on average.

    >>> design_effect([1, 1, 1]), round(design_effect([7] * 20), 2)
    (1.0, 2.2)

    Raises:
        ValueError: there are no clusters.
    """
    if not sizes:
        raise ValueError("a design effect needs at least one cluster")
    return 1.0 + (sum(size * size for size in sizes) / sum(sizes) - 1.0) * icc


def mde_of(se: float, *, power: float = 0.8) -> float:
    """The smallest true difference that a study with this standard error would show, two-sided at 5 %.

    >>> round(mde_of(0.02), 3)
    0.056
    """
    return min(1.0, _z(power) * se)


def _z(power: float) -> float:
    """How many standard errors an effect must measure to be found with that power."""
    normal = NormalDist()  # SciPy's would take longer to load than a plan to make
    return normal.inv_cdf(0.975) + normal.inv_cdf(power)
