"""Fits a conditional logit that chooses an option by its features, and tries it on other places."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gnomon.core.ids import stable_hash

RIDGE = 1.0  # on weights of standardized features: a prior of standard deviation 1
FOLDS = 5  # of places; a question's learner is fitted on those of other folds
FEWEST = 40  # questions that a learner is fitted on

Matrix = NDArray[np.float64]  # options × features


def choices_elsewhere(
    matrices: Mapping[str, Matrix], right: Mapping[str, int], clusters: Mapping[str, str]
) -> Iterator[tuple[str, int]]:
    """By question, the option chosen by a learner that was fitted on the questions of other places.

    All mappings are by question. Where there are fewer than FEWEST elsewhere, nothing is said.
    """
    folds = {name: int(stable_hash(clusters[name]), 16) % FOLDS for name in matrices}
    for fold in range(FOLDS):
        others = [name for name in matrices if folds[name] != fold]
        if len(others) < FEWEST:
            continue
        choose = learn([matrices[name] for name in others], [right[name] for name in others])
        for name in matrices:
            if folds[name] == fold:
                yield name, choose(matrices[name])


def learn(questions: Sequence[Matrix], right: Sequence[int]) -> Callable[[Matrix], int]:
    """Fit a conditional logit with a ridge, and return what it chooses: the index of an option.

    All questions have as many options and features; features are centred within the question, so that only
    differences between its options count, and scaled over all of them. Ranks are features of their own.
    """
    from scipy.optimize import minimize  # late: audits alone need it

    centred = np.stack([_centred(question) for question in questions])
    scale = centred.std(axis=(0, 1)) + 1e-9
    inputs, rows = centred / scale, np.arange(len(questions))

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        logits = inputs @ weights
        logits -= logits.max(axis=1, keepdims=True)
        chances = np.exp(logits)
        chances /= chances.sum(axis=1, keepdims=True)
        likelihood = -np.log(chances[rows, right] + 1e-300).sum() + RIDGE / 2 * weights @ weights
        missed = chances
        missed[rows, right] -= 1.0
        return float(likelihood), np.einsum("qo,qof->f", missed, inputs) + RIDGE * weights

    weights = minimize(loss, np.zeros(inputs.shape[2]), jac=True, method="L-BFGS-B").x
    return lambda question: int(np.argmax(_centred(question) / scale @ weights))


def _centred(question: Matrix) -> Matrix:
    ranks = question.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable").astype(np.float64)
    both = np.hstack([question, ranks])
    centred: Matrix = both - both.mean(axis=0)
    return centred
