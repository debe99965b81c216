"""Eigenpairs, and the one place where negative eigenvalues are judged."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eigenpath.spectra.eigen import clip_spectrum, fix_signs, symmetric_eigen

EPS = np.finfo(float).eps


def test_eigenvalues_are_prescribed_ones_and_vectors_give_the_matrix_back(spectrum, psd_matrix):
    A = psd_matrix(spectrum)
    values, vectors = symmetric_eigen(A)
    assert_allclose(values, spectrum, atol=20 * EPS)
    assert_allclose(vectors.T @ vectors, np.eye(20), atol=100 * EPS)
    assert_allclose((vectors * values) @ vectors.T, A, atol=100 * EPS)


@pytest.mark.parametrize("k", [1, 3, 19, 20, 50])
def test_a_few_eigenpairs_are_the_largest(psd_matrix, k):
    A = psd_matrix(0.7 ** np.arange(20))
    values, vectors = symmetric_eigen(A, k)
    every = symmetric_eigen(A)
    assert values.shape == (min(k, 20),) and vectors.shape == (20, min(k, 20))
    assert_allclose(values, every.values[:k], rtol=1e-10)
    assert_allclose(vectors, every.vectors[:, :k], atol=1e-9)


def test_arrays_are_contiguous_and_their_own(psd_matrix):
    values, vectors = symmetric_eigen(psd_matrix(np.arange(5.0, 0, -1)))
    assert values.flags.c_contiguous and vectors.flags.c_contiguous


def test_signs_do_not_depend_on_the_solver(psd_matrix):
    vectors = symmetric_eigen(psd_matrix(0.7 ** np.arange(20))).vectors
    assert np.all(vectors[np.abs(vectors).argmax(axis=0), np.arange(20)] > 0)


def test_signs_are_fixed_in_place():
    vectors = np.array([[1.0, -0.1], [-2.0, 0.5]])
    assert fix_signs(vectors) is vectors
    assert_array_equal(vectors, [[-1, -0.1], [2, 0.5]])
    single = np.array([[-1.0]], dtype=np.float32)
    assert fix_signs(single).dtype == np.float32


@pytest.mark.parametrize("k", [None, 2])
def test_the_matrix_is_overwritten_only_if_it_may_be(psd_matrix, k):
    A = psd_matrix(0.7 ** np.arange(20))
    keep = A.copy()
    symmetric_eigen(A, k)
    assert_array_equal(A, keep)
    assert_allclose(symmetric_eigen(np.asfortranarray(A), k, overwrite=True).values, symmetric_eigen(keep, k).values)


def test_single_precision_stays_single(psd_matrix):
    A = psd_matrix(np.where(np.arange(20) < 8, 1.0, 0.0)).astype(np.float32)
    values, vectors = symmetric_eigen(A)
    assert values.dtype == vectors.dtype == np.float32
    assert np.all(values >= 0)


@pytest.mark.parametrize("k", [None, 2])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_matrix_with_holes_is_refused(bad, k):
    A = np.eye(4)
    A[0, 0] = bad
    with pytest.raises(ValueError, match=r"covariance could not be decomposed.*Look for NaN or infinite entries"):
        symmetric_eigen(A, k, name="covariance")


def test_an_indefinite_matrix_is_named_with_its_eigenvalues():
    message = (
        r"Gram is not positive semidefinite: its smallest eigenvalue is -0\.5 and its largest 2\. "
        r"Use a positive semidefinite kernel, or raise psd_tol \(now 0\.1\) to cut the negative part off\."
    )
    with pytest.raises(ValueError, match=message):
        symmetric_eigen(np.diag([2.0, -0.5]), psd_tol=0.1, name="Gram")
    assert_array_equal(symmetric_eigen(np.diag([2.0, -0.5]), psd_tol=0.25).values, [2, 0])


def test_rounding_errors_are_cut_off_whatever_their_precision():
    assert_array_equal(clip_spectrum(np.array([1.0, -1e-11, 0.5])), [1, 0, 0.5])
    with pytest.raises(ValueError, match="not positive semidefinite"):
        clip_spectrum(np.array([1.0, -1e-9]))
    assert_array_equal(clip_spectrum(np.array([1.0, -1e-5], dtype=np.float32)), [1, 0])
    with pytest.raises(ValueError, match="not positive semidefinite"):
        clip_spectrum(np.array([1.0, -1e-4], dtype=np.float32))


def test_eigenvalues_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match=r"moment could not be decomposed\. Look for NaN or infinite entries"):
        clip_spectrum(np.array([1.0, np.nan]), name="moment")


def test_the_tolerance_is_relative_to_the_largest_in_size():
    assert_array_equal(clip_spectrum(np.array([1e-200, -1e-211])), [1e-200, 0])
    with pytest.raises(ValueError, match=r"-3 and its largest 1"):
        clip_spectrum(np.array([1.0, -3.0]), psd_tol=0.9)
    assert_array_equal(clip_spectrum(np.zeros(3)), [0, 0, 0])


def test_a_level_of_rounding_errors_cuts_on_both_sides():
    assert_array_equal(clip_spectrum(np.array([1.0, 1e-3, -2e-3]), level=2e-3), [1, 0, 0])
    with pytest.raises(ValueError, match="not positive semidefinite"):
        clip_spectrum(np.array([1.0, 1e-3, -2e-3]), level=1e-3)
    assert_array_equal(symmetric_eigen(np.diag([1.0, 1e-3]), level=2e-3).values, [1, 0])
