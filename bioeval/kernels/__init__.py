"""Numba loops: arrays in, arrays out.

A kernel knows no labels, files or protocols: it gets blocks of distances (C-contiguous rows, NaN
where there is no attempt, subjects of the gallery side by side) and integer positions. A kernel
file may have steps of another; an edit of any gives the folder of compiled kernels another name
(:mod:`bioeval.kernels.compiling`), since numba's cache would not notice it.
"""
