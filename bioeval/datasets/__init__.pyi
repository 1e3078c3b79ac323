"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval.datasets.face_images import Faces as Faces, faces as faces
