"""Kernel PCA of more rows than a stored matrix has room for: see `benchmarks.kernel_pca`."""

from __future__ import annotations

from functools import partial

from benchmarks.job import Contender, Job, Setting
from benchmarks.kernel_pca import FEATURES, RESIDUAL, answers, data, eigenpath

LIMIT = "1GB"

JOB = Job(
    module=__name__,
    title=f"Kernel PCA within {LIMIT}: 10 components, RBF kernel, d = {FEATURES}",
    data=data,
    contenders={
        "eigenpath": Contender(
            partial(eigenpath, n_components=10),
            requires=("eigenpath",),
            settings=(Setting(f"memory_limit={LIMIT!r}", options={"memory_limit": LIMIT}),),
        )
    },
    answers=answers,
    sizes=(50_000,),
    warm_size=600,
    own=(RESIDUAL,),
)
