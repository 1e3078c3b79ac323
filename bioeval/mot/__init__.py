"""Tracking: how well boxes with identities follow those of a ground truth.

``rows``, ``text`` and ``inputs`` read, ``scene`` puts both sides into frames, ``matching`` and
``identities`` assign, ``measures`` counts, ``results`` labels.
"""

from __future__ import annotations

from bioeval.mot.evaluate import tracking

__all__ = ["tracking"]
