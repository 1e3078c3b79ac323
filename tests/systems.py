"""Scores that tests of several studies evaluate: systems of one to six, and small ones."""

import functools

import numpy as np

import bioeval as be

NAMES = (
    "ResNet-100, ArcFace, WebFace42M, flip-averaged",
    "ViT-B/16 fine-tuned on faces of two cameras",
    "vendor 3, release 2026-05-17, fast templates",
    "EER 0.02 baseline",
    "fusion of all systems by logistic regression",
    "periocular, left and right eye, infrared light",
)


@functools.cache
def scores(i: int = 0, dimensions: int = 20) -> be.Scores:
    """Return scores of system `i`; each system is worse than its predecessor."""
    within = 0.62 + 0.05 * i
    return be.simulate(30, 4, dimensions=dimensions, within=within, random_state=i)


def square() -> be.Scores:
    return be.simulate(8, 4, random_state=3)


def queries() -> be.Scores:
    """Return scores of six queries, four of enrolled people, seen by cameras."""
    rng = np.random.default_rng(0)
    return be.Scores(
        rng.random((6, 9)), list("aabbxy"), list("aaabbbccc"),
        probe_meta={"camera": [1, 2] * 3}, gallery_meta={"camera": [1, 2, 3] * 3},
    )  # fmt: skip
