"""Principal component analysis by singular values, with the reconstruction error of every number of components."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..spectra.eigen import fix_signs
from ..spectra.rows import centred_rows, column_deviations, column_means
from ..spectra.svd import ROUTES, Axes, principal_axes
from ._density import NormalDensityMixin
from ._summary import Table, percent, summary_text

__all__ = ["PCA"]

TEN_PERCENT = "10%"
FLOATS = [np.float64, np.float32]


class PCA(NormalDensityMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Principal component analysis.

    The centred table is decomposed, :math:`X - 1 \bar x^\top = U \Gamma V^\top`, and the first k columns of V are kept:

    .. math::
        Z = (X - 1 \bar x^\top) V_k, \qquad \hat X = 1 \bar x^\top + Z V_k^\top, \qquad
        \|X - \hat X\|^2 = \sum_{i > k} \gamma_i^2,

    which no other table of rank k (plus a mean) falls below. Parameters, attributes and methods are named as in
    `sklearn.decomposition.PCA`.

    Parameters
    ----------
    n_components : int, float, "10%" or None, default=None
        How many components to keep.

        * None: all that have variance, so at most ``min(n_samples - 1, n_features)``;
        * int: so many, at most ``min(n_samples, n_features)``;
        * float between 0 and 1: the smallest number that explains more than this share of the variance;
        * "10%": the smallest number whose squared reconstruction error is below 10 % of the error of the mean alone.
    whiten : bool, default=False
        Divide each component by its standard deviation, so that the transformed training data have unit covariance.
        Components without variance stay 0. Whitening belongs after PCA: before it, no direction would stand out.
    scale : bool, default=False
        Divide each (centred) column by its standard deviation first, as `sklearn.preprocessing.StandardScaler` does.
        Right when the columns have different, arbitrary units. Components, variances and reconstruction errors are
        then those of the scaled columns; `inverse_transform`, `get_covariance` and `score` are in the units of X.
    svd_solver : {"auto", "full", "covariance_eigh", "gram_eigh", "arpack", "randomized"}, default="auto"
        * "full": QR, then the SVD of the triangle. Every singular value to rounding of the largest. Dense X only.
        * "covariance_eigh": eigenvalues of the d x d covariance, fastest when n_samples is the larger side. Its
          eigenvalues are accurate to rounding *of the largest*, so singular values below about ``1e-7`` of the largest
          (``2e-3`` in float32) are lost, and taken for 0.
        * "gram_eigh": the same with the n x n matrix of inner products, fastest when n_features is the larger side.
        * "arpack": Lanczos, for a few components of a large sparse table. As accurate as the two above.
        * "randomized": scikit-learn's randomized SVD, an approximation, for a few components of a dense table with
          thousands of rows and columns.
        * "auto": "full" where that is cheap; else the faster eigenvalue route, and "full" after all if a component
          was asked for that this route cannot give with at least half of the digits. Sparse tables are never made
          dense: a small integer ``n_components`` of them takes "arpack", anything else an eigenvalue route. "auto"
          never approximates.
    random_state : int, RandomState or None, default=None
        For "arpack" (its start) and "randomized".

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features)
        Directions, orthonormal, by decreasing variance; in each the entry of largest size is positive.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components_,)
        Variance along each direction (over the number of rows less one), and its share of the total.
    singular_values_ : ndarray of shape (n_components_,)
        :math:`\gamma_i`; exactly 0 where only rounding errors are left.
    reconstruction_error_ : ndarray of shape (n_components_ + 1,)
        :math:`\|X - \hat X\|^2` with 0, 1, ... components.
    reconstruction_error_ratio_ : ndarray of shape (n_components_ + 1,)
        The same as a share of its first entry.
    mean_ : ndarray of shape (n_features,)
        Mean of every column.
    scale_ : ndarray of shape (n_features,) or None
        Standard deviation of every column if ``scale``.
    noise_variance_ : float
        Mean variance of the directions left out, the noise of probabilistic PCA.
    n_components_, n_samples_, n_features_in_ : int
        Components kept, rows (with weights: their sum) and columns seen.
    svd_solver_ : str
        The route taken.

    Notes
    -----
    A weight counts a row so many times: weights of 0, 1 and 2 give what leaving out, keeping and repeating the rows
    gives, in every attribute.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenpath.estimators.pca import PCA
    >>> X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.5], [6.0, 6.5]])
    >>> pca = PCA(n_components=1).fit(X)
    >>> pca.reconstruction_error_.round(3)
    array([38.5  ,  0.235])
    >>> pca.inverse_transform(pca.transform(X)).round(1)
    array([[-0.1,  1.1],
           [ 2. ,  3. ],
           [ 4.3,  5.2],
           [ 5.8,  6.7]])
    """

    def __init__(self, n_components=None, *, whiten=False, scale=False, svd_solver="auto", random_state=None):
        self.n_components = n_components
        self.whiten = whiten
        self.scale = scale
        self.svd_solver = svd_solver
        self.random_state = random_state

    def fit(self, X, y=None, sample_weight=None):
        """Find the components of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts; not negative.

        Returns
        -------
        self : PCA
        """
        X = validate_data(self, X, dtype=FLOATS, accept_sparse=("csr", "csc"), ensure_min_samples=2)
        X, weights, total_weight = _weighted(X, sample_weight)
        self._check_parameters(X.shape)
        mean = column_means(X, weights)
        self.mean_ = mean.astype(X.dtype)
        self.scale_ = column_deviations(X, mean, weights).astype(X.dtype) if self.scale else None
        self.n_samples_ = X.shape[0] if weights is None else total_weight
        self._store(*self._decompose(centred_rows(X, self.mean_, self.scale_, weights)))
        return self

    def transform(self, X):
        """Coordinates of the rows of X along the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
        """
        Z = self._rows(X).project(self.components_)
        return Z * self._whitening() if self.whiten else Z

    def inverse_transform(self, X):
        """The points of the original space that have given coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            As `transform` gives them.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
        """
        check_is_fitted(self)
        Z = check_array(X, dtype=FLOATS)
        if Z.shape[1] != self.n_components_:
            raise ValueError(
                f"X has {Z.shape[1]} columns, but inverse_transform needs one for each of the {self.n_components_} "
                "components, as transform returns them."
            )
        if self.whiten:
            Z = Z * np.sqrt(self.explained_variance_)
        X_original = Z @ self.components_
        if self.scale_ is not None:
            X_original *= self.scale_
        X_original += self.mean_
        return X_original

    def reconstruction_error(self, X, sample_weight=None):
        r"""Squared error of reconstructing new rows from 0, 1, ... components, :math:`\sum_n w_n \|x_n - \hat x_n\|^2`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        errors : ndarray of shape (n_components_ + 1,)
            For the training data, `reconstruction_error_`.
        """
        Z, left = self._split(X)
        weights = np.ones(len(Z)) if sample_weight is None else _check_sample_weight(sample_weight, Z, dtype=np.float64)
        return _tail_sums(weights @ Z**2, weights @ left)

    def summary(self):
        """What was fitted, in words and numbers.

        Returns
        -------
        text : str
        """
        check_is_fitted(self)
        error = self.reconstruction_error_ratio_
        facts = [
            ("components", f"{self.n_components_} of {self.n_features_in_} dimensions"),
            ("chosen by", _rule_in_words(self.n_components)),
            ("rows", self.n_samples_),
            ("variance explained", percent(1 - error[-1])),
            ("reconstruction error", f"{percent(error[-1])} of the error of the mean alone"),
            ("columns", "centred and scaled" if self.scale else "centred"),
            ("whitened", bool(self.whiten)),
            ("route", self.svd_solver_),
        ]
        rows = [
            (k, percent(self.explained_variance_ratio_[k - 1]), percent(error[k])) for k in _some(self.n_components_)
        ]
        table = Table(["component", "variance", "error left"], rows)
        return summary_text("Principal component analysis", facts, table, _ten_percent_in_words(error))

    @property
    def _n_features_out(self):
        return self.n_components_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self, shape):
        _check_count(self.n_components, min(shape))
        if self.svd_solver not in ("auto", *ROUTES):
            raise ValueError(f"svd_solver={self.svd_solver!r} is not one of {['auto', *ROUTES]}.")

    def _decompose(self, rows) -> tuple[Axes, int]:
        wanted = int(self.n_components) if isinstance(self.n_components, Integral) else None
        axes = principal_axes(rows, wanted, self.svd_solver, self.random_state)
        k = _count(self.n_components, axes, rows.shape)
        if self.svd_solver == "auto" and axes.values[k - 1] < axes.trusted:
            axes = principal_axes(rows, wanted, "full")
            k = _count(self.n_components, axes, rows.shape)
        if self.n_components is None:
            k = max(1, int((axes.values[:k] > axes.rounding).sum()))
        return axes, k

    def _store(self, axes: Axes, k: int) -> None:
        dtype, degrees = self.mean_.dtype, self.n_samples_ - 1
        values = np.where(axes.values[:k] > axes.rounding, axes.values[:k], 0)
        squares, left = values**2, axes.left(k)
        errors = _tail_sums(squares, left)
        self.svd_solver_ = axes.route
        self.n_components_ = k
        self.components_ = np.ascontiguousarray(fix_signs(np.array(axes.vectors(k), dtype)).T)
        self.singular_values_ = values.astype(dtype)
        self.explained_variance_ = (squares / degrees).astype(dtype)
        self.explained_variance_ratio_ = _share(squares, errors[0]).astype(dtype)
        self.reconstruction_error_ = errors.astype(dtype)
        self.reconstruction_error_ratio_ = _share(errors, errors[0]).astype(dtype)
        missing = min(self.n_features_in_, self.n_samples_) - k
        self.noise_variance_ = dtype.type(left / degrees / missing if missing > 0 else 0)

    def _rows(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, dtype=FLOATS, accept_sparse=("csr", "csc"), reset=False)
        return centred_rows(X, self.mean_, self.scale_)

    def _split(self, X):
        """Coordinates of each row, and the squared length of what they leave, in float64."""
        rows = self._rows(X)
        Z, left = np.empty((rows.shape[0], self.n_components_)), np.empty(rows.shape[0])
        for part, tile in rows.tiles():
            Z[part] = tile @ self.components_.T
            rest = tile - Z[part] @ self.components_
            left[part] = np.einsum("ij,ij->i", rest, rest)
        return Z, left

    def _whitening(self):
        deviation = np.sqrt(self.explained_variance_)
        return np.divide(1, deviation, out=np.zeros_like(deviation), where=deviation > 0)


