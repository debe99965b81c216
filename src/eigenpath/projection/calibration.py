"""Probabilities from decision values, with one number learned on held-out ones."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

__all__ = ["fit_sharpness", "probabilities"]

# Where held-out values say nothing, probabilities are all about equal, but still in the order of the values.
LEAST = 1e-3


def probabilities(scores: np.ndarray, sharpness: float) -> np.ndarray:
    r"""Class probabilities :math:`p_c \propto \exp(a \operatorname{asinh} f_c)`, shape (m, classes).

    For two classes the values are 0 and f. The largest value has the largest probability. The inverse hyperbolic sine
    tames values beyond the margin, whose size means little: it is large wherever the training data are barely
    separable.

    Parameters
    ----------
    scores : ndarray of shape (m, problems)
        One problem for two classes, else one for each class.
    sharpness : float
        The number a.

    Examples
    --------
    >>> import numpy as np
    >>> probabilities(np.array([[0.0], [1.0], [100.0]]), sharpness=2.0).round(2)
    array([[0.5 , 0.5 ],
           [0.15, 0.85],
           [0.  , 1.  ]])
    """
    return softmax(sharpness * _logits(scores), axis=1)


def fit_sharpness(scores: np.ndarray, W: np.ndarray) -> float:
    """Maximize the likelihood of labels at held-out decision values.

    Labels count as ``(N_c + 1) / (N_c + 2)`` of their class c, of total weight N_c, the rest being shared by the other
    classes. So the sharpness stays finite where the classes are separated.

    Parameters
    ----------
    scores : ndarray of shape (m, problems)
    W : ndarray of shape (m, classes)
        The weight of each class at each point.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[-1.0], [1.0]])
    >>> sharpness = fit_sharpness(scores, np.array([[900.0, 100.0], [100.0, 900.0]]))
    >>> probabilities(scores, sharpness).round(2)
    array([[0.9, 0.1],
           [0.1, 0.9]])
    """
    z, wanted = _logits(scores), W @ _softened(W.sum(axis=0))
    weight = W.sum(axis=1)
    gain = float((wanted * z).sum())

    def slope(a: float) -> float:
        """The derivative of the log-likelihood, which is concave."""
        return gain - float(weight @ (softmax(a * z, axis=1) * z).sum(axis=1))

    if slope(LEAST) <= 0:
        return LEAST
    above = 1.0
    while slope(above) > 0 and above < 1e6:
        above *= 2
    return float(brentq(slope, LEAST, above, xtol=1e-12)) if slope(above) <= 0 else above


def _logits(scores: np.ndarray) -> np.ndarray:
    z = np.arcsinh(scores)
    return np.hstack([np.zeros_like(z), z]) if z.shape[1] == 1 else z


def _softened(totals: np.ndarray) -> np.ndarray:
    """Row c: what a label of class c counts for in each class."""
    n_classes = len(totals)
    table = np.repeat(1 / (totals + 2) / (n_classes - 1), n_classes).reshape(n_classes, n_classes)
    np.fill_diagonal(table, (totals + 1) / (totals + 2))
    return table
