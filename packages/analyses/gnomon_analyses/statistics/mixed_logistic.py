"""A mixed logistic model of right answers: a level for each condition, items and clusters random.

logit P(right) = β of the condition + σ_item · z_item + σ_cluster · z_cluster, all z standard normal, items
within clusters. The likelihood is integrated by adaptive Gauss–Hermite quadrature on both levels (Pinheiro
and Bates 1995; Rabe-Hesketh, Skrondal and Pickles 2005) and maximised. Errors do not trust the model: they
are those of the cluster jackknife, in one Newton step a cluster (Bell and McCaffrey 2002; MacKinnon, Nielsen
and Webb 2023), with Student's t of G − 1 degrees of freedom.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit, logsumexp, stdtr

from gnomon.statistics.design import Codes, Floats
from gnomon.statistics.estimate import t_quantile

NODES = 11
ROUNDS = 12  # of moving the nodes to where the integrands are
SETTLED = 1e-7  # change of the log likelihood
STEEP = 1e-2  # a gradient above this is not at the top
BOUND = 15.0  # a parameter on the logit scale beyond this runs away
SMALL = 0.05  # a deviation below this is taken as 0
STEP = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Answers:
    """By item and condition: how many trials were right, of how many; by item: its cluster, from 0."""

    right: Floats
    trials: Floats
    clusters: Codes

    @property
    def clusters_n(self) -> int:
        return int(self.clusters.max()) + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A value with the jackknife's error, 95 % interval and p of no effect; `model_se` trusts the model."""

    value: float
    se: float
    ci95: tuple[float, float]
    p: float
    model_se: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MixedLogistic:
    """The fit. `levels` are on the logit scale of an average item; deviations of 0 were too small to fit."""

    levels: Floats
    item_deviation: float
    cluster_deviation: float
    log_likelihood: float
    gradient: float  # its largest entry at the solution
    is_converged: bool
    rounds: int
    clusters_n: int
    _theta: Floats = field(repr=False)
    _left_out: Floats = field(repr=False)  # clusters × parameters: the fit without each cluster
    _covariance: Floats = field(repr=False)
    _is_random: tuple[bool, bool] = field(repr=False)

    def figure(self, of: Callable[[Floats, float], float]) -> Figure:
        """A function of the levels and of the total deviation of an item, with its error."""
        value = self._at(of, self._theta)
        without = np.array([self._at(of, theta) for theta in self._left_out])
        g = self.clusters_n
        se = float(np.sqrt((g - 1) / g * np.sum((without - value) ** 2)))
        half = t_quantile(0.95, g - 1) * se
        slope = np.array(
            [
                (self._at(of, self._theta + step) - self._at(of, self._theta - step)) / (2 * STEP)
                for step in STEP * np.eye(len(self._theta))
            ]
        )
        return Figure(
            value=value,
            se=se,
            ci95=(value - half, value + half),
            p=float(2 * stdtr(g - 1, -abs(value) / se)) if se > 0 else 1.0,
            model_se=float(np.sqrt(max(slope @ self._covariance @ slope, 0.0))),
        )

    def _at(self, of: Callable[[Floats, float], float], theta: Floats) -> float:
        levels_n = len(self.levels)
        return of(theta[:levels_n], float(np.sqrt(np.sum(theta[levels_n:] ** 2))))


def share_right(level: float, deviation: float) -> float:
    """The share of items, over the random ones, that is right at this level: the logistic-normal integral.

    >>> share_right(0.0, 1.5), round(share_right(1.0, 0.0), 3)
    (0.5, 0.731)
    """
    nodes, weights = _nodes(41)
    return round(float(np.sum(weights * expit(level + deviation * nodes))), 15)


