"""The normal density of probabilistic PCA."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.utils.validation import check_is_fitted

__all__ = ["NormalDensityMixin"]


class NormalDensityMixin:
    r"""Methods of the normal law whose covariance keeps the components and spreads the rest evenly.

    .. math:: C = V (\Lambda - \sigma^2 I) V^\top + \sigma^2 I, \qquad
        \log p(x) = -\tfrac12 \Bigl( d \log 2\pi + \log\det C + \sum_{j \le k} \frac{z_j^2}{\lambda_j}
        + \frac{\|x - \hat x\|^2}{\sigma^2} \Bigr)

    The class it is mixed into has ``components_``, ``explained_variance_``, ``noise_variance_``, ``scale_`` and
    ``_split(X)``, the coordinates of the rows and the squared lengths of what they leave.
    """

    components_: np.ndarray
    explained_variance_: np.ndarray
    scale_: np.ndarray | None
    noise_variance_: float
    n_components_: int
    n_features_in_: int
    _split: Callable

    def score_samples(self, X):
        """Log-likelihood of each row under probabilistic PCA, a normal law with covariance `get_covariance`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        log_likelihood : ndarray of shape (n_samples,)
        """
        Z, left = self._split(X)
        kept, noise, rest = self._variances()
        log_det = np.log(kept).sum() + (rest * np.log(noise) if rest else 0.0)
        if self.scale_ is not None:
            log_det += 2 * np.log(self.scale_.astype(np.float64)).sum()
        distance = (Z**2 / kept).sum(axis=1) + (left / noise if rest else 0.0)
        return -0.5 * (self.n_features_in_ * np.log(2 * np.pi) + log_det + distance)

    def score(self, X, y=None):
        """Mean of `score_samples`; y is ignored."""
        return float(self.score_samples(X).mean())

    def get_covariance(self):
        """Covariance of the data in the model: the kept directions, and noise of equal variance in all others.

        Returns
        -------
        covariance : ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        covariance = self._spread(self.explained_variance_ - self.noise_variance_, self.noise_variance_)
        return covariance if self.scale_ is None else covariance * np.outer(self.scale_, self.scale_)

    def get_precision(self):
        """Inverse of `get_covariance`.

        Returns
        -------
        precision : ndarray of shape (n_features, n_features)
        """
        check_is_fitted(self)
        kept, noise, rest = self._variances()
        inverse = 1 / noise if rest else 0.0
        precision = self._spread(1 / kept - inverse, inverse).astype(self.components_.dtype)
        return precision if self.scale_ is None else precision / np.outer(self.scale_, self.scale_)

    def _spread(self, kept, rest):
        V = self.components_
        return (V.T * kept) @ V + rest * np.eye(V.shape[1], dtype=V.dtype)

    def _variances(self):
        """Variances of the components, the noise, and the number of directions that have nothing but noise."""
        kept, noise = self.explained_variance_.astype(np.float64), float(self.noise_variance_)
        rest = self.n_features_in_ - self.n_components_
        if (rest and noise <= 0) or kept.min() <= 0:
            raise ValueError(
                "The data lie in a subspace: some directions have no variance, so probabilistic PCA has no density. "
                "Choose n_components so that each has variance and some variance is left over as noise."
            )
        return kept, noise, rest
