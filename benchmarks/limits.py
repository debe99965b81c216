"""The rates of the inner loops, beside what this machine can do at most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness import Outcome
from benchmarks.job import Contender, Job, Setting
from benchmarks.machine import cores
from benchmarks.tuned_path import FEATURES, GAMMA

# Five folds and all the data.
VECTORS = 6
STEPS = 30
# Tridiagonal forms are of this size at most: they are the exact route's, which small data take.
DENSE = 2000
TILE = 312
Rates = dict[str, float]


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray

    @property
    def symmetric(self) -> np.ndarray:
        """A dense symmetric matrix of moderate size, in Fortran order."""
        A = np.random.default_rng(0).standard_normal((min(len(self.X), DENSE),) * 2)
        return np.asfortranarray(A + A.T)


def data(size: int) -> Data:
    """Gaussian rows."""
    rng = np.random.default_rng(size)
    return Data(rng.standard_normal((size, FEATURES)), rng.standard_normal(size))


def fastest(work: Callable[[], Any], repeats: int = 5) -> float:
    """Seconds of the fastest of several runs in this process."""
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def on_threads(work: Callable[[int], Any], jobs: int) -> None:
    """``work(0), ..., work(jobs - 1)`` over all cores, each with one BLAS thread."""
    from eigenpath._threads import run_tiles

    run_tiles(work, [(job,) for job in range(jobs)])


def copy(data: Data) -> Rates:
    """Memory to memory, as large as a triangle of K; bytes read and bytes written both count."""
    source = np.ones((4 * cores(), max(len(data.X) ** 2 // (8 * cores()), 1)))
    target = np.zeros_like(source)
    took = fastest(lambda: on_threads(lambda i: np.copyto(target[i], source[i]), len(source)))
    return {"bytes": 2 * source.nbytes / took}


def read(data: Data) -> Rates:
    """Sums of squares by BLAS: memory is only read."""
    source = np.ones((4 * cores(), max(len(data.X) ** 2 // (8 * cores()), 1)))
    return {"bytes": source.nbytes / fastest(lambda: on_threads(lambda i: np.dot(source[i], source[i]), len(source)))}


def product(data: Data, dtype: str = "float64") -> Rates:
    """K @ V of the stored triangle, as in a Krylov step."""
    gram, n = _gram(data, dtype), len(data.X)
    V = np.random.default_rng(0).standard_normal((VECTORS, n)).T
    took = fastest(lambda: gram.product(V))
    return {"bytes": gram.nbytes / took, "flop": 2 * n * n * VECTORS / took}


def steps(data: Data, dtype: str = "float64") -> Rates:
    """Whole Krylov steps: the product, two orthogonalizations of six vectors, and what Python adds."""
    from eigenpath.spectra.base import Sample
    from eigenpath.spectra.krylov import KrylovDecomposition

    gram, folds = _gram(data, dtype), np.array_split(np.arange(len(data.X)), VECTORS - 1)
    pairs = [(np.setdiff1d(np.arange(len(data.X)), test), test) for test in folds]

    krylov = KrylovDecomposition(gram, Sample(data.y[:, None]), pairs)
    took = fastest(lambda: krylov.extend(STEPS), repeats=1)
    return {"bytes": gram.nbytes * krylov.steps / took}


def _gram(data: Data, dtype: str) -> Any:
    from eigenpath.gram import KernelGram
    from eigenpath.kernels import RBF

    return KernelGram(RBF(gamma=GAMMA), data.X, np.dtype(dtype))


def matmul(data: Data, dtype: str = "float64") -> Rates:
    """A product of square matrices: the most that BLAS does."""
    A = data.symmetric.astype(dtype)
    return {"flop": 2 * len(A) ** 3 / fastest(lambda: A @ A)}


def thin(data: Data) -> Rates:
    """Products with inner size 20, tile by tile in cache, on all cores."""
    left, right = data.X[:TILE], np.asfortranarray(data.X[-TILE:].T)
    spaces = np.empty((cores(), len(left), right.shape[1]))
    repeats = max(len(data.X) ** 2 // (2 * spaces.size), 1)

    def work(i: int) -> None:
        for _ in range(repeats):
            np.matmul(left, right, out=spaces[i])

    return {"values": spaces.size * repeats / fastest(lambda: on_threads(work, cores()))}


def exponential(data: Data) -> Rates:
    """exp, tile by tile in cache, on all cores."""
    source = -np.random.default_rng(0).random((min(len(data.X), TILE),) * 2)
    spaces = np.empty((cores(), *source.shape))
    repeats = max(len(data.X) ** 2 // (2 * spaces.size), 1)

    def work(i: int) -> None:
        for _ in range(repeats):
            np.exp(source, out=spaces[i])

    return {"values": spaces.size * repeats / fastest(lambda: on_threads(work, cores()))}


def kernel(data: Data, dtype: str = "float64") -> Rates:
    """The triangle of K, from the rows to memory."""
    n = len(data.X)
    return {"values": n * (n + 1) / 2 / fastest(lambda: _gram(data, dtype), repeats=3)}


def tridiagonal(data: Data) -> Rates:
    """LAPACK's reduction of one matrix to tridiagonal form."""
    from eigenpath.spectra.lapack import sytrd

    A = data.symmetric
    took = fastest(lambda: sytrd(A.copy(order="F")), repeats=3)
    return {"flop": 4 / 3 * len(A) ** 3 / took}