def mixed_logistic(answers: Answers) -> MixedLogistic:
    """Fit the model by maximum likelihood.

    Raises:
        ValueError: a condition has no trial, or is always right or always wrong; the data are separated in
            another way, as where no item gets worse; or a condition rests on one cluster.
    """
    _check(answers)
    single = answers.clusters_n == len(answers.clusters)
    model = _Model.of(answers, is_random=(True, not single))
    fit = _fit(model)
    kept = _large(model, fit.theta)
    if kept != model.is_random:
        model = _Model.of(answers, is_random=kept)
        fit = _fit(model)
    information = fit.model.information(fit.theta)
    total = information.sum(axis=0)
    scores = fit.model.scores(fit.theta)[1]
    try:
        covariance = np.linalg.inv(total)
        left_out = fit.theta - np.linalg.solve(total - information, scores[..., None])[..., 0]
    except np.linalg.LinAlgError:
        raise ValueError("a condition rests on one cluster") from None
    levels_n = answers.right.shape[1]
    deviations = iter(np.abs(fit.theta[levels_n:]).tolist())
    item, cluster = (next(deviations) if random else 0.0 for random in model.is_random)
    gradient = float(np.abs(scores.sum(axis=0)).max())
    is_top = bool(np.all(np.linalg.eigvalsh((total + total.T) / 2) > 0))
    return MixedLogistic(
        levels=fit.theta[:levels_n],
        item_deviation=item,
        cluster_deviation=cluster,
        log_likelihood=fit.log_likelihood,
        gradient=gradient,
        is_converged=fit.is_settled and gradient < STEEP and is_top,
        rounds=fit.rounds,
        clusters_n=answers.clusters_n,
        _theta=fit.theta,
        _left_out=left_out,
        _covariance=covariance,
        _is_random=model.is_random,
    )


def _check(answers: Answers) -> None:
    right, trials = answers.right.sum(axis=0), answers.trials.sum(axis=0)
    if np.any(trials == 0):
        raise ValueError("a condition has no trial")
    if np.any((right == 0) | (right == trials)):
        raise ValueError("a condition is always right, or always wrong")
    if answers.clusters_n < 2:
        raise ValueError("all items are in one cluster")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fitted:
    theta: Floats
    log_likelihood: float
    is_settled: bool
    rounds: int
    model: "_Model"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Model:
    """The integrals: nodes by item and by cluster, where and how wide (`centres`: mean, deviation)."""

    answers: Answers
    is_random: tuple[bool, bool]  # items, clusters
    item_centres: tuple[Floats, Floats]
    cluster_centres: tuple[Floats, Floats]

    @classmethod
    def of(cls, answers: Answers, *, is_random: tuple[bool, bool]) -> "_Model":
        items_n, g = len(answers.clusters), answers.clusters_n
        return cls(
            answers=answers,
            is_random=is_random,
            item_centres=(np.zeros(items_n), np.ones(items_n)),
            cluster_centres=(np.zeros(g), np.ones(g)),
        )

    def start(self) -> Floats:
        shares = self.answers.right.sum(axis=0) / self.answers.trials.sum(axis=0)
        return np.concatenate([1.2 * logit(shares), np.full(sum(self.is_random), 0.8)])

    def scores(self, theta: Floats) -> tuple[Floats, Floats]:
        """By cluster: its log likelihood, and the gradient of that."""
        return self._integrate(theta)[:2]

    def centred(self, theta: Floats) -> "_Model":
        """The same with the nodes where the integrands are at these parameters."""
        _, _, items, clusters = self._integrate(theta)
        return replace(self, item_centres=items, cluster_centres=clusters)

    def information(self, theta: Floats) -> Floats:
        """By cluster: minus the second derivatives, by central differences of the gradient."""
        columns = [
            (self.scores(theta - step)[1] - self.scores(theta + step)[1]) / (2 * STEP)
            for step in STEP * np.eye(len(theta))
        ]
        return np.stack(columns, axis=-1)

    def _integrate(
        self, theta: Floats
    ) -> tuple[Floats, Floats, tuple[Floats, Floats], tuple[Floats, Floats]]:
        answers, levels_n = self.answers, self.answers.right.shape[1]
        deviations = iter(theta[levels_n:].tolist())
        item_sd, cluster_sd = (next(deviations) if random else 0.0 for random in self.is_random)
        z_item, item_weights = _placed(self.item_centres, is_random=self.is_random[0])
        z_cluster, cluster_weights = _placed(self.cluster_centres, is_random=self.is_random[1])
        of_item = answers.clusters
        shift = cluster_sd * z_cluster[of_item][:, :, None] + item_sd * z_item[:, None, :]
        logs = np.broadcast_to(item_weights[:, None, :], shift.shape).copy()
        for k in range(levels_n):
            eta = theta[k] + shift
            right, trials = answers.right[:, k, None, None], answers.trials[:, k, None, None]
            logs += right * eta - trials * np.logaddexp(0.0, eta)
        by_item = logsumexp(logs, axis=2)  # items × nodes of the cluster
        by_cluster = cluster_weights.copy()
        np.add.at(by_cluster, of_item, by_item)
        total = logsumexp(by_cluster, axis=1)
        of_cluster = np.exp(by_cluster - total[:, None])
        joint = np.exp(logs - by_item[:, :, None]) * of_cluster[of_item][:, :, None]
        gradient = np.zeros((answers.clusters_n, len(theta)))
        residual = np.zeros_like(shift)
        for k in range(levels_n):
            right, trials = answers.right[:, k, None, None], answers.trials[:, k, None, None]
            own = right - trials * expit(theta[k] + shift)
            residual += own
            np.add.at(gradient[:, k], of_item, np.sum(joint * own, axis=(1, 2)))
        residual *= joint
        at = levels_n
        if self.is_random[0]:
            np.add.at(gradient[:, at], of_item, np.einsum("iqr,ir->i", residual, z_item))
            at += 1
        if self.is_random[1]:
            slope = np.einsum("iqr,iq->i", residual, z_cluster[of_item])
            np.add.at(gradient[:, at], of_item, slope)
        return total, gradient, _moments(joint.sum(axis=1), z_item), _moments(of_cluster, z_cluster)


