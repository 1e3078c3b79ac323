"""Plots: displays that hold arrays and draw on a given axis; those of curves are specs.

A display picks arrays from results and computes no rate. The public way in is :mod:`bioeval.plot`.
"""

from bioeval.base.lazy import lazy_names

__getattr__, __dir__ = lazy_names(__spec__)
