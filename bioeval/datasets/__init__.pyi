"""The public names, one line for each: type checkers and the package itself read them here."""

from bioeval.datasets.face_images import Faces as Faces, faces as faces
