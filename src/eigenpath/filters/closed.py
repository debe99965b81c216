"""Filters given by a closed formula in ``lam`` or in a number of components."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import _POINTS, Filter, rank_of

__all__ = ["TSVD", "IteratedTikhonov", "Showalter", "Tikhonov"]


class Tikhonov(Filter):
    r"""Kernel ridge regression.

    .. math:: g_\lambda(t) = \frac{1}{t + \lambda}

    Its qualification is 1: it saturates, and smoother targets than that gain nothing.

    Parameters
    ----------
    lam : float or array-like, optional
        The penalty on the scale of K/n; scikit-learn's ``alpha`` is ``n * lam``. By default chosen on the path.

    Examples
    --------
    >>> Tikhonov().gains([1.0, 0.0], [0.5])
    array([[0.66666667, 2.        ]])
    """

    qualification = 1.0
    resolvent = True

    def __init__(self, lam: Any = None) -> None:
        self.lam = lam

    def formula(self, t: np.ndarray, param: np.ndarray) -> np.ndarray:
        return 1 / (t + param)


class IteratedTikhonov(Filter):
    r"""Tikhonov applied ``order`` times, each pass fitting the residual of the last.

    .. math:: g_\lambda(t) = \frac{1}{t + \lambda} \sum_{j < q} \Bigl(\frac{\lambda}{t + \lambda}\Bigr)^j

    Its qualification is its order.

    Parameters
    ----------
    lam : float or array-like, optional
        The penalty of each pass, on the scale of K/n.
    order : int, default=2
        The number of passes ``q``.
    """

    def __init__(self, lam: Any = None, order: int = 2) -> None:
        self.lam = lam
        self.order = order

    @property
    def qualification(self) -> float:
        return float(self.order)

    @property
    def _strongest(self) -> float:
        return super()._strongest * self._passes()

    def formula(self, t: np.ndarray, param: np.ndarray) -> np.ndarray:
        # The sum, not (1 - ratio**order) / t, which is 0/0 on the null space.
        inverse = 1 / (t + param)
        ratio = param * inverse
        total = np.ones_like(ratio)
        for _ in range(1, self._passes()):
            total = 1 + ratio * total
        return inverse * total

    def _passes(self) -> int:
        if not isinstance(self.order, (int, np.integer)) or self.order < 1:
            raise ValueError(f"order of IteratedTikhonov must be a whole number of at least 1, got {self.order!r}.")
        return int(self.order)


class Showalter(Filter):
    r"""Gradient flow stopped at time :math:`1/\lambda`: Landweber with infinitely small steps.

    .. math:: g_\lambda(t) = \frac{1 - e^{-t/\lambda}}{t}, \qquad g_\lambda(0) = \frac{1}{\lambda}

    Parameters
    ----------
    lam : float or array-like, optional
        The inverse of the stopping time, on the scale of K/n.
    """

    def __init__(self, lam: Any = None) -> None:
        self.lam = lam

    def formula(self, t: np.ndarray, param: np.ndarray) -> np.ndarray:
        positive = t > 0
        return np.where(positive, -np.expm1(-t / param) / np.where(positive, t, 1), 1 / param)


class TSVD(Filter):
    r"""Spectral cut-off; with centred features it is kernel principal component regression.

    .. math:: g_\lambda(t) = \frac{1}{t} \text{ if } t \ge \lambda \text{ else } 0

    Parameters
    ----------
    n_components : int, float or array-like, optional
        The number of components kept. A float below 1 is the share of variance that those kept must reach.
    lam : float or array-like, optional
        The threshold on the scale of K/n, instead of ``n_components``. With neither, ``n_components`` is chosen.

    Examples
    --------
    >>> import numpy as np
    >>> t = np.array([4.0, 2.0, 0.0])
    >>> TSVD().gains(t, [0, 1, 3])
    array([[0.  , 0.  , 0.  ],
           [0.25, 0.  , 0.  ],
           [0.25, 0.5 , 0.  ]])
    >>> TSVD(lam=3.0).gains(t, [3.0])
    array([[0.25, 0.  , 0.  ]])
    """

    cuts = True

    def __init__(self, n_components: Any = None, lam: Any = None) -> None:
        self.n_components = n_components
        self.lam = lam

    @property
    def parameter(self) -> str:
        return "n_components" if self.lam is None else "lam"

    @property
    def whole(self) -> bool:
        given = np.asarray(self.n_components)
        return self.parameter == "n_components" and given.dtype.kind == "f" and bool(_shares(given).any())

    def formula(self, t: np.ndarray, param: np.ndarray) -> np.ndarray:
        rank = rank_of(t)
        # Dividing by eigenvalues that are rounding errors would return noise.
        inverse = np.zeros_like(t)
        inverse[:rank] = 1 / t[:rank]
        if self.parameter == "lam":
            return inverse * (t >= param)
        return inverse * (np.arange(len(t)) < _counts(t, param))

    def default_path(self, t: np.ndarray) -> np.ndarray:
        rank = rank_of(t)
        thinned = np.rint(np.geomspace(1, rank, _POINTS // 2)).astype(np.int64)
        return np.union1d(np.arange(min(rank, _POINTS // 2) + 1), thinned)

    def at_lam(self, lam: float, t: np.ndarray) -> float:
        return lam if self.parameter == "lam" else int(np.count_nonzero(t >= lam))

    def as_lam(self, params: Any, t: np.ndarray) -> np.ndarray:
        if self.parameter == "lam":
            return super().as_lam(params, t)
        counts = _counts(t, np.asarray(params)).astype(np.int64)
        return np.append(np.inf, t)[np.clip(counts, 0, len(t))]

    def by_components(self) -> TSVD | None:
        return TSVD() if self.parameter == "lam" else None

    def path(self, t: np.ndarray) -> np.ndarray:
        if self.lam is not None and self.n_components is not None:
            raise ValueError(
                f"TSVD takes n_components or lam, not both: got n_components={self.n_components!r}, lam={self.lam!r}."
            )
        return super().path(t)

    def _check(self, values: np.ndarray) -> None:
        if self.parameter == "lam":
            return super()._check(values)
        numeric = np.issubdtype(values.dtype, np.number)
        if not (numeric and np.all((values == np.floor(values)) & (values >= 0) | (values > 0) & (values < 1))):
            raise ValueError(
                f"{self._name} must be whole numbers, or shares of variance between 0 and 1, got {self.n_components!r}."
            )
        return None

    def _ordered(self, values: np.ndarray) -> np.ndarray:
        if self.parameter == "lam":
            return super()._ordered(values)
        return np.sort(values)


def _shares(param: np.ndarray) -> np.ndarray:
    """Which parameters are shares of variance, not numbers of components."""
    return (param > 0) & (param < 1)


def _counts(t: np.ndarray, param: np.ndarray) -> np.ndarray:
    """Numbers of components; shares of variance become the smallest number that reaches them."""
    total = t.sum()
    share = np.cumsum(t) / (total if total > 0 else 1)
    return np.where(_shares(param), np.searchsorted(share, param) + 1, param)
