"""The Matérn correlation, for every smoothness."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.polynomial import Polynomial
from scipy.special import gamma, kv

__all__ = ["matern"]

# From this nu on the expansion for large orders is exact to rounding, and Bessel functions soon overflow.
_LARGE = 25.0
_TERMS = 12
# From this s^2 on, and this R2, all correlations are smaller than the smallest number.
_FAR = 1e6


def matern(R2: np.ndarray, nu: float) -> np.ndarray:
    """Return the correlation at squared scaled distances R2 = (distance / length scale)^2, in place."""
    if nu == np.inf:
        R2 *= -0.5
        return np.exp(R2, out=R2)
    # Farther away powers overflow, and zero times infinity would be NaN.
    np.minimum(R2, _FAR / min(2 * nu, 1.0), out=R2)
    if nu in _HALF_INTEGERS:
        R2 *= 2 * nu
        s = np.sqrt(R2)
        decay = np.exp(-s)
        return np.multiply(_HALF_INTEGERS[nu](s, R2), decay, out=R2)
    R2[...] = _large_order(R2.astype(np.float64), nu) if nu >= _LARGE else _bessel(R2.astype(np.float64), nu)
    return R2


# nu: the polynomial in s and s^2 that multiplies exp(-s).
_HALF_INTEGERS = {
    0.5: lambda s, s2: 1,
    1.5: lambda s, s2: 1 + s,
    2.5: lambda s, s2: 1 + s + s2 / 3,
}


def _bessel(R2: np.ndarray, nu: float) -> np.ndarray:
    """The definition; next to 0, where the Bessel function overflows or is infinite, its limit 1."""
    s = np.sqrt(2 * nu * R2)
    with np.errstate(invalid="ignore", over="ignore"):
        value = 2 ** (1 - nu) / gamma(nu) * s**nu * kv(nu, s)
    return np.where(np.isfinite(value) & (s > 0) | np.isnan(R2), value, 1)


@cache
def _debye_polynomials(n_terms: int) -> list[Polynomial]:
    """The polynomials u_k(p) of the uniform expansion of Bessel functions for large orders (DLMF 10.41.9)."""
    terms = [Polynomial([1.0])]
    p2, weight = Polynomial([0, 0, 1.0]), Polynomial([1.0, 0, -5.0])
    for _ in range(1, n_terms):
        u = terms[-1]
        terms.append(p2 * (1 - p2) * u.deriv() / 2 + (weight * u).integ() / 8)
    return terms


def _large_order(R2: np.ndarray, nu: float) -> np.ndarray:
    """The uniform expansion divided by its value at 0, in which all that grows with nu has cancelled."""
    z2 = 2 * R2 / nu
    q = np.sqrt(1 + z2)
    excess = z2 / (1 + q)
    terms = (u * (-1 / nu) ** k for k, u in enumerate(_debye_polynomials(_TERMS)))
    series = sum(terms, start=Polynomial([0.0]))
    return np.exp(-nu * (excess - np.log1p(excess / 2))) / np.sqrt(q) * (series(1 / q) / series(1.0))
