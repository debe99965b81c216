"""LAPACK's tridiagonal routines without the interpreter's lock, so that threads can decompose folds side by side.

SciPy's wrappers hold the lock. These call the same routines of the same library through the table of addresses that
SciPy publishes for Cython.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import cython_lapack

__all__ = ["ormtr", "stedc", "sytrd"]


@cache
def _routine(name: str, arguments: int) -> Callable[..., None]:
    """A LAPACK routine; Fortran takes every argument by address."""
    capsule = cython_lapack.__pyx_capi__[name]
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = api.PyCapsule_GetPointer(capsule, api.PyCapsule_GetName(capsule))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(address)


def _call(name: str, *arguments: Any) -> None:
    """Call a routine; arrays, whole numbers and letters become addresses, and its verdict an exception."""
    info = ctypes.c_int(0)
    held = [_cell(argument) for argument in arguments]
    _routine(name, len(held) + 1)(*[address for _, address in held], ctypes.addressof(info))
    if info.value:
        raise np.linalg.LinAlgError(f"LAPACK's {name} returned info={info.value}")


def _cell(value: Any) -> tuple[Any, int]:
    """What must stay alive during the call, and its address."""
    if isinstance(value, np.ndarray):
        return value, value.ctypes.data
    cell = ctypes.c_char(value.encode()) if isinstance(value, str) else ctypes.c_int(value)
    return cell, ctypes.addressof(cell)


def sytrd(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Turn ``A``'s lower triangle, Fortran order, into reflectors; diagonal, off-diagonal, and the reflectors' factors."""
    n = len(A)
    d, e, tau, work = np.empty(n), np.empty(max(n - 1, 1)), np.empty(max(n - 1, 1)), np.empty(64 * n)
    _call("dsytrd", "L", n, A, n, d, e, tau, work, len(work))
    return d, e[: n - 1], tau


def ormtr(trans: str, A: np.ndarray, tau: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Multiply ``C``, Fortran order, in place by the orthogonal matrix that `sytrd` left in ``A``, or its transpose."""
    n, k = C.shape
    work = np.empty(64 * max(k, 1))
    _call("dormtr", "L", "L", trans, n, k, A, n, tau, C, n, work, len(work))
    return C


def stedc(d: np.ndarray, e: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, increasing, and eigenvectors of a tridiagonal matrix, by divide and conquer."""
    n = len(d)
    values, off, vectors = d.copy(), np.append(e, 0.0), np.empty((n, n), order="F")
    work, whole = np.empty(1 + 4 * n + n * n), np.empty(3 + 5 * n, dtype=np.intc)
    _call("dstedc", "I", n, values, off, vectors, n, work, len(work), whole, len(whole))
    return values, vectors
