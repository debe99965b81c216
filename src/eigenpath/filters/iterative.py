"""Filters that are iterations stopped early; the spectrum gives every step at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from .base import IterativeFilter

__all__ = ["Landweber", "NuMethod"]


class Landweber(IterativeFilter):
    r"""Gradient descent, also known as L2-boosting, stopped after :math:`s` steps of size :math:`\eta`.

    .. math:: g_s(t) = \frac{1 - (1 - \eta t)^s}{t}, \qquad g_s(0) = \eta s

    Parameters
    ----------
    n_iter : int or array-like, optional
        The number of steps, ~ ``1 / lam``. Any number of steps costs the same.
    step : float, optional
        The step size :math:`\eta`, below ``2 / t[0]``. The default is ``1 / t[0]``.
    """

    def __init__(self, n_iter: Any = None, step: float | None = None) -> None:
        self.n_iter = n_iter
        self.step = step

    def formula(self, t: np.ndarray, param: np.ndarray) -> np.ndarray:
        step = self._step(t)
        z = step * t
        # 1 - (1 - z)**s loses all digits for small z, and log(1 - z) does not exist for z >= 1.
        small = z < 0.5
        log = np.log1p(-np.where(small, z, 0.0))
        passed = np.where(small, -np.expm1(param * log), 1 - np.power(1 - z, param))
        return np.where(t > 0, passed / np.where(t > 0, t, 1), step * param)

    def at_lam(self, lam: float, t: np.ndarray) -> float:
        return int(max(1, np.rint(1 / (self._step(t) * lam))))

    def as_lam(self, params: Any, t: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return 1 / (self._step(t) * np.asarray(params, dtype=np.float64))

    def frozen(self, top: float) -> Landweber:
        return self if self.step is not None else clone(self).set_params(step=1 / top)

    def _step(self, t: np.ndarray) -> float:
        top = self._largest(t)
        if self.step is None:
            return 1 / top if top > 0 else 1.0
        if not (self.step > 0 and self.step * top < 2):
            limit = f" = {2 / top:.3g}" if top > 0 else ""
            raise ValueError(
                f"step of Landweber must lie between 0 and 2 / t[0]{limit}, where t[0] is the largest "
                f"eigenvalue of K/n, got {self.step!r}. Leave it None to take 1 / t[0]."
            )
        return self.step


class NuMethod(IterativeFilter):
    r"""Brakhage's :math:`\nu`-method: accelerated Landweber, a polynomial of degree :math:`s - 1` in :math:`t`.

    .. math::
        g_i = g_{i-1} + u_i (g_{i-1} - g_{i-2}) + \frac{\omega_i}{s_0} (1 - t g_{i-1}), \qquad g_0 = 0

    :math:`\sqrt{s}` of its steps do what :math:`s` steps of Landweber do. Its qualification is :math:`\nu`.

    Parameters
    ----------
    n_iter : int or array-like, optional
        The number of steps, ~ ``1 / sqrt(lam)``. The default path ends at 3000 steps.
    nu : float, default=1.0
        The qualification wanted.
    scale : float, optional
        :math:`s_0`, at least ``t[0]``, which is the default.
    """

    _longest = 3000

    def __init__(self, n_iter: Any = None, nu: float = 1.0, scale: float | None = None) -> None:
        self.n_iter = n_iter
        self.nu = nu
        self.scale = scale

    @property
    def qualification(self) -> float:
        return float(self.nu)

    def formula(self, t: np.ndarray, param: np.ndarray) -> np.ndarray:
        steps = param.ravel().astype(np.int64)
        wanted = {step: np.flatnonzero(steps == step) for step in np.unique(steps)}
        out = np.zeros((len(steps), len(t)))
        z = t / self._scale(t)
        before, now = np.zeros_like(z), np.zeros_like(z)
        for i in range(1, int(steps.max(initial=0)) + 1):
            u, omega = self._momentum(i)
            before, now = now, now + u * (now - before) + omega * (1 - z * now)
            if i in wanted:
                out[wanted[i]] = now
        return out / self._scale(t)

    def _momentum(self, i: int) -> tuple[float, float]:
        nu = self.nu
        if i == 1:
            return 0.0, (4 * nu + 2) / (4 * nu + 1)
        wide = (i + 2 * nu - 1) * (2 * i + 4 * nu - 1)
        u = (i - 1) * (2 * i - 3) * (2 * i + 2 * nu - 1) / (wide * (2 * i + 2 * nu - 3))
        return u, 4 * (2 * i + 2 * nu - 1) * (i + nu - 1) / wide

    def at_lam(self, lam: float, t: np.ndarray) -> float:
        return int(max(1, np.rint(np.sqrt(self._scale(t) / lam))))

    def as_lam(self, params: Any, t: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return self._scale(t) / np.asarray(params, dtype=np.float64) ** 2

    def frozen(self, top: float) -> NuMethod:
        return self if self.scale is not None else clone(self).set_params(scale=top)

    def _most_steps(self, lam: float, t: np.ndarray) -> float:
        return min(self.at_lam(lam, t), self._longest)

    def _scale(self, t: np.ndarray) -> float:
        if not self.nu > 0:
            raise ValueError(f"nu of NuMethod must be positive, got {self.nu!r}.")
        top = self._largest(t)
        if self.scale is None:
            return top if top > 0 else 1.0
        # Rounding in t[0] must not reject the bound computed in another way.
        if self.scale < top * (1 - 1e-10):
            raise ValueError(
                f"scale of NuMethod must be at least the largest eigenvalue of K/n, {top:.3g}, got {self.scale!r}. "
                "Leave it None to take that eigenvalue."
            )
        return self.scale
