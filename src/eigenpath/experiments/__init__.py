"""Published experiments, run again: ``python -m eigenpath.experiments NAME --data DIR``.

An experiment is a module here with a first line that says what it is, ``add_arguments(parser)`` and ``main(options)``.
"""

EXPERIMENTS = {"kpm": "eigenpath.experiments.kpm"}