def _weighted(X, sample_weight):
    """X and weights without rows of weight zero, and the sum of the weights."""
    if sample_weight is None:
        return X, None, None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    total = float(weights.sum())
    if total <= 1 + 1e-9:
        raise ValueError(
            f"sample_weight sums to {total:.6g}, but a weight counts a row so many times, and a variance needs more "
            "than one row. Multiply sample_weight by the number of rows."
        )
    kept = weights > 0
    return (X, weights, total) if kept.all() else (X[kept], weights[kept], total)


def _check_count(n_components, most: int) -> None:
    if n_components is None or (isinstance(n_components, str) and n_components == TEN_PERCENT):
        return
    number = isinstance(n_components, Real) and not isinstance(n_components, bool)
    whole = isinstance(n_components, Integral)
    if not number or not (1 <= n_components <= most if whole else 0 < n_components < 1):
        raise ValueError(
            f"n_components={n_components!r} is not allowed: pass an integer between 1 and min(n_samples, n_features) = "
            f"{most}, a share of the variance between 0 and 1, {TEN_PERCENT!r} or None."
        )


def _count(n_components, axes: Axes, shape) -> int:
    if n_components is None:
        return min(shape[0] - 1, shape[1])
    if isinstance(n_components, Integral):
        return int(n_components)
    if axes.total == 0:
        return 1
    share = 0.9 if n_components == TEN_PERCENT else n_components
    explained = np.cumsum(axes.values**2) / axes.total
    return min(int(np.searchsorted(explained, share, side="right")) + 1, len(explained))


def _tail_sums(parts, left) -> np.ndarray:
    """``left`` plus the parts from k on, for k = 0, 1, ..., len(parts)."""
    return np.append(left, parts[::-1]).cumsum()[::-1]


def _share(parts, whole) -> np.ndarray:
    return np.asarray(parts) / whole if whole > 0 else np.zeros_like(parts)


def _some(k: int) -> list[int]:
    """Up to a dozen of 1, ..., k, dense at first."""
    return sorted({*range(1, min(k, 5) + 1), *np.geomspace(1, k, 8).round().astype(int).tolist()})


def _rule_in_words(n_components) -> str:
    if n_components is None:
        return "all with variance"
    if isinstance(n_components, str):
        return "10 % rule"
    return "hand" if isinstance(n_components, Integral) else f"more than {percent(n_components)} of the variance"


def _ten_percent_in_words(error) -> str:
    below = np.flatnonzero(error < 0.1)
    if len(below) == 0:
        return "The 10 % rule asks for more components than were kept."
    return f"The 10 % rule asks for {below[0]} component{'' if below[0] == 1 else 's'}."
