"""Images of samples: which are shown, which files are never read, and the plot of worst pairs."""

import os
import re

import numpy as np
import pytest
from matplotlib.image import AxesImage
from matplotlib.text import Text
from PIL import Image

import bioeval as be
from bioeval.showing.images import Images

D = [[0, 6, 2, 3], [6, 0, 1, 4], [2, 1, 0, 5], [3, 4, 5, 0]]
PEOPLE = ["ann", "ann", "bob", "bob"]


@pytest.fixture
def folder(tmp_path):
    """Four images of one colour in a folder, and a fifth image beside it."""
    images = tmp_path / "data"
    images.mkdir()
    for i in range(4):
        Image.new("RGB", (20, 30), (40 * i, 10, 10)).save(images / f"{i}.png")
    Image.new("L", (8, 8)).save(tmp_path / "secret.png")
    return images


def pairs_of(names, column="image", **options):
    return be.worst_pairs(be.Scores(D, PEOPLE, probe_meta={column: names}, **options), 2)


def test_faces_and_own_files_are_found(folder):
    images = Images(folder=folder)
    face, own = images.find("faces:s21/3"), images.find("2.png")
    np.testing.assert_array_equal(face, be.datasets.faces().images[202])
    assert own.size == (20, 30) and own.getpixel((3, 3)) == (80, 10, 10)
    assert images.find(str(folder / "1.png")).getpixel((0, 0)) == (40, 10, 10)
    (folder / "same.png").symlink_to(folder / "3.png")  # inside the folder
    assert images.find("../data/1.png") is not None and images.find("same.png") is not None
    assert images.missing == {}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("../secret.png", "outside the folder"),
        ("{absolute}", "outside the folder"),
        ("link.png", "outside the folder"),
        ("linked/secret.png", "outside the folder"),
        ("fifo", "not a regular file"),
        ("below", "not a regular file"),
        ("", "not a regular file"),
        ("/dev/zero", "outside the folder"),
        ("text.png", "not an image"),
        ("a\x00b", "not an image"),
        ("none.png", "no such file"),
        ("faces:s99/1", "no face of this name"),
    ],
)
def test_other_files_are_never_read(folder, name, why):
    outside = folder.parent / "secret.png"
    (folder / "link.png").symlink_to(outside)
    (folder / "linked").symlink_to(folder.parent, target_is_directory=True)
    (folder / "below").mkdir()
    (folder / "text.png").write_text("%!PS-Adobe-3.0 EPSF-3.0")
    os.mkfifo(folder / "fifo")
    images = Images(folder=folder)
    assert images.find(name.format(absolute=outside)) is None
    ((missing, message),) = images.missing.items()
    assert missing == name.format(absolute=outside) and why in message
    assert "1 image could not be shown" in images.remark() and message in images.remark()


def test_worst_pairs_are_drawn_with_faces():
    worst = be.worst_pairs(be.datasets.faces("deep"), 7)
    display = be.plot.worst_pairs(worst, pairs=6)
    rows = display.drawn[""]
    for row, pairs in rows.items():
        of_row = worst.isel(pair=worst.comparison.values == row)
        assert [pair.score for pair in pairs] == of_row.score.values[:6].tolist()
        assert [pair.probe for pair in pairs] == of_row.probe_label.values[:6].tolist()
    assert len(display.ax_.findobj(AxesImage)) == 12
    texts = [text.get_text() for text in display.ax_.findobj(Text)]
    assert "Nearest impostor pairs" in texts and "Farthest genuine pairs" in texts
    assert sum(text.endswith(f"\n{rows['impostor'][0].score:.4f}") for text in texts) == 1
    assert display.ax_.get_title("left") == "Worst pairs: deep"


def test_several_systems_have_rows_of_their_own(folder):
    likeness = be.Scores(-np.array(D), PEOPLE, kind="similarity",
                         probe_meta={"image": [f"{i}.png" for i in range(4)]})  # fmt: skip
    faces = be.worst_pairs(be.datasets.faces("pixels"), 2)
    several = {"own": be.worst_pairs(likeness, 2), "pixels": faces}
    display = be.plot.worst_pairs(several, pairs=1, image_folder=folder)
    texts = [text.get_text() for text in display.ax_.texts]
    assert [text.partition(":")[0] for text in texts[-4:]] == ["own", "own", "pixels", "pixels"]
    assert len(display.ax_.findobj(AxesImage)) == 4
    (pair,) = display.drawn["own"]["impostor"]
    assert (pair.probe, pair.gallery, pair.score) == ("ann", "bob", -1)
    assert pair.pictures[0].getpixel((0, 0)) == (40, 10, 10)


def test_a_pair_in_both_directions_is_drawn_once(folder):
    """Probe and gallery hold the same images, but were given as two sides."""
    names = [f"{i}.png" for i in range(4)]
    both_directions = be.Scores(
        D, PEOPLE, PEOPLE, probe_meta={"photo": names}, gallery_meta={"photo": names}
    )  # fmt: skip
    worst = be.worst_pairs(both_directions, 6)
    assert worst.sizes["pair"] == 12
    display = be.plot.worst_pairs(worst, pairs=6, images="photo", image_folder=folder)
    result = display.drawn[""]["impostor"]
    assert [pair.score for pair in result] == [1, 2, 3]


def test_a_pair_without_a_picture_has_a_place(folder):
    worst = pairs_of(["0.png", "1.png", "gone.png", "3.png"], "photo")
    display = be.plot.worst_pairs(worst, images="photo", image_folder=folder)
    drawn = [picture.get_array() for picture in display.ax_.findobj(AxesImage)]
    assert any((half == 243).all() for array in drawn for half in np.hsplit(array, 2))


def test_what_cannot_be_drawn_says_how_images_are_given(folder):
    plain = be.worst_pairs(be.Scores(D, PEOPLE), 1)
    assert 'images="COLUMN"' in be.plot.worst_pairs(plain).why_empty
    with pytest.raises(be.DataError, match="no metadata column 'photo' of images; they have image"):
        be.plot.worst_pairs(pairs_of(list("abcd")), images="photo")
    without_files = be.plot.worst_pairs(pairs_of(list("abcd")), images="image", image_folder=folder)
    assert re.match("4 images could not be shown.*no such file", without_files.why_empty)
    with pytest.raises(be.DataError, match="be.plot.worst_pairs draws comparison"):
        be.plot.worst_pairs(plain.drop_vars("score"))


def test_a_page_reads_no_file_that_no_option_names(folder, monkeypatch):
    monkeypatch.chdir(folder)
    text = be.report(pairs_of([f"{i}.png" for i in range(4)]), folder / "x.html").read_text()
    assert "<img" not in text and "<image" not in text
