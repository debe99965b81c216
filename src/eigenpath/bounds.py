r"""What is guaranteed before any data are seen: finite-sample bounds for spectral filters (Mosci, Rosasco, Verri 2007).

The setting of all of them: n independent examples; a kernel with :math:`k(x, x) \le \kappa^2`; targets with
:math:`|y| \le M`; a regression function with :math:`\|f_\rho\|_H \le R`; and a confidence :math:`1 - \eta`. The excess
risk is :math:`E(f) - E(f_\rho)`, the mean squared error of f less that of the regression function. The parameter lam is
on the scale of K/n. Every argument may be an array; they broadcast.

The constants make these bounds safe, not sharp: on small tables the parameter that they suggest is far too large.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "a_priori_lam",
    "classification_bound",
    "conditional_probability",
    "excess_risk_bound",
    "excess_risk_rate",
]


def a_priori_lam(n: ArrayLike, *, kernel_bound: ArrayLike = 1.0, eta: ArrayLike = 0.05):
    r"""The parameter that theorem 1 chooses without looking at the data.

    .. math:: \lambda_n = \frac{2 \sqrt 2\, \kappa^2 \log(4 / \eta)}{\sqrt n}

    Parameters
    ----------
    n : int or array-like
        Number of examples.
    kernel_bound : float or array-like, default=1.0
        :math:`\kappa^2`, the largest value of k(x, x): what a kernel has as ``bound``.
    eta : float or array-like, default=0.05
        How likely the bounds may fail, between 0 and 1.

    Returns
    -------
    lam : float or ndarray
        The bounds at it hold where it is below 1, that is for n above :math:`8 \kappa^4 \log^2(4 / \eta)`.

    Examples
    --------
    >>> round(a_priori_lam(10_000, kernel_bound=1.0, eta=0.05), 4)
    0.1239
    """
    n, kappa2, log = _sample(n, kernel_bound, eta)
    return _plain(2 * np.sqrt(2) * kappa2 * log / np.sqrt(n))


def excess_risk_rate(
    n: ArrayLike,
    *,
    y_bound: ArrayLike,
    norm_bound: ArrayLike,
    kernel_bound: ArrayLike = 1.0,
    eta: ArrayLike = 0.05,
):
    r"""Bound on the excess risk at `a_priori_lam`, with probability at least :math:`1 - \eta` (theorem 1).

    .. math:: E(f) - E(f_\rho) \le
        \frac{16 \sqrt 2\, (\kappa^2 R^2 + (M + R)^2) \log(4 / \eta)}{\sqrt n}

    Parameters
    ----------
    n : int or array-like
        Number of examples; `a_priori_lam` of it must be below 1.
    y_bound : float or array-like
        M, the largest size of a target.
    norm_bound : float or array-like
        R, the largest norm that the regression function may have in the space of the kernel.
    kernel_bound, eta
        As in `a_priori_lam`.

    Returns
    -------
    bound : float or ndarray

    Raises
    ------
    ValueError
        If the parameter would not be below 1: there are too few examples for any statement.

    Examples
    --------
    >>> round(excess_risk_rate(10_000, y_bound=1.0, norm_bound=1.0), 3)
    4.958
    """
    n, kappa2, log = _sample(n, kernel_bound, eta)
    M, R = _positive(y_bound, "y_bound"), _positive(norm_bound, "norm_bound")
    _check_lam_n(n, kappa2, log)
    return _plain(16 * np.sqrt(2) * (kappa2 * R**2 + (M + R) ** 2) * log / np.sqrt(n))


def excess_risk_bound(
    lam: ArrayLike,
    n: ArrayLike,
    *,
    y_bound: ArrayLike,
    norm_bound: ArrayLike,
    kernel_bound: ArrayLike = 1.0,
    eta: ArrayLike = 0.05,
):
    r"""Bound on the excess risk at any admissible parameter, with probability at least :math:`1 - \eta`.

    .. math:: E(f) - E(f_\rho) \le 8 \Bigl( \lambda R^2 + \frac{C}{\lambda n} \Bigr), \qquad
        C = 8 \kappa^2 (M + R)^2 \log^2(4 / \eta), \qquad \lambda_n \le \lambda < 1

    The first term is what regularization costs, the second what noise costs. At :math:`\lambda_n` the bound is
    `excess_risk_rate`; it is smallest at :math:`\lambda = \sqrt{C / n} / R`, if that is admissible.

    Parameters
    ----------
    lam : float or array-like
        The filter's parameter, on the scale of K/n; not below `a_priori_lam`, and below 1.
    n, y_bound, norm_bound, kernel_bound, eta
        As in `excess_risk_rate`.

    Returns
    -------
    bound : float or ndarray

    Raises
    ------
    ValueError
        If a parameter is not admissible.

    Examples
    --------
    >>> import numpy as np
    >>> excess_risk_bound(np.array([0.2, 0.4, 0.8]), 10_000, y_bound=1.0, norm_bound=1.0).round(2)
    array([4.06, 4.43, 7.01])
    """
    n, kappa2, log = _sample(n, kernel_bound, eta)
    M, R, lam = _positive(y_bound, "y_bound"), _positive(norm_bound, "norm_bound"), _positive(lam, "lam")
    _check_lam(lam, n, kappa2, log)
    C = 8 * kappa2 * (M + R) ** 2 * log**2
    return _plain(8 * (lam * R**2 + C / (lam * n)))


def classification_bound(excess_risk: ArrayLike):
    r"""Bound on the excess misclassification risk of the sign of f, for targets -1 and 1.

    .. math:: R(\operatorname{sign} f) - R^* \le \sqrt{E(f) - E(f_\rho)}

    Parameters
    ----------
    excess_risk : float or array-like
        The excess risk of f, or a bound on it.

    Returns
    -------
    bound : float or ndarray
        How much more often than the best possible rule the sign of f is wrong, at most.

    Examples
    --------
    >>> classification_bound(0.04)
    0.2
    """
    excess = np.asarray(excess_risk, dtype=np.float64)
    if not (excess >= 0).all():
        raise ValueError(f"excess_risk={excess_risk!r} must not be negative: no f has less risk than the regression f.")
    return _plain(np.sqrt(excess))


def conditional_probability(f: ArrayLike):
    r"""The estimate of :math:`P(y = 1 \mid x)` that a least-squares fit to targets -1 and 1 makes.

    .. math:: \hat p(x) = \frac{1 + f(x)}{2}

    Parameters
    ----------
    f : float or array-like
        Values of the fitted function.

    Returns
    -------
    probability : float or ndarray
        Cut to [0, 1], where f leaves [-1, 1].

    Examples
    --------
    >>> conditional_probability([-1.2, 0.0, 0.5])
    array([0.  , 0.5 , 0.75])
    """
    return _plain(np.clip((1 + np.asarray(f, dtype=np.float64)) / 2, 0, 1))


def _sample(n, kernel_bound, eta) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """n, kappa^2 and log(4 / eta), checked."""
    kappa2 = np.asarray(kernel_bound, dtype=np.float64)
    if np.isposinf(kappa2).any():
        raise ValueError(
            f"kernel_bound={kernel_bound!r}, so k(x, x) has no bound, and the theorem says nothing. Use a bounded "
            "kernel, or pass the largest k(x, x) over the inputs that can occur."
        )
    confidence = np.asarray(eta, dtype=np.float64)
    if not ((confidence > 0) & (confidence < 1)).all():
        raise ValueError(f"eta={eta!r} must lie between 0 and 1: it is the probability that the bound may fail.")
    return _positive(n, "n"), _positive(kernel_bound, "kernel_bound"), np.log(4 / confidence)


def _positive(value, name: str) -> np.ndarray:
    array = np.asarray(value, dtype=np.float64)
    if not ((array > 0) & np.isfinite(array)).all():
        raise ValueError(f"{name}={value!r} must be positive and finite.")
    return array


def _check_lam_n(n, kappa2, log) -> None:
    lam_n = 2 * np.sqrt(2) * kappa2 * log / np.sqrt(n)
    if (lam_n >= 1).any():
        raise ValueError(
            f"the bound needs lambda_n < 1, but lambda_n = {lam_n.max():.4g}: there are too few examples. It needs "
            f"n > {np.max(8 * kappa2**2 * log**2):.6g} for this kernel_bound and eta."
        )


def _check_lam(lam, n, kappa2, log) -> None:
    if (lam >= 1).any():
        raise ValueError(f"the bound needs lam < 1, but lam = {lam.max():.4g}.")
    _check_lam_n(n, kappa2, log)
    lam, lam_n = np.broadcast_arrays(lam, 2 * np.sqrt(2) * kappa2 * log / np.sqrt(n))
    # lambda_n itself is admissible, however its last digit was rounded.
    low = lam < lam_n * (1 - 1e-12)
    if low.any():
        raise ValueError(
            f"the bound needs lam >= lambda_n, but lam = {lam[low][0]:.4g} and lambda_n = {lam_n[low][0]:.4g}. Use a "
            "larger lam, or more examples; a_priori_lam gives lambda_n."
        )


def _plain(result: np.ndarray):
    """Numbers for numbers, arrays for arrays."""
    return float(result) if np.ndim(result) == 0 else result
