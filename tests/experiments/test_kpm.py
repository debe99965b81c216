"""The reproduction of the Kernel Projection Machine's tables: protocol, files, and a quick run on the real data."""

import csv
import io

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from eigenpath.estimators.projection_machine import KernelProjectionMachine
from eigenpath.experiments.__main__ import main
from eigenpath.experiments._kpm_split import SplitResult, c_grid, run_split
from eigenpath.experiments._kpm_tables import curves, median_choice, table_1, table_2, text_table, write_csv
from eigenpath.experiments._progress import progress, run_jobs
from eigenpath.experiments._raetsch import PUBLISHED, BenchmarkSet, load_set
from eigenpath.kernels import RBF


@pytest.fixture
def blobs(rng):
    """A small set under a published name: two clouds and two splits."""
    y = np.where(rng.random(90) < 0.5, -1, 1)
    X = rng.standard_normal((90, 13)) * 5 + 4 * y[:, None] * (np.arange(13) < 3)
    parts = [rng.permutation(90) for _ in range(2)]
    return BenchmarkSet("heart", X, y, np.array([p[:60] for p in parts]), np.array([p[60:] for p in parts]))


def result(chosen, test_error, published=0.2, tuned=0.1, grid=0):
    errors = np.asarray(test_error, dtype=float)
    nothing = np.zeros(grid)
    return SplitResult(chosen, errors + 1, errors / 2, errors, nothing, published, tuned, nothing, nothing)


def test_one_split_follows_the_protocol(blobs):
    """Every number again, by the public estimators alone."""
    found = run_split(blobs, 1, 12, 5, curves=True)
    train, test = blobs.train[1], blobs.test[1]
    X, y, X_test, y_test = blobs.X[train], blobs.y[train], blobs.X[test], blobs.y[test]
    folds = list(StratifiedKFold(5, shuffle=True, random_state=1).split(X, y))

    machine = KernelProjectionMachine("rbf", gamma=1 / 120, cv=folds, max_components=12).fit(X, y)
    assert found.chosen == machine.n_components_
    assert_allclose(found.test_error[found.chosen - 1], 1 - machine.score(X_test, y_test))
    assert_allclose(found.hinge_risk, machine.path_.hinge_risk)

    grid = [2 * 0.3162 * 3 * i for i in range(1, 6)]
    assert_allclose(c_grid(3.162, 5), grid)
    svms = [SVC(C=C, kernel="rbf", gamma=1 / 120) for C in grid]
    fold_error = [np.mean([1 - svm.fit(X[a], y[a]).score(X[b], y[b]) for a, b in folds]) for svm in svms]
    assert_allclose(found.svm_fold_error, fold_error)
    best = svms[int(np.argmin(fold_error))].fit(X, y)
    assert_allclose(found.svm_tuned, 1 - best.score(X_test, y_test))
    assert_allclose(found.svm_test_error, [1 - svm.fit(X, y).score(X_test, y_test) for svm in svms])
    assert_allclose(found.svm_training_error, [1 - svm.fit(X, y).score(X, y) for svm in svms])
    published = SVC(C=3.162, kernel="rbf", gamma=1 / 120).fit(X, y)
    assert_allclose(found.svm_published, 1 - published.score(X_test, y_test))


def test_curves_cost_nothing_where_they_are_not_asked_for(blobs):
    assert run_split(blobs, 0, 4, 3, curves=False).svm_test_error.shape == (0,)


def test_repeated_rows_shorten_the_path(blobs):
    repeated = blobs._replace(X=np.repeat(blobs.X[:9], 10, axis=0))

    assert len(run_split(repeated, 0, 60, 2, curves=False).test_error) == 4


def test_table_1_takes_the_median_choice_of_the_first_five_splits():
    by_chance = [result(chosen, [0.5, 0.4, 0.3, 0.2]) for chosen in (1, 4, 3, 3, 2, 4, 4, 4, 4)]
    row = table_1({"heart": by_chance})[0]

    assert median_choice(by_chance) == 3
    assert median_choice(by_chance[:2]) == 1
    assert (row["D"], row["D paper"], row["splits"]) == (3, 10, 9)
    assert_allclose([row["KPM"], row["SVM"]], [30, 20])
    assert (row["KPM paper"], row["SVM paper sd"]) == (16.89, 3.26)


def test_table_2_takes_each_split_at_its_own_choice():
    row = table_2({"heart": [result(1, [0.2, 0.1]), result(2, [0.3, 0.15], tuned=0.5)]})[0]

    assert_allclose([row["KPM"], row["KPM sd"]], [17.5, np.std([20, 15], ddof=1)])
    assert_allclose(row["SVM"], 30)
    # The paper has 17.59 +- 3.30 and 16.23 +- 3.18.
    assert (row["KPM within"], row["SVM within"]) == ("yes", "no")


