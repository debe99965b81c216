"""Plans: the route, what it needs, and that a fit keeps to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import GroupKFold, ShuffleSplit

from eigenpath import KernelPCA, KernelPCR, KernelRidge, SpectralClassifier, SpectralRegressor, Tikhonov, plan
from eigenpath.estimators import _plan
from eigenpath.estimators._plan import EXACT_BELOW, EXACT_BELOW_CUTS, Job, Options, make_plan, parse_bytes
from eigenpath.gram import triangle_bytes

JOB = Job(n=5000, d=8, targets=1, folds=5)


@pytest.fixture
def X(rng):
    return rng.standard_normal((80, 3))


# --- memory in words -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("8GB", 8e9),
        ("8 gb", 8e9),
        (" 1.5MB ", 1.5e6),
        ("12kb", 12e3),
        ("2TB", 2e12),
        ("700", 700),
        ("700B", 700),
        (".5kB", 500),
        (10**9, 1e9),
        (1e9, 1e9),
        (np.int64(5), 5),
    ],
)
def test_bytes_are_numbers_or_text(text, expected):
    assert parse_bytes(text) == expected


@pytest.mark.parametrize(
    "text", ["", "GB", "8 apples", "8GBs", "-1", -5, 0, "0MB", "1.2.3MB", "nan", np.nan, True, [], "8 G B"]
)
def test_what_is_no_memory_is_refused(text, X):
    with pytest.raises(ValueError, match=r"memory_limit must be a number of bytes, or text like '8GB'.*got"):
        parse_bytes(text)
    with pytest.raises(ValueError, match="memory_limit must be"):
        SpectralRegressor(gamma=1.0, memory_limit=text).fit(X, X[:, 0])


def test_by_default_a_share_of_what_is_free(monkeypatch):
    monkeypatch.setattr(_plan, "free_bytes", lambda: 10**9)
    assert Options().limit == 7 * 10**8
    assert make_plan(JOB, Options()).limit == 7 * 10**8
    assert Options(memory_limit="1GB").limit == 10**9


def test_where_the_system_does_not_say_what_is_free_it_is_a_small_laptop(monkeypatch, tmp_path):
    assert _plan.free_bytes() > 10**6
    monkeypatch.setattr(_plan, "File", lambda name: tmp_path / "missing")
    assert _plan.free_bytes() == 4 * 10**9


# --- options -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"solver": "lapack"}, "solver must be one of 'auto', 'exact', 'krylov', got 'lapack'"),
        ({"precision": "half"}, "precision must be one of 'double', 'mixed', got 'half'"),
        ({"tol": 0}, "tol must be positive, got 0"),
        ({"tol": np.nan}, "tol must be positive, got nan"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1, got 0"),
        ({"max_iter": 2.5}, "max_iter must be a whole number of at least 1, got 2.5"),
    ],
)
def test_options_are_checked_by_name(option, message, X):
    y = X[:, 0]
    for make in (SpectralRegressor, SpectralClassifier, KernelPCR):
        with pytest.raises(ValueError, match=message):
            make(gamma=1.0, **option).fit(X, y > 0)
        with pytest.raises(ValueError, match=message):
            make(gamma=1.0, **option).plan(X)
    with pytest.raises(ValueError, match=message):
        KernelRidge(alphas="auto", **option).fit(X, y)


# --- the route -----------------------------------------------------------------------------------------------------


def test_auto_is_exact_up_to_a_number_of_rows():
    options = Options(memory_limit="100GB")
    for n, cuts, route in [
        (EXACT_BELOW, False, "exact"),
        (EXACT_BELOW + 1, False, "krylov"),
        (EXACT_BELOW + 1, True, "exact"),
        (EXACT_BELOW_CUTS, True, "exact"),
        (EXACT_BELOW_CUTS + 1, True, "krylov"),
    ]:
        found = make_plan(JOB._replace(n=n, cuts=cuts), options)
        assert found.route == route
        limit = EXACT_BELOW_CUTS if cuts else EXACT_BELOW
        assert f"{n} rows are {'at most' if route == 'exact' else 'more than'} {limit}" in str(found)
        assert make_plan(JOB._replace(n=n, cuts=cuts, whole="this"), options).why == "this needs the whole spectrum"
        for solver in ("exact", "krylov"):
            forced = make_plan(JOB._replace(n=n, cuts=cuts), Options(solver=solver, memory_limit="100GB"))
            assert (forced.route, forced.why) == (solver, f"solver={solver!r}")


def test_few_rows_go_to_krylov_where_memory_ends_and_say_so():
    job = JOB._replace(n=EXACT_BELOW)
    exact = make_plan(job, Options(memory_limit="100GB"))
    less = make_plan(job, Options(memory_limit=exact.nbytes - 1))
    assert (exact.route, less.route) == ("exact", "krylov")
    assert less.why == "all eigenvalues would need more memory"
    assert make_plan(job, Options(memory_limit=exact.nbytes)).route == "exact"


def test_explicit_features_fewer_than_rows_are_primal():
    options = Options(memory_limit="100GB")
    assert make_plan(JOB._replace(features=8), options).route == "primal"
    assert make_plan(JOB._replace(features=8, whole="this"), options).route == "primal"
    assert make_plan(JOB._replace(features=5000), options).route == "krylov"
    assert make_plan(JOB._replace(features=8), Options(solver="krylov", memory_limit="100GB")).route == "krylov"


def test_what_needs_all_eigenvalues_is_refused_on_krylov():
    with pytest.raises(ValueError, match="solver='krylov' finds a part of the spectrum only, and this needs all of it"):
        make_plan(JOB._replace(whole="this"), Options(solver="krylov"))


def test_storage_follows_the_memory():
    triangle = triangle_bytes(5000, np.float64)
    found = [make_plan(JOB, Options(memory_limit=limit)) for limit in ("1GB", "120MB", "45MB")]
    assert [one.storage for one in found] == ["stored", "partial", "tiled"]
    assert found[0].budget == triangle > found[1].budget > found[2].budget == 0
    assert all(one.nbytes <= one.limit for one in found)
    # Each product recomputes what is not kept.
    assert found[0]._work.kernel < found[1]._work.kernel < found[2]._work.kernel
    mixed = make_plan(JOB, Options(memory_limit="1GB", precision="mixed"))
    assert mixed.budget == triangle_bytes(5000, np.float32)
    assert found[0].nbytes - mixed.nbytes == triangle - mixed.budget


def test_a_given_matrix_takes_no_memory_unless_it_is_copied():
    given = JOB._replace(stored=True)
    double, mixed = (make_plan(given, Options(precision=p, memory_limit="1GB")) for p in ("double", "mixed"))
    assert (double.storage, double.budget) == ("given", 0)
    assert mixed.nbytes - double.nbytes == triangle_bytes(5000, np.float32)


@pytest.mark.parametrize(("field", "more"), [("n", 10_000), ("targets", 4), ("folds", 10)])
@pytest.mark.parametrize("solver", ["exact", "krylov"])
def test_more_of_anything_costs_more(field, more, solver):
    options = Options(solver=solver, memory_limit="1000GB")
    less, greater = make_plan(JOB, options), make_plan(JOB._replace(**{field: more}), options)
    if (field, solver) != ("targets", "exact"):
        assert greater.operations > less.operations and greater.nbytes > less.nbytes
        assert greater.seconds > less.seconds > 0


def test_what_cannot_fit_is_refused_with_the_cheapest_change():
    options = Options(memory_limit="1MB")
    for job, name, advice in [
        (JOB, "krylov", "use fewer folds or targets, or a subsample of the rows"),
        (JOB._replace(n=300_000, features=200), "primal", "use fewer features"),
        (JOB._replace(whole="this"), "exact", "use rule='cv' and solver='krylov'"),
    ]:
        with pytest.raises(
            MemoryError, match=rf"the {name} route needs .* MB for {job.n} rows.*memory_limit='1MB'.*{advice}"
        ):
            make_plan(job, options)
    with pytest.raises(MemoryError, match=r"memory_limit='1MB' allows 1 MB: use solver='krylov', or allow [\d.e+]+ MB"):
        make_plan(JOB, Options(solver="exact", memory_limit="1MB"))


def test_the_message_without_a_limit_speaks_of_what_is_free(monkeypatch):
    monkeypatch.setattr(_plan, "free_bytes", lambda: 10**6)
    with pytest.raises(MemoryError, match=r"and what is free here allows 0\.7 MB"):
        make_plan(JOB, Options())


def test_the_fit_is_refused_before_it_starts(rng):
    called = []

    def kernel(X, Z):
        called.append(len(X))
        return X @ Z.T

    X = rng.standard_normal((2000, 3))
    with pytest.raises(MemoryError, match="krylov route needs"):
        SpectralRegressor(kernel, memory_limit="1MB").fit(X, X[:, 0])
    assert not called or max(called) < 100, "no matrix was computed"


def test_the_allowed_memory_is_enough_when_it_is_allowed():
    """The number in the message is one that works."""
    for options in (Options(memory_limit="1MB"), Options(solver="exact", memory_limit="1MB")):
        with pytest.raises(MemoryError, match="or allow") as caught:
            make_plan(JOB, options)
        megabytes = float(str(caught.value).split("or allow ")[1].split()[0])
        limit = f"{1.001 * megabytes:.6f}MB"
        assert make_plan(JOB, Options(solver=options.solver, memory_limit=limit)).nbytes <= 1.001e6 * megabytes


# --- plans of estimators -------------------------------------------------------------------------------------------


def test_a_plan_reads_as_a_table(X):
    text = str(plan(X, gamma=1.0))
    for line in (
        "route       exact, K stored",
        "because     80 rows are at most 1500",
        "memory",
        "allowed",
        "operations",
        "s for",
    ):
        assert line in text
    found = plan(X)
    assert found.seconds > 0 and found.operations > 80**3 and found.budget is None
    assert plan(X, solver="krylov").room > 100


@pytest.mark.parametrize(
    "model",
    [
        SpectralRegressor(gamma=1.0),
        SpectralRegressor(gamma=1.0, solver="krylov"),
        SpectralRegressor(gamma=1.0, solver="krylov", memory_limit="2.5MB", max_iter=20, filter=Tikhonov(10.0)),
        SpectralRegressor("linear"),
        SpectralRegressor("linear", solver="krylov"),
        SpectralRegressor("linear", rule="gcv"),
        SpectralRegressor(gamma=1.0, rule="loo"),
        SpectralRegressor(gamma=1.0, rule="a_priori", solver="krylov"),
        SpectralRegressor(gamma="auto", rule="a_priori"),
        SpectralRegressor(["rbf", "laplacian"], gamma=1.0, filter=["tikhonov", "tsvd"]),
        SpectralRegressor(gamma=1.0, cv=ShuffleSplit(2, random_state=0)),
        KernelPCR(gamma=1.0, solver="krylov"),
        KernelRidge(kernel="rbf", alphas="auto", solver="krylov"),
        SpectralClassifier(gamma=1.0, solver="krylov"),
    ],
    ids=str,
)
@pytest.mark.parametrize("several", [False, True])
def test_fit_takes_the_route_of_its_plan(model, several, X, monkeypatch, rng):
    y = np.column_stack([X[:, 0] + X[:, 1] ** 2, X[:, 2]]) + 0.1 * rng.standard_normal((80, 2))
    if isinstance(model, SpectralClassifier):
        y = np.digitize(y[:, 0], [0, 2]) if several else y[:, 0] > 0
    elif not several:
        y = y[:, 0]
    expected, taken = model.plan(X, y), []
    genuine = _plan.make_plan

    def recorded(job, options):
        taken.append(genuine(job, options))
        return taken[-1]

    monkeypatch.setattr("eigenpath.estimators._search.make_plan", recorded)
    model.fit(X, y)
    assert model.solver_.route == expected.route
    for one in taken:
        assert (one.route, one.storage, one.why) == (expected.route, expected.storage, expected.why)
        assert one.nbytes == expected.nbytes
    if expected.route == "krylov":
        assert f"K {expected.storage} in double precision" in model.solver_.how


def test_plans_take_sparse_rows_given_kernels_and_shapes_of_targets(X):
    thin = plan(sparse.csr_array(X), solver="krylov")
    assert (thin.route, thin.nbytes) == ("krylov", plan(X, solver="krylov").nbytes)
    assert plan(X @ X.T, kernel="precomputed", solver="krylov").storage == "given"
    one, two = (plan(X, np.zeros(shape), solver="krylov") for shape in ((80,), (80, 2)))
    assert two.nbytes > one.nbytes == plan(X, np.zeros((80, 1)), solver="krylov").nbytes
    labels = SpectralClassifier(solver="krylov").plan(X, np.arange(80) % 3)
    assert labels.nbytes > SpectralClassifier(solver="krylov").plan(X, np.arange(80) % 2).nbytes


# --- measured ------------------------------------------------------------------------------------------------------

SCRIPT = """
import json, re, sys, warnings
import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from eigenpath import SpectralRegressor

