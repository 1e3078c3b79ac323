"""Averages over galleries drawn at random: exact, and by sampling.

``options`` holds the choice of galleries, ``counts`` and ``sizes`` compute averages, ``sampled``
draws. ``docs/exact-galleries.md`` derives the formulas.
"""
