"""A penalty for the number of directions, calibrated on the risks themselves: the slope heuristic."""

from __future__ import annotations

import numpy as np

__all__ = ["penalized_risks"]


def penalized_risks(risks: np.ndarray, floor_from: int | None = None) -> tuple[np.ndarray, float]:
    r"""Return :math:`R_n(D) + 2 \hat\kappa D` for D = 1, 2, …, and :math:`\hat\kappa`.

    Once D is so large that one more direction tells nothing about the labels, the training risk goes on falling,
    because the machine fits their noise, and it falls along a line: :math:`R_n(D) \approx \text{const} - \kappa D`.
    What that overfitting takes off the training risk it adds to the true one, about as much again, so the true risk is
    the training risk plus :math:`2 \kappa D`. The line is fitted by least squares to the second half of the path, which
    ends at ``floor_from`` if nothing is left to fit from there on.

    Parameters
    ----------
    risks : ndarray of shape (p,)
        Training hinge risks for D = 1, …, p.
    floor_from : int, optional
        The size from which on the risk is as low as it can get.

    Returns
    -------
    criterion : ndarray of shape (p,)
    slope : float

    Examples
    --------
    >>> import numpy as np
    >>> criterion, slope = penalized_risks(np.array([0.9, 0.5, 0.3, 0.28, 0.26, 0.24, 0.22, 0.2]))
    >>> round(slope, 3), int(criterion.argmin()) + 1
    (0.02, 3)
    """
    sizes = np.arange(1, len(risks) + 1)
    end = len(risks) if floor_from is None else floor_from
    tail = slice(min(end // 2, max(end - 2, 0)), end)
    slope = -float(np.polyfit(sizes[tail], risks[tail], 1)[0]) if end > 1 else 0.0
    return risks + 2 * slope * sizes, slope