def _fit(model: _Model) -> _Fitted:
    theta, before, is_settled = model.start(), -np.inf, False
    rounds = 0
    while not is_settled and rounds < ROUNDS:
        rounds += 1
        solution = minimize(_minus, theta, args=(model,), jac=True, method="BFGS", options={"gtol": 1e-5})
        theta, value = np.asarray(solution.x), -float(solution.fun)
        if np.abs(theta).max() > BOUND:
            raise ValueError("the odds have no bound, as where an arm mends items and breaks none")
        is_settled = abs(value - before) < SETTLED * max(1.0, abs(value))
        if not is_settled:
            before, model = value, model.centred(theta)
    return _Fitted(theta=theta, log_likelihood=value, is_settled=is_settled, rounds=rounds, model=model)


def _minus(theta: Floats, model: _Model) -> tuple[float, Floats]:
    values, gradient = model.scores(theta)
    return -float(values.sum()), -gradient.sum(axis=0)


def _large(model: _Model, theta: Floats) -> tuple[bool, bool]:
    """Which of the random parts have a deviation worth fitting."""
    deviations = iter(np.abs(theta[model.answers.right.shape[1] :]).tolist())
    items, clusters = (random and next(deviations) > SMALL for random in model.is_random)
    return items, clusters


def _nodes(count: int) -> tuple[Floats, Floats]:
    """Nodes and weights of an expectation over a standard normal."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(count)
    return nodes, weights / np.sqrt(2 * np.pi)


def _placed(centres: tuple[Floats, Floats], *, is_random: bool) -> tuple[Floats, Floats]:
    """The nodes z and the logs of their weights by row; one node at 0 if nothing is random."""
    mean, deviation = centres
    if not is_random:
        return np.zeros((len(mean), 1)), np.zeros((len(mean), 1))
    nodes, weights = _nodes(NODES)
    z = mean[:, None] + deviation[:, None] * nodes
    return z, np.log(weights) + np.log(deviation)[:, None] + (nodes**2 - z**2) / 2


def _moments(shares: Floats, z: Floats) -> tuple[Floats, Floats]:
    mean = np.sum(shares * z, axis=1)
    spread = np.sqrt(np.maximum(np.sum(shares * z**2, axis=1) - mean**2, 0.0))
    return mean, np.clip(spread, 0.02, 1.0)