def test_one_split_has_no_deviation():
    text = text_table(table_2({"heart": [result(1, [0.25])]}))

    assert "25.00  " in text and "nan" not in text
    assert "17.59 +- 3.30" in text


def test_curves_are_means_in_percent():
    found = curves("flare-solar", [result(1, [0.2, 0.4, 0.6], grid=4), result(1, [0.4, 0.4], grid=4)])

    assert_allclose(found["kpm_test_error"], [30, 40])
    assert_array_equal(found["kpm_n_components"], [1, 2])
    assert_allclose(found["svm_C"], np.array([1, 2, 3, 4]) * 0.75 * PUBLISHED["flare-solar"].C)


def test_columns_of_unequal_length(tmp_path):
    write_csv(tmp_path / "t.csv", {"a": [1, 2], "b": ["x"]})

    assert list(csv.reader((tmp_path / "t.csv").read_text().splitlines())) == [["a", "b"], ["1", "x"], ["2", ""]]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_bar_fills_on_a_terminal_and_is_one_line_elsewhere():
    terminal, file = Terminal(), io.StringIO()

    assert list(progress("abc", 3, "work", terminal)) == list(progress("abc", 3, "work", file)) == ["a", "b", "c"]
    assert terminal.getvalue().count("\r") == 3
    assert "##########--------------------" in terminal.getvalue()
    assert file.getvalue().count("\n") == 1 and "3/3" in file.getvalue()


def test_jobs_keep_their_order(capsys):
    assert run_jobs(divmod, [(7, 2), (9, 4), (5, 5)], 1, "dividing") == [(3, 1), (2, 1), (1, 0)]
    assert "dividing" in capsys.readouterr().err


def save_set(folder, name="heart", **arrays):
    base = {"X": np.zeros((4, 2)), "y": np.array([-1, 1, -1, 1], dtype=np.int8)}
    index = {
        f"{kind}{part}_index": np.full((1 + bool(kind), 2), bool(kind))
        for kind in ("", "random_")
        for part in ("train", "test")
    }
    np.savez(folder / f"{name}.npz", **(base | index | arrays))


@pytest.mark.parametrize(("splits", "rows"), [("published", 1), ("random", 2), ("all", 3)])
def test_splits_by_name(tmp_path, splits, rows):
    save_set(tmp_path)
    data = load_set(tmp_path, "heart", splits)

    assert data.train.shape == data.test.shape == (rows, 2)
    assert data.train[0, 0] == (splits == "random")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--sets", "banana"], "has no file banana.npz: name the folder that holds it"),
        (["--sets", "heart"], "heart.npz in --data lacks an array"),
        (["--sets", "heart", "--jobs", "0"], "--jobs 0 must be at least 1"),
    ],
)
def test_messages_name_the_option(tmp_path, capsys, arguments, message):
    np.savez(tmp_path / "heart.npz", X=np.zeros((4, 2)))

    assert main(["kpm", "--data", str(tmp_path), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_quick_reproduction_on_the_real_data(data_dir, tmp_path, capsys):
    pytest.importorskip("matplotlib")

    assert (
        main(["kpm", "--data", str(data_dir), "--out", str(tmp_path), "--quick", "--splits", "all", "--jobs", "1"]) == 0
    )

    printed = capsys.readouterr().out
    assert "17.59 +- 3.30" in printed and "32.70 +- 1.97" in printed
    rows = list(csv.DictReader((tmp_path / "table2.csv").read_text().splitlines()))
    assert [(row["set"], row["splits"]) for row in rows] == [("heart", "2"), ("flare-solar", "2")]
    for row in rows:
        # Means over two splits: within three of the deviations of a single one, over the square root of two.
        assert abs(float(row["KPM"]) - float(row["KPM paper"])) < 3 / np.sqrt(2) * float(row["KPM paper sd"])
        # Both methods see the same test rows.
        assert abs(float(row["KPM"]) - float(row["SVM"])) < 5

    figure = list(csv.DictReader((tmp_path / "figure1.csv").read_text().splitlines()))
    test = np.array([float(row["kpm_test_error"]) for row in figure if row["kpm_test_error"]])
    risk = np.array([float(row["kpm_training_hinge_risk"]) for row in figure if row["kpm_training_hinge_risk"]])
    best = test.argmin()
    assert 0 < best < len(test) - 1 and test[0] > test[best] + 5 and test[-1] > test[best] + 1
    assert (np.diff(risk) <= 1e-9).all()
    assert (tmp_path / "figure1.png").stat().st_size > 10_000
    assert len((tmp_path / "splits.csv").read_text().splitlines()) == 5


def test_the_kernel_is_the_published_one():
    x, z = np.zeros((1, 3)), np.ones((1, 3))

    assert_allclose(RBF(gamma=1 / PUBLISHED["heart"].width)(x, z), np.exp(-3 / 120))
