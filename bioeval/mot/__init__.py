"""Multi-object tracking: CLEAR MOT and identity measures against a ground truth.

``inputs``, ``motchallenge_text`` and ``boxes`` read; ``sequence`` puts both sides into frames;
``matching`` and ``identity_assignment`` assign; ``measures`` counts; ``dataset`` labels; ``table``
and ``timeline`` show.
"""

from __future__ import annotations

from bioeval.mot.evaluate import tracking

__all__ = ["tracking"]
