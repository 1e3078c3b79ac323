"""Galleries that are drawn at random: their averages without sampling, and sampling beside them.

:mod:`~bioeval.exact.galleries` says what may be asked for, :mod:`~bioeval.exact.expectations`
works averages out, :mod:`~bioeval.exact.sampled` draws, and the ``sizes`` modules average over
galleries of fewer subjects. ``docs/exact-galleries.md`` derives the formulas.
"""
