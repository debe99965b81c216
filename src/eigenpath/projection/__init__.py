"""Hinge loss in the leading kernel principal directions: the linear programs of the kernel projection machine."""
