"""What every kernel is: a formula, evaluated by tiles, with parameters that scikit-learn can read and set."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from ._inputs import Number, as_pair, common_dtype, output
from ._tiles import TILE, Fill, fill_matrix, set_diagonal
from .bandwidth import resolve_gamma

__all__ = ["Kernel"]


class Kernel(BaseEstimator):
    r"""A function :math:`k(x, z)` of pairs of rows, and its matrices.

    To add a kernel, write its formula: `from_distance` in a subclass of `DistanceKernel`, `from_dot` in a subclass of
    `DotKernel`, or ``evaluate(X, Z)``, which returns the matrix of shape (len(X), len(Z)), in a subclass of this class.
    Set ``psd = False`` on one that is not positive semidefinite. Then run `check_kernel` on it. A parameter called
    ``gamma`` may be left to the data, see `resolve`.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenpath.kernels import Kernel, check_kernel
    >>> class Minimum(Kernel):
    ...     def evaluate(self, X, Z):
    ...         return np.minimum(X[:, None], Z).sum(axis=2)
    >>> X = np.array([[1.0, 2.0], [3.0, 1.0], [4.0, 0.0]])
    >>> Minimum()(X)
    array([[3., 2., 1.],
           [2., 4., 3.],
           [1., 3., 4.]])
    >>> check_kernel(Minimum(), X)
    """

    # The parameters that must be numbers, and their ranges.
    _numbers: tuple[Number, ...] = ()
    # What gamma=None stands for; None: one over the number of features.
    _gamma_default: float | None = None

    @property
    def psd(self) -> bool:
        """Whether every matrix k(X, X) is positive semidefinite."""
        return True

    @property
    def bound(self) -> float:
        """The supremum of k(x, x), ``numpy.inf`` if there is none."""
        return np.inf

    @property
    def metric(self) -> str | None:
        """The distance of which the kernel is a function, if it is one: see `distance_matrix`."""
        return None

    @property
    def pairwise(self) -> bool:
        """Whether X is itself a matrix of kernel values."""
        return False

    def __call__(self, X: Any, Z: Any = None, out: np.ndarray | None = None) -> np.ndarray:
        """Return the matrix of k(x_i, z_j).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        Z : {array-like, sparse matrix} of shape (m, d), optional
            X by default; the matrix is then exactly symmetric, and its diagonal is that of `diag`.
        out : ndarray of shape (n, m), optional
            Where to write the matrix.

        Returns
        -------
        K : ndarray of shape (n, m)
            float32 if X and Z are, else float64.
        """
        X, Z = self._inputs(X, Z)
        out = output(out, (X.shape[0], (X if Z is None else Z).shape[0]), common_dtype(X, Z))
        return fill_matrix(self._filler(X, Z), out, symmetric=Z is None, size=self._tile, threaded=self._threaded)

    def filler(self, X: Any, Z: Any = None) -> Fill:
        """Return a function ``fill(rows, cols, out)`` that writes k(X[rows], Z[cols]) to ``out``.

        For going through the matrix in tiles, as often as needed, without storing it: what can be computed once is
        computed here.

        Parameters
        ----------
        X, Z
            As in a call.

        Returns
        -------
        fill : callable
            Takes two slices with a start and a stop, and an array of the tile's shape and the matrix's dtype.
            Threads may call it at once, each with an array of its own.
        """
        return self._filler(*self._inputs(X, Z))

    def _filler(self, X: Any, Z: Any) -> Fill:
        kernel = self._resolved_on(X, Z)
        write = kernel._prepare(X, Z)
        if Z is not None:
            return write
        diagonal = kernel.diag(X)

        def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
            write(rows, cols, out)
            set_diagonal(out, rows, cols, diagonal)

        return fill

    @property
    def _threaded(self) -> bool:
        """Whether several threads may compute tiles at once."""
        return True

    @property
    def _tile(self) -> int:
        """The side of the tiles."""
        return TILE

    def _prepare(self, X: Any, Z: Any) -> Fill:
        """Return the function that fills tiles; Z None means X. The diagonal is taken care of by `filler`."""
        other = X if Z is None else Z

        def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
            out[...] = self._checked(self.evaluate(X[rows], other[cols]), out.shape)
            if Z is None and rows == cols:
                self._check_symmetric(out)

        return fill

    def evaluate(self, X: Any, Z: Any) -> np.ndarray:
        """Return the matrix k(X, Z): the formula, for kernels that are functions neither of a distance nor of x . z."""
        raise NotImplementedError(f"{self._name} has no formula: define evaluate(X, Z).")

    def from_distance(self, D: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Return the values at distances D (see `metric`), an array of floats; ``out`` may be D itself."""
        if self.metric is None:
            raise NotImplementedError(f"{self!r} is not a function of one distance: its metric is None.")
        raise NotImplementedError(f"{self._name} has no formula: define from_distance(D, out=None).")

    def diag(self, X: Any) -> np.ndarray:
        """Return k(x_i, x_i), shape (n,), without the matrix."""
        X, _ = self._inputs(X)
        kernel = self._resolved_on(X)
        out = np.empty(X.shape[0], X.dtype)
        # A few rows at a time: little is computed beside the diagonal, in not too many calls.
        for start in range(0, len(out), 32):
            rows = X[start : start + 32]
            K = self._checked(kernel.evaluate(rows, rows), (rows.shape[0], rows.shape[0]))
            out[start : start + 32] = np.diagonal(K)
        return out

    def features(self, X: Any) -> Any:
        """Return F, shape (n, D), with k(X, Z) = features(X) features(Z)^T, if D is about that of X, else None."""
        return None

    def resolve(self, X: Any, sample_weight: Any = None, random_state: Any = None) -> Kernel:
        """Return this kernel with a number for every ``gamma`` that is left to the data.

        ===========  ========================================================================================
        None         1 / d, d the number of features (1 for `Chi2`)
        "scale"      1 / (d * X.var())
        "median"     1 / median distance between different rows, in the kernel's metric
        "auto"       chosen by an estimator together with the filter's parameter; an error here
        ===========  ========================================================================================

        "scale" and "median" are 1.0 when all the rows are equal.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        sample_weight : array-like of shape (n,), optional
            Row i counts this many times; a row of weight 0 is absent.
        random_state : int, RandomState instance or None
            Draws the rows for "median" when there are more than 1000. None draws the same rows every time.

        Returns
        -------
        Kernel
            A new kernel.
        """
        self._check_params()
        numbers: dict[str, Any] = {}
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, Kernel):
                numbers[name] = value.resolve(X, sample_weight, random_state)
            elif name == "gamma" and _is_rule(value):
                numbers[name] = resolve_gamma(self, X, sample_weight, random_state)
        return clone(self).set_params(**numbers)

    def _resolved_on(self, X: Any, Z: Any = None) -> Kernel:
        """Return a kernel that can be evaluated: this one, if it has all its numbers."""
        self._check_params()
        rules = self._rules()
        if not rules:
            return self
        if Z is not None and set(rules) != {None}:
            raise ValueError(
                f"{self!r} is not fixed yet: gamma depends on the data, and k(X, Z) does not say which. "
                "Fix it first: kernel = kernel.resolve(X_train)."
            )
        return self.resolve(X)

    def _rules(self) -> list[str | None]:
        """The values of gamma, here and in nested kernels, that are not numbers."""
        params = self.get_params(deep=False).items()
        own = [value for name, value in params if name == "gamma" and _is_rule(value)]
        return own + [rule for _, value in params if isinstance(value, Kernel) for rule in value._rules()]

    def _check_params(self) -> None:
        """Raise for a number out of its range, here and in nested kernels."""
        for value in self.get_params(deep=False).values():
            if isinstance(value, Kernel):
                value._check_params()
        for number in self._numbers:
            if not _is_rule(getattr(self, number.name)) or number.name != "gamma":
                number.check(getattr(self, number.name))

    def _fixed(self, name: str) -> float:
        """A parameter as a Python float, which leaves float32 arrays float32."""
        value = getattr(self, name)
        if name == "gamma" and _is_rule(value):
            raise ValueError(f"{self!r} has no number for gamma yet. Fix it on data: kernel = kernel.resolve(X).")
        return float(value)

    def _inputs(self, X: Any, Z: Any = None) -> tuple[Any, Any]:
        """Return X and Z as the formula needs them, Z with a row for each column of the result, or raise."""
        return as_pair(X, Z, self._name)

    def _checked(self, K: Any, shape: tuple[int, ...]) -> np.ndarray:
        """Make sure that a formula returned a matrix of the right shape."""
        if np.shape(K) != shape:
            raise ValueError(
                f"{self._name} returned shape {np.shape(K)} for {shape[0]} rows of X and {shape[1]} of Z: "
                f"it must return a matrix of shape {shape}."
            )
        return np.asarray(K)

    def _check_symmetric(self, K: np.ndarray) -> None:
        """Raise if a matrix k(X, X) is not symmetric up to rounding."""
        gap, size = np.abs(K - K.T).max(initial=0), np.abs(K).max(initial=0)
        if gap > np.sqrt(np.finfo(K.dtype).eps) * size:
            raise ValueError(
                f"{self._name} is not symmetric: k(x, z) and k(z, x) differ by {gap:.3g}, and values reach {size:.3g}. "
                "A kernel must satisfy k(x, z) = k(z, x)."
            )

    @property
    def _name(self) -> str:
        return type(self).__name__

    def __add__(self, other: Any) -> Kernel:
        from .composite import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        from .composite import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, other) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__


def _is_rule(gamma: Any) -> bool:
    return gamma is None or isinstance(gamma, str)
