"""Gram matrices as operators: stored, recomputed by tiles, explicit or given, behind one interface."""

from .base import Cross, Gram
from .build import build_gram
from .cross import KernelCross
from .explicit import ExplicitGram
from .kernel import DistanceTriangle, KernelGram, triangle_bytes
from .precomputed import PrecomputedGram

__all__ = [
    "Cross",
    "DistanceTriangle",
    "ExplicitGram",
    "Gram",
    "KernelCross",
    "KernelGram",
    "PrecomputedGram",
    "build_gram",
    "triangle_bytes",
]
