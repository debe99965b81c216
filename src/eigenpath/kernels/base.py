"""What every kernel is: a formula, evaluated by tiles, with parameters that scikit-learn can read and set."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from ._inputs import as_pair, common_dtype, n_rows, output
from ._tiles import TILE, Fill, fill_matrix, set_diagonal
from .bandwidth import resolve_gamma

__all__ = ["Kernel"]


class Kernel(BaseEstimator):
    r"""A function :math:`k(x, z)` on pairs of rows, and its matrices.

    To add a kernel, write its formula: `from_distance` in a subclass of `DistanceKernel`, `from_dot` in a subclass
    of `DotKernel`, or ``evaluate(X, Z)``, which returns the matrix of shape (len(X), len(Z)), in a subclass of this class.
    Then run `check_kernel` on it.

    Attributes
    ----------
    psd : bool
        Whether every matrix k(X, X) is positive semidefinite.
    bound : float
        The supremum of k(x, x), ``numpy.inf`` if there is none.
    metric : {"sqeuclidean", "cityblock", "chi2", None}
        The distance of which the kernel is a function, if it is one: see `distance_matrix`.
    pairwise : bool
        Whether X is itself a matrix of kernel values.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenpath.kernels import Kernel
    >>> class Minimum(Kernel):
    ...     def evaluate(self, X, Z):
    ...         return np.minimum(X[:, None], Z).sum(axis=2)
    >>> Minimum()(np.array([[1.0, 2.0], [3.0, 1.0]]))
    array([[3., 2.],
           [2., 4.]])
    """

    psd: bool = True
    bound: float = np.inf
    metric: str | None = None
    pairwise: bool = False

    # Whether tiles may be computed by several threads at once, and how large they should be.
    _threaded: bool = True
    _tile: int = TILE
    # What gamma=None stands for; None: one over the number of features.
    _gamma_default: float | None = None

    def __call__(self, X: Any, Z: Any = None, out: np.ndarray | None = None) -> np.ndarray:
        """Return the matrix of k(x_i, z_j).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        Z : {array-like, sparse matrix} of shape (m, d), optional
            X by default; the matrix is then exactly symmetric, and its diagonal is `diag`.
        out : ndarray of shape (n, m), optional
            Where to write the matrix.

        Returns
        -------
        K : ndarray of shape (n, m)
            float32 if X and Z are, else float64.
        """
        X, Z = as_pair(X, Z, self._name)
        out = output(out, n_rows(X, Z), common_dtype(X, Z))
        fill = self.filler(X, Z)
        return fill_matrix(fill, out, symmetric=Z is None, size=self._tile, n_threads=None if self._threaded else 1)

    def filler(self, X: Any, Z: Any = None) -> Fill:
        """Return the function ``fill(rows, cols, out)`` that writes k(X[rows], Z[cols]) to ``out``.

        ``rows`` and ``cols`` are slices with a start and a stop. What can be computed once is computed here, so that the matrix can be gone through in
        tiles, more than once, without ever being stored. Several threads may call the function at once.
        """
        X, Z = as_pair(X, Z, self._name)
        kernel = self._resolved_on(X, Z)
        write = kernel._prepare(X, Z)
        if Z is not None:
            return write
        diagonal = kernel.diag(X)

        def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
            write(rows, cols, out)
            set_diagonal(out, rows, cols, diagonal)

        return fill

    def _prepare(self, X: Any, Z: Any) -> Fill:
        """Return the function that fills tiles; Z None means X. The diagonal is taken care of by `filler`."""
        other = X if Z is None else Z

        def fill(rows: slice, cols: slice, out: np.ndarray) -> None:
            out[...] = self._checked(self.evaluate(X[rows], other[cols]), out.shape)

        return fill

    def evaluate(self, X: Any, Z: Any) -> np.ndarray:
        """Return the matrix k(X, Z): the formula, for kernels that are neither a distance's nor a dot product's."""
        raise NotImplementedError(f"{self._name} has no formula: define evaluate(X, Z).")

    def diag(self, X: Any) -> np.ndarray:
        """Return k(x_i, x_i), shape (n,), without the matrix."""
        X, _ = as_pair(X, None, self._name)
        kernel = self._resolved_on(X)
        # Blocks of a few rows: the matrix of each is small, and there are not too many calls.
        rows = [slice(i, i + 32) for i in range(0, X.shape[0], 32)]
        values = [np.diagonal(self._checked(kernel.evaluate(X[r], X[r]), (X[r].shape[0],) * 2)) for r in rows]
        return np.concatenate([np.empty(0), *values]).astype(X.dtype)

    def features(self, X: Any) -> Any:
        """Return Z with k(X, X) = Z Z^T, shape (n, D), if the kernel has features of about the size of X, else None."""
        return None

    def resolve(self, X: Any, sample_weight: Any = None, random_state: Any = None) -> Kernel:
        """Return this kernel with numbers in place of what depends on the data: ``gamma`` None, "scale" or "median".

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n, d)
        sample_weight : array-like of shape (n,), optional
            Row i counts this many times; a row of weight 0 is absent.
        random_state : int, RandomState instance or None
            Draws the rows for "median" when there are many. None draws the same rows every time.

        Returns
        -------
        Kernel
            A new kernel.
        """
        numbers: dict[str, Any] = {}
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, Kernel):
                numbers[name] = value.resolve(X, sample_weight, random_state)
            elif name == "gamma":
                numbers[name] = resolve_gamma(self, X, sample_weight, random_state)
        return clone(self).set_params(**numbers)

    @property
    def _needs_data(self) -> bool:
        """Whether a parameter is a rule on the data."""
        values = self.get_params(deep=False)
        return isinstance(values.get("gamma"), str) or any(
            v._needs_data for v in values.values() if isinstance(v, Kernel)
        )

    def _resolved_on(self, X: Any, Z: Any = None) -> Kernel:
        if self._needs_data and Z is not None:
            raise ValueError(
                f"{self!r} depends on the data it is fitted to, so k(X, Z) is not defined yet. "
                "Fix its parameters first: kernel = kernel.resolve(X_train)."
            )
        return self.resolve(X)

    def _checked(self, K: Any, shape: tuple[int, ...]) -> np.ndarray:
        """Make sure that a formula returned a matrix of the right shape."""
        K = np.asarray(K)
        if K.shape != shape:
            raise ValueError(
                f"{self._name} returned an array of shape {K.shape} for {shape[0]} and {shape[1]} rows; it must return {shape}."
            )
        return K

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
