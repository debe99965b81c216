"""Optional packages: import one, or say which extra brings it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def require(module: str, extra: str) -> ModuleType:
    """Import ``module``, or raise an ``ImportError`` that names the extra to install."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f"this needs the optional package {package!r}; install it with: pip install 'eigenpath[{extra}]'"
        ) from error
