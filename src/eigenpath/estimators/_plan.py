"""Which route a fit takes, what it needs of memory and time, and whether that is allowed."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path as File
from typing import Any, NamedTuple

import numpy as np

from .._threads import available_threads, single_threaded_blas
from ..gram import triangle_bytes
from ..spectra.lapack import sytrd
from ._summary import summary_text

__all__ = ["SOLVERS", "Job", "Options", "Plan", "make_plan", "parse_bytes", "plan_of_one_solve"]

SOLVERS = ("auto", "exact", "krylov")
PRECISIONS = ("double", "mixed")
# Up to so many rows, all eigenvalues cost no more than a Krylov run.
EXACT_BELOW = 1500
# Whole components converge late, if they are many.
EXACT_BELOW_CUTS = 4000
# More eigenvectors have more entries than LAPACK can count.
MOST_EXACT = 46_000
# A typical number of Krylov steps, for estimates, and the fewest that are worth starting.
TYPICAL_STEPS, FEWEST_STEPS = 120, 48
# What the exact route holds at its peak, in n x n matrices: K, the form of the whole with its eigenvectors and their
# workspace, for each fold but one its form and its test rows; test rows once more and the workspace of a fold if folds
# need eigenvectors; and what another thread works with.
EXACT_MATRICES, VECTOR_MATRICES, THREAD_MATRICES = 5, 1.5, 1.3
SHARE_OF_FREE = 0.7
# What a step holds besides the bases, in blocks of vectors, copies of the held-out rows, and bytes of tiles per thread.
PRODUCT_BLOCKS, HELD_OUT_ROWS, TILE_BYTES = 14, 3, 4e6


@dataclass(frozen=True)
class Options:
    """How a fit may be computed, as the user said it."""

    solver: str = "auto"
    precision: str = "double"
    tol: float = 1e-3
    max_iter: int = 500
    memory_limit: Any = None

    def check(self) -> None:
        """Raise if a value is not allowed."""
        if self.solver not in SOLVERS:
            raise ValueError(f"solver must be one of {', '.join(map(repr, SOLVERS))}, got {self.solver!r}.")
        if self.precision not in PRECISIONS:
            raise ValueError(f"precision must be one of {', '.join(map(repr, PRECISIONS))}, got {self.precision!r}.")
        if not self.tol > 0:
            raise ValueError(f"tol must be positive, got {self.tol!r}.")
        if not (isinstance(self.max_iter, (int, np.integer)) and self.max_iter > 0):
            raise ValueError(f"max_iter must be a whole number of at least 1, got {self.max_iter!r}.")

    @property
    def limit(self) -> int:
        """The bytes that a fit may take."""
        return int(SHARE_OF_FREE * free_bytes()) if self.memory_limit is None else parse_bytes(self.memory_limit)


class Job(NamedTuple):
    """What decides about the route: sizes, and what the rule and the kernel ask for.

    Attributes
    ----------
    n, d, targets, folds : int
    features : int or None
        How many explicit features the kernel has.
    whole : str or None
        What needs the whole spectrum, if anything does.
    stored : bool
        Whether the user gave the matrix.
    several : bool
        Whether kernels are compared that can share their distances, or penalties that cannot share a factorization.
    cuts : bool
        Whether a filter keeps or drops whole components.
    vectors : bool
        Whether a filter needs the eigenvectors of folds.
    """

    n: int
    d: int
    targets: int
    folds: int
    features: int | None = None
    whole: str | None = None
    stored: bool = False
    several: bool = False
    cuts: bool = False
    vectors: bool = False

    @property
    def exact_below(self) -> int:
        """Up to how many rows all eigenvalues are the better choice."""
        return EXACT_BELOW_CUTS if self.cuts else EXACT_BELOW


class Rates(NamedTuple):
    """What this machine does in a second: products (flop), tridiagonal forms (flop), reading (bytes), kernel values."""

    product: float
    tridiagonal: float
    read: float
    kernel: float


@dataclass(frozen=True)
class Plan:
    """The route that a fit would take.

    Attributes
    ----------
    route : {"primal", "exact", "krylov", "direct"}, or one of `KernelPCA`
        "direct" is one solve, for a penalty that is given.
    storage : {"stored", "partial", "tiled", "given", "features"}
        How the Gram matrix is kept.
    nbytes : int
        Memory at the peak, besides the data.
    limit : int
        The bytes allowed.
    operations : float
        Floating-point operations, for one kernel.
    budget : int or None
        The bytes that K may take, on the Krylov route.
    why : str
    room : int or None
        How many steps the memory has room for, on the Krylov route.
    shared : bool
        Whether there is room for the distances of kernels that share them, on the Krylov route.
    """

    route: str
    storage: str
    nbytes: int
    limit: int
    operations: float
    budget: int | None
    why: str
    _work: Rates
    room: int | None = None
    shared: bool = False

    @property
    def seconds(self) -> float:
        """A rough time for one kernel, from a calibration of this machine that takes a fraction of a second."""
        return float(sum(work / rate for work, rate in zip(self._work, calibrate())))

    def __str__(self) -> str:
        facts = [
            ("route", f"{self.route}, K {self.storage}"),
            ("because", self.why),
            ("memory", f"{self.nbytes / 1e6:.4g} MB of {self.limit / 1e6:.4g} MB allowed"),
            ("operations", self.operations),
            ("time", f"about {self.seconds:.2g} s for each kernel or bandwidth"),
        ]
        return summary_text("Plan", facts)


def make_plan(job: Job, options: Options) -> Plan:
    """Choose the route; raise ``MemoryError`` if none fits, naming the cheapest change that would."""
    options.check()
    limit = options.limit
    if job.features is not None and job.features < job.n and options.solver != "krylov":
        return _fitting(_primal(job, limit), job, options)
    if options.solver == "krylov" and job.whole:
        raise ValueError(f"solver='krylov' finds a part of the spectrum only, and {job.whole} needs all of it.")
    exact = _exact(job, limit)
    if job.n > MOST_EXACT and (options.solver == "exact" or job.whole):
        raise ValueError(
            f"{job.n} rows are too many to decompose, which goes up to {MOST_EXACT}: use "
            f"{'rule=' + repr('cv') + ' and ' if job.whole else ''}solver='krylov'."
        )
    small = options.solver == "auto" and job.n <= job.exact_below and exact.nbytes <= limit
    if options.solver == "exact" or job.whole or small:
        return _fitting(exact, job, options) if options.solver == "auto" else _forced(exact, job, options)
    return _fitting(_krylov(job, options, limit), job, options)


def plan_of_one_solve(job: Job, options: Options) -> Plan:
    """For a penalty that is given: no path, no folds."""
    options.check()
    n, d = float(job.n), job.features
    if d is not None and d < job.n:
        work = Rates(2.0 * n * d**2 + d**3 / 3, 0, 16.0 * n * d, 0)
        nbytes, storage, why = 8 * (2 * job.n * d + 2 * d * d), "features", f"{d} features are fewer than {job.n} rows"
    else:
        work = Rates(n**3 / 3, 0, 8 * n**2, 0 if job.stored else n**2)
        # In place, but in a copy of a matrix that is given, and for each penalty but one.
        nbytes, storage = int(8 * n**2) * (1 + job.several), "given" if job.stored else "stored"
        why = "alpha is given, so there is no path"
    return _fitting(Plan("direct", storage, nbytes, options.limit, work.product, None, why, work), job, options)


def _forced(plan: Plan, job: Job, options: Options) -> Plan:
    return _fitting(Plan(**{**vars(plan), "why": f"solver={options.solver!r}"}), job, options)


def _fitting(plan: Plan, job: Job, options: Options) -> Plan:
    if plan.nbytes <= plan.limit:
        return plan
    have = f"memory_limit={options.memory_limit!r}" if options.memory_limit is not None else "what is free here"
    advice = {
        "exact": f"use {'rule=' + repr('cv') + ' and ' if job.whole else ''}solver='krylov'",
        "krylov": "use fewer folds or targets, or a subsample of the rows",
        "primal": "use fewer features",
        "direct": "pass alphas=[alpha] with solver='krylov', which keeps what fits",
    }[plan.route]
    raise MemoryError(
        f"the {plan.route} route needs {plan.nbytes / 1e6:.4g} MB for {job.n} rows, and {have} allows "
        f"{plan.limit / 1e6:.4g} MB: {advice}, or allow {plan.nbytes / 1e6:.4g} MB."
    )


def _primal(job: Job, limit: int) -> Plan:
    n, d, folds = job.n, job.features or job.d, job.folds + 1
    work = Rates(2.0 * folds * n * d**2 + 10.0 * folds * d**3, 0, 8.0 * n * d * folds, 0)
    nbytes = 8 * (n * d * 2 + 4 * d * d * folds)
    why = f"{d} explicit features are fewer than {n} rows"
    return Plan("primal", "features", nbytes, limit, work.product, None, why, work)


def _exact(job: Job, limit: int) -> Plan:
    n, folds = float(job.n), job.folds
    cube = 4 / 3 * (n**3 + folds * (0.8 * n) ** 3)
    work = Rates(3 * n**3, cube, 8 * n**2 * 10, 0 if job.stored else n**2)
    others = THREAD_MATRICES * (1 + job.vectors) * min(available_threads() - 1, folds)
    matrices = EXACT_MATRICES + max(folds - 1, 0) + VECTOR_MATRICES * job.vectors + others + job.several
    nbytes = int(8 * n**2 * matrices)
    why = f"{job.whole} needs the whole spectrum" if job.whole else f"{job.n} rows are at most {job.exact_below}"
    return Plan("exact", "given" if job.stored else "stored", nbytes, limit, work.product + cube, None, why, work)


def _krylov(job: Job, options: Options, limit: int) -> Plan:
    n, columns, steps = job.n, (job.folds + 1) * job.targets, min(TYPICAL_STEPS, options.max_iter)
    step = 8 * n * job.targets * (job.folds + 2)
    fixed = _krylov_workspace(job, columns, steps)
    vectors = step * min(FEWEST_STEPS, options.max_iter) + fixed
    size = 4 if options.precision == "mixed" else 8
    triangle = triangle_bytes(n, np.float32 if size == 4 else np.float64)
    whole = 0 if job.stored else triangle
    # A given matrix is used where it lies, but in single precision it is a copy.
    copied = triangle if job.stored and size == 4 else 0
    budget = int(max(0, min(whole, limit - step * steps - fixed)))
    several = job.several and not job.stored and budget == whole
    distances = triangle_bytes(n, np.float64)
    shared = distances if several and distances + budget + step * steps + fixed <= limit else 0
    room = (limit - budget - copied - shared - fixed) // step
    storage = "given" if job.stored else "stored" if budget >= whole else "partial" if budget else "tiled"
    missing = 0.0 if job.stored else 1 - budget / whole
    orthogonal = 8.0 * n * columns * steps**2 / 2
    traffic = float(steps) * budget + orthogonal
    kernel = float(n) ** 2 / 2 * (1 + steps * missing) * (not job.stored)
    work = Rates(2.0 * n**2 * columns * steps + orthogonal, 0, traffic, kernel)
    why = f"solver={options.solver!r}"
    if options.solver == "auto":
        small = n <= job.exact_below
        why = "all eigenvalues would need more memory" if small else f"{n} rows are more than {job.exact_below}"
    kept = copied + budget + shared
    nbytes = int(kept + max(vectors, min(step * steps + fixed, limit - kept)))
    return Plan("krylov", storage, nbytes, limit, work.product, budget, why, work, int(room), shared > 0)


def _krylov_workspace(job: Job, columns: int, steps: int) -> int:
    """The bytes of a product's blocks and tiles, and of a fold's predictions."""
    n, threads = job.n, available_threads()
    tiles = TILE_BYTES * min(1.0, n / 1024) * threads
    held_out = n / max(job.folds, 1) * (HELD_OUT_ROWS * steps + 2 * 100 * job.targets)
    return int(8 * (n * columns * PRODUCT_BLOCKS + held_out) + tiles)


def parse_bytes(value: Any) -> int:
    """Bytes from a number, or from text such as "8GB" or "500 MB".

    Examples
    --------
    >>> parse_bytes("8GB"), parse_bytes("1.5 MB"), parse_bytes(1000)
    (8000000000, 1500000, 1000)
    """
    units = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
    match = re.fullmatch(r"\s*([\d.]+)\s*([a-zA-Z]*)\s*", str(value))
    number = float(match[1]) if match and re.fullmatch(r"\d+(\.\d*)?|\.\d+", match[1]) else 0
    if not match or match[2].upper() not in units or number <= 0:
        raise ValueError(f"memory_limit must be a number of bytes, or text like '8GB' or '500MB', got {value!r}.")
    return int(number * units[match[2].upper()])


def free_bytes() -> int:
    """The memory that is free on this machine."""
    try:
        lines = File("/proc/meminfo").read_text().splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1])
    except (OSError, StopIteration):
        # Where the system does not say, take a small laptop.
        return 4 * 10**9


@cache
def calibrate() -> Rates:
    """Measure this machine's rates, each on a problem of some milliseconds."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((512, 512))
    S = np.asfortranarray(A + A.T)
    long = rng.standard_normal(2_000_000)
    product = 2 * 512.0**3 / _fastest(lambda: A @ A)
    threads = available_threads()
    # Each form on a core of its own, as the exact route has them.
    with single_threaded_blas():
        form = 4 / 3 * 512.0**3 / _fastest(lambda: sytrd(S.copy(order="F"))) * threads
    read = 8.0 * len(long) / _fastest(lambda: long.sum())
    kernel = len(long) / _fastest(lambda: np.exp(long)) / 2 * threads
    return Rates(product, form, read, kernel)


def _fastest(work: Any, repeats: int = 3) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)
