"""Loops that numba compiles: arrays in, counts out.

A kernel knows no labels, files or protocols: it gets blocks of distances (C-contiguous rows, NaN
where there is no attempt, subjects of the gallery side by side) and integer positions. Files are
named by what their loops count, and the docstring of a loop has its definition. Files share one
step alone, the layer of a score between thresholds (``layers.py``). An edit of any file gives the
folder of compiled kernels another name (:mod:`bioeval.kernels.cache`), since numba's own cache
would not notice an edit of this step.
"""
