"""Real data that come with bioeval: :func:`faces`, 400 images of 40 people."""

from bioeval.base.lazy import NamesByModule, lazy_names

#: The public names, by module.
_NAMES: NamesByModule = {
    "bioeval.datasets.face_images": ("Faces", "faces"),
}

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
