"""Averages over galleries drawn at random: exact, without sampling, and by sampling beside them.

``options`` holds the choice of galleries, ``counts`` and ``sizes`` compute averages, ``sampled``
draws. ``docs/exact-galleries.md`` derives the formulas.
"""