def tridiagonals(data: Data) -> Rates:
    """One such matrix on each core, side by side, as the folds of the exact route are."""
    from eigenpath.spectra.lapack import sytrd

    A = data.symmetric
    took = fastest(lambda: on_threads(lambda i: sytrd(A.copy(order="F")), cores()), repeats=3)
    return {"flop": cores() * 4 / 3 * len(A) ** 3 / took}


def symv(data: Data) -> Rates:
    """Symmetric matrix times vector by BLAS, over the sizes that a reduction goes through: half of its work."""
    from scipy.linalg.blas import dsymv

    A, flop, took = data.symmetric, 0.0, 0.0
    for eighths in range(1, 9):
        m = max(len(A) * eighths // 8, 1)
        part = np.asfortranarray(A[:m, :m])
        flop, took = flop + 2.0 * m * m, took + fastest(lambda part=part, m=m: dsymv(1.0, part, np.ones(m), lower=1))
    return {"flop": flop / took}


class Line(NamedTuple):
    """A row of the table: what is measured, in which unit, and the limit as a function of all rates."""

    what: str
    contender: str
    kind: str
    limit: str = ""
    rate: Callable[[dict[str, Rates]], float] | None = None


def both(*rates: float) -> float:
    """The rate of doing one thing after the other."""
    return 1 / sum(1 / rate for rate in rates)


def reduction(rates: dict[str, Rates]) -> float:
    """Half of the work of a tridiagonal form is products with vectors, half is products of matrices."""
    return both(2 * rates["symv"]["flop"], 2 * rates["matmul, one core"]["flop"])


LINES = (
    Line("copy, read + written", "copy", "bytes"),
    Line("read", "read", "bytes"),
    *(
        line
        for dtype in ("float64", "float32")
        for line in (
            Line(f"K read in products, {dtype}", f"product, {dtype}", "bytes", "copy", lambda r: r["copy"]["bytes"]),
            Line(f"K read in Krylov steps, {dtype}", f"steps, {dtype}", "bytes", "copy", lambda r: r["copy"]["bytes"]),
            Line(
                f"products, {dtype}",
                f"product, {dtype}",
                "flop",
                "matrix product",
                lambda r, dtype=dtype: r[f"matmul, {dtype}"]["flop"],
            ),
            Line(f"matrix product, {dtype}", f"matmul, {dtype}", "flop"),
        )
    ),
    Line(f"product with inner size {FEATURES}", "thin", "values"),
    Line("exp", "exp", "values"),
    *(
        Line(
            f"kernel values, kept in {dtype}",
            f"kernel, {dtype}",
            "values",
            "thin product, then exp",
            lambda r: both(r["thin"]["values"], r["exp"]["values"]),
        )
        for dtype in ("float64", "float32")
    ),
    Line("symmetric matrix times vector, one core", "symv", "flop"),
    Line("matrix product, one core", "matmul, one core", "flop"),
    Line("tridiagonal form, one core", "tridiagonal", "flop", "half of each of these", reduction),
    Line(
        "tridiagonal forms, one on each core",
        "tridiagonals",
        "flop",
        f"{cores()} x the same",
        lambda r: cores() * reduction(r),
    ),
)

UNITS = {"bytes": (1e9, "GB/s"), "flop": (1e9, "Gflop/s"), "values": (1e6, "M values/s")}


def table(outcomes: Sequence[Outcome]) -> list[list[str]]:
    """One row for each line: the rate, the limit, and the share of it that is reached."""
    body = []
    for size in sorted({one.size for one in outcomes}):
        rates = {one.contender: dict(one.answers) for one in outcomes if one.size == size and one.status == "ok"}
        body += [[str(size), *_cells(line, rates)] for line in LINES if line.contender in rates]
    return [["n", "what", "rate", "limit", "rate of the limit", "share"], *body]


def _cells(line: Line, rates: dict[str, Rates]) -> list[str]:
    scale, unit = UNITS[line.kind]
    rate = rates[line.contender][line.kind]
    cells = [line.what, f"{rate / scale:.3g} {unit}"]
    try:
        limit = line.rate(rates) if line.rate else None
    except KeyError:  # the limit was not measured
        limit = None
    if limit is None:
        return [*cells, "", "", ""]
    return [*cells, line.limit, f"{limit / scale:.3g} {unit}", f"{100 * rate / limit:.0f} %"]


def measured(run: Callable[..., Rates], threads: int | None = None, **options: Any) -> Contender:
    """On all cores, unless ``threads`` says otherwise."""
    setting = Setting(f"{threads or cores()} threads", threads=threads, options=options)
    return Contender(run, requires=("eigenpath",), settings=(setting,))


JOB = Job(
    module=__name__,
    title=f"Inner loops and the machine's limits, d = {FEATURES}, {VECTORS} vectors, dense matrices of at most {DENSE} rows",
    data=data,
    contenders={
        "product, float64": measured(product, dtype="float64"),
        "product, float32": measured(product, dtype="float32"),
        "steps, float64": measured(steps, dtype="float64"),
        "steps, float32": measured(steps, dtype="float32"),
        "kernel, float64": measured(kernel, dtype="float64"),
        "kernel, float32": measured(kernel, dtype="float32"),
        "tridiagonal": measured(tridiagonal, threads=1),
        "tridiagonals": measured(tridiagonals),
        "copy": measured(copy),
        "read": measured(read),
        "matmul, float64": measured(matmul, dtype="float64"),
        "matmul, float32": measured(matmul, dtype="float32"),
        "matmul, one core": measured(matmul, threads=1),
        "thin": measured(thin),
        "exp": measured(exponential),
        "symv": measured(symv, threads=1),
    },
    answers=lambda rates, data: rates,
    sizes=(10_000,),
    warm_size=300,
    table=table,
)
