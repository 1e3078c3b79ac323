"""Scores that tests of several studies evaluate: systems of one to six, and small ones."""

import functools

import numpy as np
from attacked import simulated_attacks

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


def spoofed(i: int) -> be.Scores:
    """Return scores with attacks of two species."""
    strengths = {"printed photograph": 0.6, "silicone mask with eye holes": 0.9}
    return simulated_attacks(40, 4, strengths, within=0.7 + 0.05 * i, random_state=i)


def attacked() -> be.Scores:
    return simulated_attacks(8, 3, {"print": 0.6, "mask": 0.9}, random_state=3)


def square() -> be.Scores:
    return be.simulate(8, 4, random_state=3)


def queries() -> be.Scores:
    """Return scores of six queries, four of enrolled people, seen by cameras."""
    rng = np.random.default_rng(0)
    return be.Scores(
        rng.random((6, 9)), list("aabbxy"), list("aaabbbccc"),
        probe_meta={"camera": [1, 2] * 3}, gallery_meta={"camera": [1, 2, 3] * 3},
    )  # fmt: skip
