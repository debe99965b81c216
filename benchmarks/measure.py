"""The child's side: run one configuration once, print what it took as one line of JSON.

Usage: ``python -m benchmarks.measure '{"module": ..., "contender": ..., "options": {...}, "size": ...}'``
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

PROC = Path("/proc") / str(os.getpid())


def main(spec: dict[str, Any]) -> dict[str, Any]:
    """Time and peak memory of one run, after a small one that pays for imports and thread pools."""
    job = import_module(spec["module"]).JOB
    contender = job.contenders[spec["contender"]]
    if missing := first_missing(contender.requires):
        return {"status": "not installed", "detail": missing}

    run = partial(contender.run, **spec["options"])
    run(contender.input(job.data(job.warm_size)))
    data = job.data(spec["size"])
    given = contender.input(data)
    gc.collect()
    reset_peak()
    baseline = peak_bytes()
    start = perf_counter()
    result = run(given)
    seconds = perf_counter() - start
    peak = peak_bytes()
    answers = {name: float(value) for name, value in job.answers(result, data).items()}
    return {"status": "ok", "seconds": seconds, "memory": peak - baseline, "absolute": peak, "answers": answers}


def first_missing(modules: tuple[str, ...]) -> str | None:
    """The first of ``modules`` whose package is not there; any other failure to import is an error."""
    for module in modules:
        package = module.partition(".")[0]
        try:
            import_module(module)
        except ModuleNotFoundError as error:
            if error.name != package:
                raise
            return package
    return None


def peak_bytes() -> int:
    """Peak resident memory of this process and of the worker processes it has.

    ``ru_maxrss``, the fallback, starts from the parent's peak on Linux, cannot be reset after the data are made, and
    knows nothing of workers that still live.
    """
    if PROC.exists():
        return sum(_high_water(process) for process in _family())
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def reset_peak() -> None:
    """Forget earlier peaks, where the system can."""
    for process in _family() if PROC.exists() else []:
        with suppress(OSError):
            (process / "clear_refs").write_text("5")


def _family() -> list[Path]:
    """The folders of this process and of its descendants."""
    found = [PROC]
    for process in found:  # which grows meanwhile
        with suppress(OSError):  # a worker may end between two lines
            for thread in (process / "task").iterdir():
                found += [PROC.parent / pid for pid in (thread / "children").read_text().split()]
    return found


def _high_water(process: Path) -> int:
    with suppress(OSError):
        for line in (process / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


if __name__ == "__main__":
    print("\n" + json.dumps(main(json.loads(sys.argv[1]))), flush=True)
