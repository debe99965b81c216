"""Rules that choose a parameter from a path."""

from __future__ import annotations

from .analytic import GCV, APriori, Balancing, Discrepancy, estimate_noise
from .base import Choice, Rule, Task
from .metrics import METRICS, Metric, as_metric, probabilities
from .resampling import HoldOut, KFoldCV, LeaveOneOut

__all__ = [
    "GCV",
    "METRICS",
    "RULES",
    "APriori",
    "Balancing",
    "Choice",
    "Discrepancy",
    "HoldOut",
    "KFoldCV",
    "LeaveOneOut",
    "Metric",
    "Rule",
    "Task",
    "as_metric",
    "as_rule",
    "estimate_noise",
    "probabilities",
]

RULES: dict[str, type[Rule]] = {
    "cv": KFoldCV,
    "loo": LeaveOneOut,
    "gcv": GCV,
    "holdout": HoldOut,
    "discrepancy": Discrepancy,
    "balancing": Balancing,
    "a_priori": APriori,
}


def as_rule(rule: str | Rule) -> Rule:
    """A `Rule` from a name in `RULES`, or the rule itself.

    Examples
    --------
    >>> as_rule("gcv")
    GCV()
    """
    if isinstance(rule, Rule):
        return rule
    if isinstance(rule, str) and rule in RULES:
        return RULES[rule]()
    raise ValueError(f"rule must be a Rule or one of {', '.join(map(repr, RULES))}, got {rule!r}.")
