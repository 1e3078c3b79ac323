"""Multi-object tracking: CLEAR MOT, identity measures and HOTA against a ground truth.

``inputs``, ``motchallenge_text`` and ``boxes`` read; ``sequence`` puts both sides into frames;
``matching`` assigns; ``measures`` counts; ``evaluate`` labels; ``table`` and ``timeline`` show.
"""

from __future__ import annotations

from bioeval.mot.check import check_tracks
from bioeval.mot.evaluate import tracking

__all__ = ["check_tracks", "tracking"]
