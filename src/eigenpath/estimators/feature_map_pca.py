"""PCA in the space of given features, with reconstruction in the original space where the features can be inverted."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from ._summary import percent, summary_text
from .pca import FLOATS, PCA

__all__ = ["FeatureMapPCA"]


def _learned(name: str) -> property:
    """An attribute of the PCA inside; missing until fit, like any learned attribute."""
    return property(lambda self: getattr(self.pca_, name), doc=f"``{name}`` of `PCA`, in feature space.")


class FeatureMapPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Principal component analysis after a feature map.

    .. math:: z_n = \Phi(x_n), \qquad Z - 1 \bar z^\top = U \Gamma V^\top, \qquad
        x \mapsto V_k^\top (\Phi(x) - \bar z)

    Data on a curve or surface are not near any plane of X, but may be near one of the feature space. A regressor or
    classifier that follows in a pipeline learns on the k coordinates. Any :math:`\Phi` that can be computed will do;
    for those given by a kernel see ``KernelPCA``.

    Parameters
    ----------
    feature_map : callable, default=None
        :math:`\Phi`: takes the (n_samples, n_features) array of all rows at once, and returns an array of shape
        (n_samples, n_mapped). None is the identity, and then this is `PCA`.
    inverse_map : callable, default=None
        :math:`\Phi^{-1}`: takes an (n_samples, n_mapped) array to one of shape (n_samples, n_features). It will be
        given points *near* the image of :math:`\Phi`, so it should make sense there. Without it, `inverse_transform`
        cannot work, and `reconstruct_features` shows what is reconstructed.
    n_components : int, float, "10%" or None, default=None
        As in `PCA`, in feature space.
    whiten, scale, svd_solver, random_state
        As in `PCA`; ``scale`` divides the mapped columns, of which a feature map often makes some that are much larger
        than others.

    Attributes
    ----------
    pca_ : PCA
        Fitted to the mapped rows.
    components_, explained_variance_, explained_variance_ratio_, singular_values_, mean_, reconstruction_error_, \
reconstruction_error_ratio_, n_components_
        Those of ``pca_``: means and directions are points of feature space.
    n_features_in_ : int
        Columns of X.

    Examples
    --------
    A spiral is a line in polar coordinates.

    >>> import numpy as np
    >>> from eigenpath.estimators.feature_map_pca import FeatureMapPCA
    >>> def polar(X):
    ...     return np.column_stack([np.hypot(*X.T), np.arctan2(*X.T[::-1]) % (2 * np.pi)])
    >>> def cartesian(Z):
    ...     return np.column_stack([Z[:, 0] * np.cos(Z[:, 1]), Z[:, 0] * np.sin(Z[:, 1])])
    >>> angle = np.linspace(0.1, 6, 50)
    >>> X = cartesian(np.column_stack([angle, angle]))
    >>> model = FeatureMapPCA(polar, cartesian, n_components=1).fit(X)
    >>> bool(np.allclose(model.inverse_transform(model.transform(X)), X))
    True
    """

    def __init__(
        self,
        feature_map=None,
        inverse_map=None,
        n_components=None,
        *,
        whiten=False,
        scale=False,
        svd_solver="auto",
        random_state=None,
    ):
        self.feature_map = feature_map
        self.inverse_map = inverse_map
        self.n_components = n_components
        self.whiten = whiten
        self.scale = scale
        self.svd_solver = svd_solver
        self.random_state = random_state

    components_ = _learned("components_")
    explained_variance_ = _learned("explained_variance_")
    explained_variance_ratio_ = _learned("explained_variance_ratio_")
    singular_values_ = _learned("singular_values_")
    mean_ = _learned("mean_")
    reconstruction_error_ = _learned("reconstruction_error_")
    reconstruction_error_ratio_ = _learned("reconstruction_error_ratio_")
    n_components_ = _learned("n_components_")

    def fit(self, X, y=None, sample_weight=None):
        """Map the rows of X and find the components of the result.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts; not negative.

        Returns
        -------
        self : FeatureMapPCA
        """
        X = validate_data(self, X, dtype=FLOATS, ensure_min_samples=2)
        options = {key: getattr(self, key) for key in PCA().get_params()}
        self.pca_ = PCA(**options).fit(self._mapped(X), sample_weight=sample_weight)
        return self

    def transform(self, X):
        """Coordinates of the mapped rows along the components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components_)
        """
        return self.pca_.transform(self._features(X))

    def inverse_transform(self, X):
        """The points of the original space whose mapped reconstructions have given coordinates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            As `transform` gives them.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)

        Raises
        ------
        ValueError
            If there is a ``feature_map`` without an ``inverse_map``.
        """
        check_is_fitted(self)
        if self.feature_map is not None and self.inverse_map is None:
            raise ValueError(
                "inverse_transform needs inverse_map, but inverse_map=None. The reconstruction is a point of feature "
                "space, and without an inverse no x is known that feature_map takes to it; there may be none. Pass "
                "inverse_map if feature_map has an inverse, or look at reconstruct_features(X)."
            )
        features = self.pca_.inverse_transform(X)
        if self.inverse_map is None:
            return features
        return _checked(self.inverse_map, "inverse_map", features, self.n_features_in_)

    def reconstruct_features(self, X):
        r"""What the components keep of the mapped rows, :math:`\bar z + V_k V_k^\top (\Phi(x) - \bar z)`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        features : ndarray of shape (n_samples, n_mapped)
            A point of feature space for each row, which need not be the image of any x.
        """
        return self.pca_.inverse_transform(self.transform(X))

    def reconstruction_error(self, X, sample_weight=None):
        """Squared error in feature space of reconstructing new rows from 0, 1, ... components.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        errors : ndarray of shape (n_components_ + 1,)
        """
        return self.pca_.reconstruction_error(self._features(X), sample_weight)

    def summary(self):
        """What was fitted, in words and numbers.

        Returns
        -------
        text : str
        """
        check_is_fitted(self)
        facts = [
            ("feature map", _name(self.feature_map)),
            ("inverse", _name(self.inverse_map) if self.feature_map is not None else "identity"),
            ("columns of X", self.n_features_in_),
            ("features", len(self.mean_)),
            ("error in feature space", percent(self.reconstruction_error_ratio_[-1])),
        ]
        return f"{summary_text('PCA after a feature map', facts)}\n\n{self.pca_.summary()}"

    @property
    def _n_features_out(self):
        return self.n_components_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _features(self, X):
        check_is_fitted(self)
        return self._mapped(validate_data(self, X, dtype=FLOATS, reset=False))

    def _mapped(self, X):
        return X if self.feature_map is None else _checked(self.feature_map, "feature_map", X)


def _checked(function, name: str, X: np.ndarray, columns: int | None = None) -> np.ndarray:
    """``function(X)``, which must keep the rows and give finite numbers, and so many columns if said."""
    result = function(X)
    shape = np.shape(result)
    if len(shape) != 2 or shape[0] != len(X) or columns not in (None, shape[1]):
        raise ValueError(
            f"{name} must return an array of shape ({len(X)}, {'any' if columns is None else columns}) for {len(X)} "
            f"rows, but it returned one of shape {shape}. It is called once, with all rows."
        )
    return check_array(result, dtype=FLOATS, input_name=f"the output of {name}")


def _name(function) -> str:
    if function is None:
        return "none"
    return getattr(function, "__name__", repr(function))
