"""Kernel principal component analysis with scikit-learn's interface, and more."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..gram.cross import Cross, FactorCross, KernelCross
from ..kernels import Kernel, Precomputed
from ._callable import callable_kernel, kernel_of
from ._kpca_checks import check_data, check_parameters, diagonal_of, weights_of
from ._kpca_plan import plan_components
from ._kpca_routes import Components, Problem, find_components, require_preimages
from ._kpca_space import FeatureSpan, clean_values, left_over, signs
from ._plan import parse_bytes
from ._preimage import learn_preimages, preimages
from ._summary import Table, percent, summary_text

__all__ = ["KernelPCA"]

FLOATS = [np.float64, np.float32]


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Principal component analysis in the feature space of a kernel, as scikit-learn's class of that name and more.

    With :math:`\tilde K = H K H` the centred Gram matrix and :math:`\tilde K q_j = \sigma_j q_j`,

    .. math::
        \tilde X = Q_k \Sigma_k^{1/2}, \qquad \tilde x = \Sigma_k^{-1/2} Q_k^\top \tilde k(x), \qquad
        \| \Phi - \Phi_k \|^2 = \sum_{j > k} \sigma_j .

    Parameters
    ----------
    n_components : int, float or None, default=None
        How many components to keep: so many; the smallest number with this share of the variance (a float between 0
        and 1); or None, all that have variance.
    kernel : str, Kernel or callable, default="linear"
        A name, a `Kernel`, ``"precomputed"``, or a function of two rows as in scikit-learn. (Vectorized functions go in
        as ``kernels.CallableKernel``.)
    gamma, degree, coef0, kernel_params
        As in scikit-learn; ``gamma`` also takes ``"scale"`` and ``"median"``, and ``kernel_params`` may hold further
        parameters of a kernel given by name.
    alpha : float, default=1.0
        The penalty of the ridge regression that learns pre-images.
    fit_inverse_transform : bool, default=False
        Whether to learn it.
    eigen_solver : {"auto", "krylov", "dense", "arpack", "randomized"}, default="auto"
        * "krylov": block Lanczos, each component with a bound on its residual, in half the memory of a Gram matrix;
        * "dense": LAPACK;
        * "arpack", "randomized": as in scikit-learn; the last is an approximation;
        * "auto": the singular values of the features where those are few (linear kernel), else "dense" where that is
          faster, else "krylov" - and "dense" after all if that did not converge and there is memory for it.
    tol : float, default=0
        For "krylov", the largest residual as a share of the eigenvalue; 0 means 1e-8. Also for "arpack".
    max_iter : int, default=None
        For "krylov", the most products of the Gram matrix with a block of vectors. Also for "arpack".
    iterated_power : int or "auto", default="auto"
        Power iterations of "randomized".
    remove_zero_eig : bool, default=False
        Whether to drop components without variance even if ``n_components`` is given.
    random_state : int, RandomState or None, default=None
        Draws the first vectors of all solvers but "dense".
    copy_X : bool, default=True
        Whether to keep a copy of X and not X itself. If not, a precomputed matrix may be overwritten.
    n_jobs : int, default=None
        Accepted for compatibility: kernels use as many threads as BLAS may.
    preimage : {"ridge", "fixed_point"}, default="ridge"
        How `inverse_transform` works: by a ridge regression of X on its components, or, for the RBF and linear kernels,
        by the fixed point of the equation for the nearest image, which needs no training.
    memory_limit : int or str, default=None
        Bytes the fit may take, or text like ``"8GB"`` (None: what is free). What does not fit of the Gram matrix is
        recomputed when needed.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Of the centred Gram matrix, decreasing.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Orthonormal; the sign is such that the coordinate of largest size is positive.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Shares of the total variance, which is the trace of the centred Gram matrix and known without its spectrum.
    reconstruction_error_ : ndarray of shape (n_components + 1,)
        Sum over rows of the squared distance in feature space to the first 0, 1, ... components.
    residuals_ : ndarray of shape (n_components,) or None
        Bounds on the residual of each pair ("krylov", "dense"); an exact eigenvalue lies that near.
    eigen_solver_ : str
        The route taken.
    X_fit_, gamma_, dual_coef_, X_transformed_fit_, n_features_in_, feature_names_in_
        As in scikit-learn.
    kernel_ : Kernel
        With all its numbers.

    Notes
    -----
    A weight counts a row so many times; ``eigenvectors_`` are then those of the matrix whose rows and columns are
    multiplied by the roots of the weights.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenpath.estimators.kernel_pca import KernelPCA
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = KernelPCA(n_components=0.8, kernel="rbf", gamma=0.1).fit(X)
    >>> model.eigenvalues_.shape, float(model.explained_variance_ratio_.sum().round(2))
    ((5,), 0.82)
    >>> model.transform(X[:2]).shape
    (2, 5)
    """

    def __init__(
        self,
        n_components=None,
        *,
        kernel="linear",
        gamma=None,
        degree=3,
        coef0=1,
        kernel_params=None,
        alpha=1.0,
        fit_inverse_transform=False,
        eigen_solver="auto",
        tol=0,
        max_iter=None,
        iterated_power="auto",
        remove_zero_eig=False,
        random_state=None,
        copy_X=True,
        n_jobs=None,
        preimage="ridge",
        memory_limit=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs
        self.preimage = preimage
        self.memory_limit = memory_limit

    def fit(self, X, y=None, sample_weight=None):
        """Find the components of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Or the kernel matrix (n_samples, n_samples), if ``kernel="precomputed"``.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts; not negative.

        Returns
        -------
        self : KernelPCA
        """
        pairwise = self._pairwise
        check_parameters(self, pairwise)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, copy=self.copy_X and not pairwise)
        check_data(self, X, pairwise)
        X = X.toarray() if pairwise and issparse(X) else X
        weight = weights_of(sample_weight, X)
        kernel = self._kernel().resolve(X, weight, self.random_state)
        # A fit that is interrupted leaves the estimator unfitted.
        self._complete = False
        problem = self._problem(kernel, X, weight)
        if self.fit_inverse_transform and self.preimage == "ridge":
            require_preimages(problem)
        self.gamma_ = getattr(kernel, "gamma", 1 / X.shape[1] if self.gamma is None else self.gamma)
        self.kernel_, self.X_fit_ = kernel, X
        self._root = None if weight is None else np.sqrt(weight)
        self._store(find_components(problem, self.eigen_solver), X.dtype)
        if self.fit_inverse_transform and self.preimage == "ridge":
            self.X_transformed_fit_ = self._span.training()
            self.dual_coef_ = learn_preimages(kernel, self.X_transformed_fit_, X, float(self.alpha), weight)
        self._complete = True
        return self

    def fit_transform(self, X, y=None, **params):
        """Find the components of X and return the coordinates of its rows.

        Parameters
        ----------
        X, y
            As in `fit`.
        **params
            Passed to `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        self.fit(X, y, **params)
        if self._root is not None and not self._root.all():
            return self.transform(X)
        return self._span.training()

    def transform(self, X):
        """Coordinates of new rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, n_features)
            Or kernel values (m, n_samples) between new rows and the training rows, if ``kernel="precomputed"``.

        Returns
        -------
        ndarray of shape (m, n_components)
        """
        X = self._new_rows(X)
        return self._span.coordinates(self._cross(X)).astype(X.dtype, copy=False)

    def inverse_transform(self, X):
        r"""Rows of the input space for given coordinates.

        By ridge regression on the coordinates (learned by `fit` with ``fit_inverse_transform=True``), or, with
        ``preimage="fixed_point"``, the rows whose images are nearest to
        :math:`\bar\Phi + \sum_j \tilde x_j v_j`, searched from the training row with the nearest coordinates.

        Parameters
        ----------
        X : array-like of shape (m, n_components)

        Returns
        -------
        ndarray of shape (m, n_features)
        """
        check_is_fitted(self)
        if self.preimage == "fixed_point":
            return preimages(self.kernel_, self.X_fit_, self._span, check_array(X, dtype=FLOATS))
        if not self.fit_inverse_transform:
            raise NotFittedError(
                "inverse_transform has nothing learned to go by: set fit_inverse_transform=True before fit, or, for an "
                "RBF or linear kernel, preimage='fixed_point'."
            )
        T = check_array(X, accept_sparse="csr", dtype=FLOATS)
        rows = KernelCross(self.kernel_, T, self.X_transformed_fit_) @ self.dual_coef_
        return rows.astype(T.dtype, copy=False)

    def reconstruction_error(self, X, sample_weight=None, diagonal=None):
        r"""Squared distance in feature space of new rows to the first 0, 1, ... components, summed over rows.

        .. math:: \sum_n w_n \Bigl( \tilde k(x_n, x_n) - \sum_{j \le k} \tilde x_{nj}^2 \Bigr)

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (m, n_features)
        sample_weight : array-like of shape (m,), optional
        diagonal : array-like of shape (m,), optional
            The kernel of each new row with itself, which a precomputed kernel cannot know.

        Returns
        -------
        errors : ndarray of shape (n_components + 1,)
            For the training data, `reconstruction_error_`.
        """
        T, lengths = self._coordinates_and_lengths(X, diagonal)
        weight = np.ones(len(T)) if sample_weight is None else _check_sample_weight(sample_weight, T, dtype=np.float64)
        return left_over(weight @ T**2, weight @ lengths)

    def distances(self, X, diagonal=None):
        """Squared distance in feature space of each new row to the components: large for what training data are not.

        Parameters
        ----------
        X, diagonal
            As in `reconstruction_error`.

        Returns
        -------
        ndarray of shape (m,)
        """
        T, lengths = self._coordinates_and_lengths(X, diagonal)
        return np.maximum(lengths - (T**2).sum(axis=1), 0)

    def plan(self, X, y=None):
        """The route that ``fit`` would take, its memory, operations and time, without fitting.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        Plan
            Print it.
        """
        check_parameters(self, self._pairwise)
        X = check_array(X, accept_sparse="csr", dtype=FLOATS)
        kernel = self._kernel().resolve(X, None, self.random_state)
        return plan_components(self._problem(kernel, X, None), self.eigen_solver)

    def summary(self) -> str:
        """What was fitted, in words and numbers."""
        check_is_fitted(self)
        k, share = len(self.eigenvalues_), self.explained_variance_ratio_
        facts = [
            ("kernel", str(self.kernel_)),
            ("components", k),
            ("variance explained", percent(share.sum())),
            ("rows", self.eigenvectors_.shape[0]),
            ("route", self.eigen_solver_),
            ("largest residual", None if self.residuals_ is None or not k else float(self.residuals_.max())),
        ]
        shown = [j for j in range(k) if j < 5 or j + 1 in (10, 20, 50, 100, 200, 500, 1000) or j == k - 1]
        rows = [(j + 1, self.eigenvalues_[j], percent(share[j]), percent(share[: j + 1].sum())) for j in shown]
        return summary_text("Kernel PCA", facts, Table(["component", "eigenvalue", "variance", "in all"], rows))

    @property
    def _n_features_out(self):
        return len(self.eigenvalues_)

    @property
    def _pairwise(self) -> bool:
        return (isinstance(self.kernel, str) and self.kernel == "precomputed") or getattr(
            self.kernel, "pairwise", False
        )

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_complete", False)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._pairwise
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _kernel(self) -> Kernel:
        named = callable_kernel(self.kernel, self.kernel_params)
        return kernel_of(self, self.kernel) if named is None else named

    def _problem(self, kernel: Kernel, X: Any, weight: np.ndarray | None) -> Problem:
        k = self.n_components
        return Problem(
            kernel,
            X,
            weight,
            min(int(k), X.shape[0]) if isinstance(k, Integral) else k,
            self.tol,
            self.max_iter,
            self.iterated_power,
            self.random_state,
            parse_bytes(self.memory_limit) if isinstance(self.memory_limit, str) else self.memory_limit,
            # Rows without weight are projected by their kernel values.
            disposable=not self.copy_X and (weight is None or bool(weight.all())),
        )

    def _store(self, found: Components, dtype: np.dtype) -> None:
        values, vectors = clean_values(found, dtype), found.vectors
        factors = signs(vectors, self._root)
        kept = np.flatnonzero(values) if self.remove_zero_eig or self.n_components is None else slice(None)
        values, self.residuals_ = values[kept], None if found.residuals is None else found.residuals[kept]
        self.eigenvalues_ = values.astype(dtype)
        self.eigenvectors_ = (vectors[:, kept] * factors[kept]).astype(dtype, copy=False)
        self.explained_variance_ratio_ = (values / found.trace if found.trace > 0 else 0 * values).astype(dtype)
        self.reconstruction_error_ = left_over(values, found.trace)
        self.eigen_solver_, self._means = found.route, found.means

    @property
    def _span(self) -> FeatureSpan:
        return FeatureSpan(self.eigenvalues_, self.eigenvectors_, self._root, self._means)

    def _new_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False)
        return X.toarray() if self.kernel_.pairwise and issparse(X) else X

    def _cross(self, X: Any) -> Cross:
        if self.kernel_.pairwise:
            # The kernel may be a multiple of X.
            return FactorCross(X if isinstance(self.kernel_, Precomputed) else self.kernel_(X, self.X_fit_))
        features = self.kernel_.features(X)
        if features is not None:
            return FactorCross(features, self.kernel_.features(self.X_fit_))
        return KernelCross(self.kernel_, X, self.X_fit_, np.result_type(X.dtype, self.X_fit_.dtype))

    def _coordinates_and_lengths(self, X: Any, diagonal: Any) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates (m, k), and the squared distance (m,) of each image to the mean of the training images."""
        X = self._new_rows(X)
        return self._span.with_lengths(self._cross(X), diagonal_of(self.kernel_, X, diagonal))
