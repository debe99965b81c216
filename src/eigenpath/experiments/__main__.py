"""Command line: ``python -m eigenpath.experiments NAME ...``."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from . import EXPERIMENTS


def main(arguments: list[str] | None = None) -> int:
    """Run one experiment; 0 if it went through, 2 with a message if its input was not right."""
    parser = argparse.ArgumentParser(prog="python -m eigenpath.experiments", description="published experiments")
    names = parser.add_subparsers(dest="experiment", required=True, metavar="EXPERIMENT")
    modules = {name: import_module(path) for name, path in EXPERIMENTS.items()}
    for name, module in modules.items():
        summary = (module.__doc__ or "").splitlines()[0]
        module.add_arguments(names.add_parser(name, help=summary, description=summary))
    options = parser.parse_args(arguments)
    try:
        modules[options.experiment].main(options)
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
