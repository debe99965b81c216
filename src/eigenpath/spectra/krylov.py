"""The spectra of all the data and of every fold, as far as the targets see them, from shared products."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._threads import available_threads, run_tiles, single_threaded_blas
from ..filters import Filter
from ..gram import Gram
from .base import Coefficients, Decomposition, Folds, HeldOut, Sample, Spectrum
from .krylov_bounds import ErrorBound, cut_bound, filter_bound, tikhonov_bound
from .krylov_column import Column, Problem

__all__ = ["KrylovDecomposition"]

# Rows of which products are computed twice, in float64 too, to see what float32 did.
_CHECKED_ROWS = 32
# Fewer numbers than this are orthogonalized sooner than a second thread is started.
_FEW = 1_000_000


class KrylovDecomposition(Decomposition):
    r"""Lanczos on masked copies of one Gram matrix, all of them in one product per step.

    .. math:: A_f V_f = V_f T_f + \beta_f \, v \, e_s^T, \qquad A_f = H_f S_f K S_f H_f

    ``S_f`` holds the root weights of fold f's training rows, zero elsewhere, and ``H_f`` centres the features if that
    is asked for; the last problem is all the data. Each target has a column of its own, which starts from the target:
    ``G(A_f) y_f`` is ``norm(y_f) V_f G(T_f) e_1`` for every filter, exactly so for polynomials of degree below s.

    Eigenvalues that a target has no component along are not seen, and multiple ones are seen once.

    Parameters
    ----------
    gram : Gram
    sample : Sample
    folds : sequence of (train, test) index arrays
        Training parts need not be the complements of the test parts; repeated rows count as often as they occur.
    psd_tol : float, optional
        See `clip_spectrum`.

    Attributes
    ----------
    problems : list of Problem
        One for each fold, then all the data.
    columns : list of list of Column
        For each problem, one column per target.
    n_products : int
        How many vectors K was multiplied by.
    n_threads : int
        How many threads share the work of a step: as many as BLAS had when this was made.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenpath.gram import PrecomputedGram
    >>> sample = Sample(np.array([[1.0], [2.0], [4.0]]))
    >>> krylov = KrylovDecomposition(PrecomputedGram(np.diag([9.0, 6.0, 3.0])), sample)
    >>> krylov.extend(10).exact
    True
    >>> krylov.spectra[0].t
    array([3., 2., 1.])
    """

    complete = False

    def __init__(self, gram: Gram, sample: Sample, folds: Folds = (), psd_tol: float | None = None) -> None:
        super().__init__(sample, folds)
        for i, (train, _) in enumerate(self.folds):
            if not sample.weight[train].any():
                raise ValueError(
                    f"fold {i} has no training row with positive sample_weight: check cv and sample_weight."
                )
        self.gram, self.psd_tol = gram, psd_tol
        diagonal = gram.diagonal()
        self.problems = [Problem(sample, diagonal, *fold) for fold in self.folds]
        self.problems.append(Problem(sample, diagonal))
        # Products in float32 are as exact as that; below this level a new direction is a rounding error.
        self._eps = max(16 * float(np.finfo(np.float64).eps), float(np.finfo(gram.dtype).eps))
        targets = range(sample.y.shape[1])
        self.columns = [[Column(problem, k, self._eps) for k in targets] for problem in self.problems]
        self.n_products = 0
        self.n_threads = available_threads()
        self._checked: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def _all(self) -> list[Column]:
        return [column for columns in self.columns for column in columns]

    @property
    def steps(self) -> int:
        """How many steps were taken; columns that are exact needed fewer."""
        return max(column.steps for column in self._all)

    @property
    def exact(self) -> bool:
        """Whether every column spans an invariant subspace: there is nothing more to find."""
        return all(column.exact for column in self._all)

    @property
    def nbytes(self) -> int:
        """The bytes of the bases and of the held-out rows."""
        return sum(column.nbytes for column in self._all)

    def step_bytes(self) -> int:
        """The bytes that another step takes."""
        return sum(8 * (len(c.problem) + len(c.problem.test)) for c in self._all if not c.exact)

    def extend(self, steps: int) -> KrylovDecomposition:
        """Take so many further steps, or fewer if all is exact before.

        What there was stays: two calls give what one call with the sum of the steps does.
        """
        with single_threaded_blas():
            for _ in range(steps):
                active = [column for column in self._all if not column.exact]
                if not active:
                    break
                self._step(active)
        return self

    def _step(self, active: list[Column]) -> None:
        n = len(self.gram)
        block = np.zeros((len(active), n))
        for row, column in zip(block, active):
            column.write_input(row)
        products = self.gram.product(block.T, self.n_threads).T
        self.n_products += len(active)
        noise = self._noise(block, products)
        threads = self.n_threads if n * len(active) * self.steps > _FEW else 1
        run_tiles(Column.advance, list(zip(active, products, noise)), threads)

    def _noise(self, block: np.ndarray, products: np.ndarray) -> np.ndarray:
        """The errors of the products, as norms: their bound in float64; in float32, twice what some rows show."""
        n = len(self.gram)
        # A fold counts repeated rows as often as they occur.
        largest = np.sqrt(max(problem.sample.weight.max() for problem in self.problems))
        if self.gram.dtype == np.float64:
            return np.full(len(block), self.gram.product_error * largest**2)
        if self._checked is None:
            index = np.random.default_rng(0).permutation(n)[:_CHECKED_ROWS]
            self._checked = index, self.gram.rows(index)
        index, rows = self._checked
        errors = products[:, index] - block @ rows.T
        return 2 * largest * np.sqrt(n * np.mean(errors**2, axis=1))

    @property
    def spectra(self) -> list[Spectrum]:
        return [self._spectrum(column) for column in self.columns[-1]]

    def _spectrum(self, column: Column) -> Spectrum:
        # The start is the target itself: all of it lies in the span, or nothing, if K maps it to zero.
        outside = np.full(1, column.outside)
        return Spectrum(*column.spectrum(self.psd_tol), outside, slice(column.target, column.target + 1))

    def fold(self, i: int) -> list[HeldOut]:
        problem, columns = self.problems[i], self.columns[i]
        return [
            HeldOut(
                *column.spectrum(self.psd_tol),
                column.rows(),
                problem.sample.mean[column.target, None],
                slice(column.target, column.target + 1),
            )
            for column in columns
        ]

    def lift(self, coordinates: list[np.ndarray]) -> Coefficients:
        return self.lift_problem(-1, coordinates)

    def lift_problem(self, problem: int, coordinates: list[np.ndarray]) -> Coefficients:
        """`lift` for the model of a fold; its coefficients are zero on rows that it did not see."""
        where = self.problems[problem]
        parts = [column.lift(c) for column, c in zip(self.columns[problem], coordinates)]
        dual = np.zeros((len(self.sample), sum(part.shape[1] for part, _ in parts)))
        dual[where.index] = np.hstack([part for part, _ in parts])
        return Coefficients(dual, where.sample.mean - np.concatenate([offset for _, offset in parts]))

    def fold_coefficients(self, filter: Filter, params: np.ndarray) -> list[Coefficients]:
        return [
            self.lift_problem(
                i, [_filtered(filter, params, *column.spectrum(self.psd_tol), k) for k, column in enumerate(columns)]
            )
            for i, columns in enumerate(self.columns[:-1])
        ]

    def tikhonov_bound(self, problem: int, lams: np.ndarray) -> ErrorBound:
        """How far Tikhonov's function at each ``lam`` may be from the exact one; arrays ``(p, targets)``."""
        return self._bound(problem, lambda column: tikhonov_bound(column, np.asarray(lams, dtype=np.float64)))

    def filter_bound(
        self, problem: int, gains: Callable[[np.ndarray], np.ndarray], top: float | None = None
    ) -> ErrorBound:
        """The same for any filter, as a function ``t (r,)`` to ``(p, r)`` that is continuous in t.

        Parameters
        ----------
        problem : int
        gains : callable
            Called once, with the largest t first. Step sizes should be fixed numbers.
        top : float, optional
            No eigenvalue is larger. By default the mean of k(x, x), of which that holds; iterations may diverge there,
            and need the largest eigenvalue itself.
        """
        return self._bound(problem, lambda column: filter_bound(column, gains, top))

    def _bound(self, problem: int, bound: Callable[[Column], ErrorBound]) -> ErrorBound:
        parts = [bound(column) for column in self.columns[problem]]
        return ErrorBound(*(np.stack(values, axis=1) for values in zip(*parts)))

    def ritz_residuals(self, problem: int = -1) -> list[np.ndarray]:
        """For each target, how far each Ritz pair is from an eigenpair: ``norm(A u - t u)``, on ``lam``'s scale."""
        return [column.ritz.residuals for column in self.columns[problem]]

    def cut_bound(self, problem: int, lams: np.ndarray) -> np.ndarray:
        """How far fits by the components with ``t >= lam`` may be from the exact ones, ``(p, targets)``.

        As a root mean square over the training rows. For the first m components, ask for a ``lam`` in the middle of the
        gap below them: the answer holds if there are m eigenvalues above it.
        """
        return np.stack([cut_bound(column, np.asarray(lams)) for column in self.columns[problem]], axis=1)

    def certified_components(self, problem: int = -1, tol: float = 1e-4) -> int:
        """How many leading Ritz values have residuals below ``tol`` times themselves, for every target."""
        counts = []
        for column in self.columns[problem]:
            ritz = column.ritz
            good = ritz.residuals <= tol * np.maximum(ritz.values, 0)
            counts.append(len(good) if good.all() else int(np.argmin(good)))
        return min(counts)


def _filtered(filter: Filter, params: np.ndarray, t: np.ndarray, b: np.ndarray, target: int) -> np.ndarray:
    """Filtered coordinates ``(s, 1)`` of one target."""
    param = params if len(params) == 1 else params[target : target + 1]
    return filter.gains(t, param).T * b
