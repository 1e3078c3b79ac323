"""Numba loops: arrays in, arrays out.

A kernel knows no labels, files or protocols: it gets blocks of distances (C-contiguous rows, NaN
where there is no attempt, subjects of the gallery side by side) and integer positions. A kernel
file calls no kernel of another file, because numba's cache would not notice an edit there; but
`tiles.py` has the steps of `whole_rows.py`, and an edit of either gives the folder of compiled
kernels another name (:mod:`bioeval.kernels.compiling`).
"""
