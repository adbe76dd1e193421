"""How often all of k tries succeed (pass^k)."""

import numpy as np
from scipy.special import gammaln

from gnomon.statistics.design import Floats


def pass_hat_k(successes: Floats, tries: Floats, k: int) -> Floats:
    """pass^k by sample: the chance that k tries drawn from those made all succeed, C(c, k) / C(n, k).

    NaN where fewer than k tries were made. Unbiased for p^k (Yao and others 2024, tau-bench).

    >>> [round(float(pass_hat_k(np.array([6.0]), np.array([8.0]), k)[0]), 2) for k in (1, 2, 4, 8)]
    [0.75, 0.54, 0.21, 0.0]
    """
    if k < 1:
        raise ValueError(f"k counts tries, so it is at least 1; got {k}")
    enough, some = tries >= k, successes >= k
    logs = _log_choose(np.where(some, successes, k), k) - _log_choose(np.where(enough, tries, k), k)
    shares: Floats = np.where(some, np.exp(logs), 0.0)
    return np.where(enough, shares, np.nan)


def _log_choose(n: Floats, k: int) -> Floats:
    logs: Floats = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return logs
