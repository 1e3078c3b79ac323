"""Computes the templates of eigenfaces and fisherfaces that come with bioeval.

    source .venv/bin/activate; python scripts/face_templates.py

A test compares the file with what its own machine computes.
"""

import numpy as np

from bioeval.datasets.face_images import TEMPLATES, computed_templates

np.savez_compressed(
    TEMPLATES, **{system: computed_templates(system) for system in ("eigenfaces", "fisherfaces")}
)
