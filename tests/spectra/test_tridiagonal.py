"""The tridiagonal form of a symmetric matrix."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenpath.spectra.lapack import ormtr
from eigenpath.spectra.tridiagonal import Tridiagonal

sized = pytest.mark.parametrize("n", [1, 2, 3, 20, 97])


@pytest.fixture
def matrix(psd_matrix):
    return lambda n: psd_matrix(np.linspace(2, 0.1, n))


def form(A, **options):
    return Tridiagonal(np.array(A, order="F"), **options)


def dense(T):
    return np.diag(T.diagonal) + np.diag(T.off, 1) + np.diag(T.off, -1)


@sized
def test_the_form_gives_the_matrix_back(n, matrix):
    A = matrix(n)
    T = form(A)
    P = T.back(np.eye(n))
    assert len(T) == n
    assert_allclose(P.T @ P, np.eye(n), atol=1e-13)
    assert_allclose(P @ dense(T) @ P.T, A, atol=1e-13)


@sized
@pytest.mark.parametrize("columns", [1, 4, 200])
def test_into_and_back_are_transposes_and_leave_their_argument_alone(n, columns, matrix, rng):
    T, B = form(matrix(n)), rng.standard_normal((n, columns))
    keep, P = B.copy(), T.back(np.eye(n))
    assert_allclose(T.into(B), P.T @ B, atol=1e-12)
    assert_allclose(T.back(B), P @ B, atol=1e-12)
    assert_array_equal(B, keep)


def test_arguments_may_have_any_layout_and_type(matrix, rng):
    T, B = form(matrix(20)), rng.integers(-3, 3, (20, 6))
    expected = T.into(B.astype(float))
    for other in (B, np.asfortranarray(B), np.repeat(B, 2, axis=1)[:, ::2], B.astype(np.float32)):
        assert_allclose(T.into(other), expected)


@sized
def test_eigenvalues_decrease_and_are_the_matrixs(n, matrix):
    A = matrix(n)
    T = form(A)
    values, vectors = T.eigen()
    assert_allclose(values, np.linspace(2, 0.1, n), atol=1e-13)
    assert_allclose(dense(T) @ vectors, vectors * values, atol=1e-13)


def test_eigenvalues_are_not_clipped():
    assert_allclose(form(np.diag([1.0, -3.0, 2.0])).eigen()[0], [2, 1, -3])


def test_the_matrix_may_be_diagonal_already():
    T = form(np.diag([3.0, 1.0, 2.0]))
    assert_allclose(T.eigen()[0], [3, 2, 1])
    assert_allclose(
        T.solve(1.0, np.ones((3, 1))), T.into(np.linalg.solve(np.diag([4.0, 2.0, 3.0]), T.back(np.ones((3, 1)))))
    )


@sized
@pytest.mark.parametrize("shift", [0.0, 1e-3, 10.0])
def test_a_shifted_solve_is_a_dense_one(n, shift, matrix, rng):
    A, B = matrix(n), rng.standard_normal((n, 3))
    T, keep = form(A), B.copy()
    solved = T.back(T.solve(shift, T.into(B)))
    assert_allclose(solved, np.linalg.solve(A + shift * np.eye(n), B), atol=1e-11)
    T.solve(shift, B)
    assert_array_equal(B, keep)


@sized
def test_a_matrix_that_is_not_positive_definite_is_not_solved(n, matrix):
    T = form(matrix(n))
    assert T.solve(-0.5 - 2 * (n == 1), np.ones((n, 1))) is None
    # What failed leaves the form as it was.
    assert T.solve(1.0, np.ones((n, 1))) is not None


def test_a_solver_that_does_not_converge_is_named(monkeypatch):
    def give_up(*_):
        raise np.linalg.LinAlgError("LAPACK's dstedc returned info=3")

    monkeypatch.setattr("eigenpath.spectra.tridiagonal.stedc", give_up)
    with pytest.raises(ValueError, match=r"could not be decomposed: .*info=3\. Look for NaN entries"):
        form(np.eye(3)).eigen()


def test_what_lapack_refuses_is_an_error():
    with pytest.raises(np.linalg.LinAlgError, match="LAPACK's dormtr returned info=-3"):
        ormtr("X", np.eye(3, order="F"), np.zeros(2), np.ones((3, 1), order="F"))


def test_the_level_of_rounding_errors_is_kept(matrix):
    assert form(matrix(3)).level == 0
    assert form(matrix(3), level=1e-9).level == 1e-9