def status(name):
    return 1024 * int(re.search(name + r":\\s+(\\d+)", open("/proc/self/status").read())[1])

n, options = int(sys.argv[1]), json.loads(sys.argv[2])
rng = np.random.default_rng(0)
# What is loaded at first use is not the fit's.
for solver in ("exact", "krylov"):
    SpectralRegressor(gamma=0.3, solver=solver).fit(rng.standard_normal((300, 3)), rng.standard_normal(300))
X = rng.standard_normal((n, 5))
y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n)
if options.get("kernel") == "precomputed":
    X = rbf_kernel(X, gamma=0.3)
warnings.simplefilter("ignore")
model = SpectralRegressor(**({"gamma": 0.3} | options))
plan = model.plan(X)
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
model.fit(X, y)
print(json.dumps([status("VmHWM") - before, plan.nbytes, plan.limit, plan.route, plan.storage, model.solver_.steps]))
"""

MEASURED = {
    "exact": (1000, {"solver": "exact", "memory_limit": "80MB"}),
    "exact, eigenvectors of folds": (700, {"solver": "exact", "memory_limit": "50MB", "filter": "tsvd"}),
    "stored": (2000, {"solver": "krylov", "memory_limit": "60MB"}),
    "stored in float32": (2500, {"solver": "krylov", "memory_limit": "60MB", "precision": "mixed"}),
    "partial": (2500, {"solver": "krylov", "memory_limit": "30MB", "max_iter": 60}),
    "tiled": (2500, {"solver": "krylov", "memory_limit": "16MB", "tol": 0.1}),
    "given, copied to float32": (2000, {"kernel": "precomputed", "memory_limit": "40MB", "precision": "mixed"}),
}


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="peak memory is read from Linux's /proc")
@pytest.mark.parametrize("case", MEASURED)
def test_a_fit_stays_within_its_limit(case):
    n, options = MEASURED[case]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(n), json.dumps(options)],
        capture_output=True,
        text=True,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    peak, planned, limit, route, storage, steps = json.loads(done.stdout)
    assert route == ("exact" if options.get("solver") == "exact" else "krylov")
    assert route == "exact" or (storage == case.split(" ")[0].strip(",") and steps > 20)
    assert planned <= limit and peak <= limit
    # It is no use to promise far more than is taken. What the process had freed before and takes again is not seen.
    assert peak > 0.2 * planned


# --- one solve, and groups -------------------------------------------------------------------------------------------


def test_a_given_penalty_is_one_solve(X):
    y = X[:, 0]
    assert KernelRidge(kernel="rbf").plan(X).route == "direct"
    assert KernelRidge(kernel="rbf").plan(X).nbytes == 8 * 80 * 80
    assert KernelRidge(kernel="rbf", alpha=[1.0, 2.0]).plan(X, np.zeros((80, 2))).nbytes == 2 * 8 * 80 * 80
    assert KernelRidge().plan(X).storage == "features"
    assert KernelRidge(kernel="rbf", alphas=[1.0]).plan(X).route == "exact"
    with pytest.raises(
        MemoryError, match=r"the direct route needs 0.0512 MB for 80 rows.*: pass alphas=\[alpha\] with so"
    ):
        KernelRidge(kernel="rbf", memory_limit="50KB").fit(X, y)
    with pytest.raises(ValueError, match="solver must be one of"):
        KernelRidge(kernel="rbf", solver="qr").fit(X, y)
    with pytest.raises(ValueError, match="kernel is a list, but alpha is given"):
        KernelRidge(kernel=["rbf", "linear"]).fit(X, y)
    with pytest.raises(ValueError, match="no folds to make intervals of: choose a penalty by setting alphas"):
        KernelRidge(kernel="rbf", intervals=True).fit(X, y).predict(X, interval=0.9)


def test_folds_may_keep_groups_together(X):
    model = SpectralRegressor(cv=GroupKFold(4))
    groups = np.arange(len(X)) % 7
    assert model.plan(X, groups=groups).nbytes == SpectralRegressor(cv=4).plan(X).nbytes
    with pytest.raises(ValueError, match="'groups' parameter should not be None"):
        model.plan(X)


# --- components ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "options", "route", "storage"),
    [
        (80, {"n_components": 2}, "dense", "stored"),
        (80, {"n_components": 2, "kernel": "linear"}, "explicit", "features"),
        (80, {"n_components": 2, "eigen_solver": "arpack"}, "arpack", "stored"),
        (80, {"n_components": 2, "eigen_solver": "krylov"}, "krylov", "stored"),
        (80, {}, "dense", "stored"),
        (900, {"n_components": 3}, "krylov", "stored"),
        (900, {"n_components": 3, "memory_limit": "4MB"}, "krylov", "partial"),
        (900, {"n_components": 3, "memory_limit": "2.556MB"}, "krylov", "tiled"),
        (1500, {"n_components": 0.5}, "krylov", "stored"),
    ],
)
def test_kernel_pca_takes_the_route_of_its_plan(n, options, route, storage, rng):
    X = rng.standard_normal((n, 3))
    model = KernelPCA(**({"kernel": "rbf", "gamma": 0.3, "random_state": 0} | options))
    planned = model.plan(X)
    assert (planned.route, planned.storage) == (route, storage)
    assert planned.nbytes <= planned.limit and planned.operations > 0
    assert model.fit(X).eigen_solver_ == route
    assert f"route       {route}, K {storage}" in str(planned)


def test_components_that_do_not_fit_are_refused_when_planned(X):
    with pytest.raises(MemoryError, match="basis for 2 components of 80 rows"):
        KernelPCA(2, kernel="rbf", eigen_solver="krylov", memory_limit="50KB").plan(X)
    with pytest.raises(MemoryError, match="too low to decompose a matrix of 80 rows"):
        KernelPCA(kernel="rbf", memory_limit="50KB").plan(X)
    assert KernelPCA(2, kernel="precomputed", eigen_solver="krylov").plan(X @ X.T).storage == "given"


def test_more_components_are_planned_to_take_longer(rng):
    X = rng.standard_normal((3000, 3))
    times = [KernelPCA(k, kernel="rbf", eigen_solver="krylov").plan(X).seconds for k in (5, 50, 200)]
    assert times[0] < times[1] < times[2] < KernelPCA(kernel="rbf").plan(X).seconds
