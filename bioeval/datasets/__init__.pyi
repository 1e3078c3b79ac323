"""The public names, and where each is."""

from .face_images import Faces as Faces, faces as faces
