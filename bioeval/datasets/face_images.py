"""The Database of Faces, and four systems that recognise them.

Images: AT&T Laboratories Cambridge (formerly Olivetti Research Laboratory), 1992 to 1994, in the
64 x 64 version of S. Roweis. Reference: F. Samaria and A. Harter, "Parameterisation of a
stochastic model for human face identification", 2nd IEEE Workshop on Applications of Computer
Vision, Sarasota 1994.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from bioeval.base.arguments import require_choice, require_integer, require_text
from bioeval.base.errors import DataError
from bioeval.scores.matrix import Scores

if TYPE_CHECKING:
    from bioeval.scores.embeddings import Metric

NUMBER_OF_PEOPLE = 40
IMAGES = 10  # images of each person
SIDE = 64  # pixels

#: Number of people in the training of eigenfaces and fisherfaces; the others are evaluated.
TRAINING_PEOPLE = 20

#: Number of principal components of which templates are stored.
COMPONENTS = 64

#: Each system with its kind of template.
SYSTEMS = {
    "eigenfaces": "principal components of the images (Turk and Pentland, 1991)",
    "fisherfaces": "linear discriminants of the components (Belhumeur et al., 1997)",
    "pixels": "the images themselves, without a model",
    "deep": "descriptors of a deep network (dlib, 2017)",
}

#: Systems whose model is fitted on some of the people.
_FITTED_SYSTEMS = ("eigenfaces", "fisherfaces")

#: The rows of the people who are compared with each other.
_ROWS = {
    "unseen": slice(TRAINING_PEOPLE * IMAGES, None),
    "seen": slice(0, TRAINING_PEOPLE * IMAGES),
    "all": slice(0, None),
}

#: How the name of an image begins, in the metadata column ``image``.
SCHEME = "faces:"

_FOLDER = Path(__file__).parent

#: Where scripts/face_templates.py has written the templates of systems that are fitted.
TEMPLATES = _FOLDER / "face_templates.npz"


@dataclass(frozen=True, eq=False)
class Faces:
    """Images of faces, with the person on each image.

    Attributes
    ----------
    images : ndarray of uint8, shape (400, 64, 64)
        Grey values, from 0 (black) to 255 (white). The systems divide them by 255.
    people : ndarray of str, shape (400,)
        The person on each image: ``"s1"`` to ``"s40"``, ten images each.
    image_ids : ndarray of str, shape (400,)
        Name of each image, such as ``"faces:s21/3"``; plots and pages find the image by it.
    descriptors : ndarray of float32, shape (400, 128)
        Descriptors of a deep network, to be compared by Euclidean distance.
    DESCR : str
        Origin, terms and reference.
    """

    images: np.ndarray = field(repr=False)
    people: np.ndarray = field(repr=False)
    image_ids: np.ndarray = field(repr=False)
    descriptors: np.ndarray = field(repr=False)
    DESCR: str = field(repr=False)

    def __repr__(self) -> str:
        """Return the numbers of images and of people."""
        people = len(np.unique(self.people))
        side = self.images.shape[1:]
        return f"<Faces: {len(self.images)} images of {people} people, {side[0]} x {side[1]} grey>"


@overload
def faces() -> Faces: ...
@overload
def faces(
    system: Literal["eigenfaces", "fisherfaces", "pixels", "deep"],
    *,
    metric: Metric = "euclidean",
    people: Literal["unseen", "seen", "all"] = "unseen",
    components: int = COMPONENTS,
) -> Scores: ...
def faces(
    system: str | None = None,
    *,
    metric: Metric = "euclidean",
    people: str = "unseen",
    components: int = COMPONENTS,
) -> Faces | Scores:
    """Real faces: 400 images of 40 people, or the distances that a system finds between them.

    The Database of Faces (AT&T Laboratories Cambridge): ten images each, taken between April 1992
    and April 1994, with varied light, expression and glasses.

    Parameters
    ----------
    system : {"eigenfaces", "fisherfaces", "pixels", "deep"}, optional
        Recognition system whose templates are compared; without one, the images themselves.
        ``pixels`` are the grey values, divided by 255 and so from 0 to 1; ``eigenfaces`` principal
        components of these values, ``fisherfaces`` linear discriminants of the components, and
        ``deep`` the 128-dimensional descriptors of a deep network that was trained on other people.
    metric : str
        As for :meth:`bioeval.Scores.from_embeddings`.
    people : {"unseen", "seen", "all"}
        People compared: 21 to 40, 1 to 20 (those of the training), or all. Eigenfaces and
        fisherfaces are fitted on people 1 to 20. A system must not be judged by the people of its
        training: ``"seen"`` shows by how much the figures of fisherfaces, fitted to the labels, are
        too good.
    components : int
        Number of principal components of eigenfaces and fisherfaces. The other systems ignore it.

    Returns
    -------
    Faces or Scores
        The images, their people and descriptors; or, for a system, all-against-all distances.
        The metadata column ``image`` names the image of each template, and plots of the worst
        pairs, explanations and pages show it.

    Raises
    ------
    DataError
        If there is no such system, or its figures would mix seen and unseen people.

    References
    ----------
    F. Samaria and A. Harter, "Parameterisation of a stochastic model for human face
    identification", 2nd IEEE Workshop on Applications of Computer Vision, 1994.
    M. Turk and A. Pentland, "Eigenfaces for recognition", Journal of Cognitive Neuroscience 3(1),
    1991. P. N. Belhumeur, J. P. Hespanha and D. J. Kriegman, "Eigenfaces vs. Fisherfaces", IEEE
    TPAMI 19(7), 1997. D. E. King, "High quality face recognition with deep metric learning", 2017.

    Examples
    --------
    >>> import bioeval as be
    >>> be.datasets.faces()
    <Faces: 400 images of 40 people, 64 x 64 grey>
    >>> scores = be.datasets.faces("eigenfaces")
    >>> print(round(be.verification(scores).eer.item(), 3))
    0.183
    """
    if system is None:
        return _all_faces()
    require_choice("system", system, SYSTEMS)
    require_choice("people", people, _ROWS)
    rows = _ROWS[people]
    require_text("metric", metric)
    if system in _FITTED_SYSTEMS and people == "all":
        raise DataError(
            f"people is 'all', but {system} are fitted on people 1 to {TRAINING_PEOPLE}: expected "
            f"'unseen', or 'seen' for people 1 to {TRAINING_PEOPLE} alone"
        )
    return Scores.from_embeddings(
        templates_of(system, components)[rows],
        _people()[rows],
        metric=metric,
        probe_meta={"image": _image_ids()[rows]},
        name=system,
    )


def image_of(name: str) -> np.ndarray | None:
    """Return the face with a name such as ``"faces:s21/3"``; None if no face has the name."""
    rows = np.flatnonzero(_image_ids() == name)
    if not len(rows):
        return None
    return _all_faces().images[rows[0]]


@functools.cache
def _all_faces() -> Faces:
    from PIL import Image

    with Image.open(_FOLDER / "faces.png") as sheet:  # a row for each person, ten images wide
        grey = np.asarray(sheet)
    # (person, y, image, x) becomes (person, image, y, x), and then (image, y, x).
    by_person = grey.reshape(NUMBER_OF_PEOPLE, SIDE, IMAGES, SIDE).swapaxes(1, 2)
    images = by_person.reshape(-1, SIDE, SIDE)
    images.setflags(write=False)
    about = (_FOLDER / "FACES.txt").read_text("utf-8")
    return Faces(images, _people(), _image_ids(), _descriptors(), about)


@functools.cache
def _people() -> np.ndarray:
    people = np.repeat([f"s{person}" for person in range(1, NUMBER_OF_PEOPLE + 1)], IMAGES)
    people.setflags(write=False)
    return people


@functools.cache
def _image_ids() -> np.ndarray:
    numbers = np.tile(np.arange(1, IMAGES + 1), NUMBER_OF_PEOPLE)
    ids = np.array([f"{SCHEME}{person}/{k}" for person, k in zip(_people(), numbers, strict=True)])
    ids.setflags(write=False)
    return ids


@functools.cache
def _descriptors() -> np.ndarray:
    descriptors = np.load(_FOLDER / "face_descriptors.npy", allow_pickle=False).astype(np.float32)
    descriptors.setflags(write=False)
    return descriptors


def templates_of(system: str, components: int = COMPONENTS) -> np.ndarray:
    """Return the templates of a system, a row for each image."""
    if system == "deep":
        return _descriptors()
    if system in _FITTED_SYSTEMS:
        require_integer("components", components, low=1, high=TRAINING_PEOPLE * IMAGES)
        if components == COMPONENTS:  # templates of this number are stored
            with np.load(TEMPLATES, allow_pickle=False) as stored:
                return stored[system]
    return computed_templates(system, components)


def computed_templates(system: str, components: int = COMPONENTS) -> np.ndarray:
    """Return the templates of pixels, or of a model that is fitted now, on the seen people."""
    data = _all_faces()
    grey = data.images.reshape(len(data.images), -1) / 255
    if system == "pixels":
        return grey
    from sklearn.decomposition import PCA

    fitted = _ROWS["seen"]
    pca = PCA(components, svd_solver="full").fit(grey[fitted])
    projected = pca.transform(grey)
    if system == "eigenfaces":
        return projected
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    lda = LinearDiscriminantAnalysis().fit(projected[fitted], data.people[fitted])
    return lda.transform(projected)
