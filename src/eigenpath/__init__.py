"""Kernel learning by spectral regularization: one spectrum; every filter, every parameter, every fold."""
