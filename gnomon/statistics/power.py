"""Planning: what a job could detect before a cent is spent."""

from scipy.special import ndtri


def planned_mde(
    samples: int, *, discordant: float = 0.2, design_effect: float = 1.0, power: float = 0.8
) -> float:
    """The smallest true difference that `samples` pairs of 0/1 scores would show, two-sided at 5 %.

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
    kappa = float(ndtri(0.975) + ndtri(power)) ** 2 * design_effect / samples
    return min(1.0, float((kappa * discordant / (1 + kappa)) ** 0.5))
