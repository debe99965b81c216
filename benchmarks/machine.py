"""The machine a table was made on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy  # noqa: F401  (so that its BLAS is listed)
import scipy.linalg  # noqa: F401
from threadpoolctl import threadpool_info

PACKAGES = ("eigenpath", "numpy", "scipy", "scikit-learn", "himalaya")


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine_facts() -> str:
    """Processor, cores, memory, load, BLAS and versions, in three lines."""
    blas = {f"{pool['internal_api']} {pool['version']}" for pool in threadpool_info() if pool["user_api"] == "blas"}
    versions = [f"{name} {_version(name)}" for name in PACKAGES]
    return "\n".join(
        [
            f"{_processor()}, {cores()} cores, {_memory()}, load {_load()}, {platform.system()}",
            f"BLAS: {', '.join(sorted(blas))}",
            f"Python {platform.python_version()}, {', '.join(versions)}",
        ]
    )


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    except (AttributeError, ValueError, OSError):
        return "memory unknown"


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
