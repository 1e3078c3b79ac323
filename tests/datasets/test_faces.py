"""The faces that come with bioeval, and the systems that compare them.

Rates were computed by scikit-learn and plain loops on the same images, outside of bioeval.
"""

import hashlib
import json

import numpy as np
import pytest
from named_arguments import refused
from scipy.spatial.distance import pdist

import bioeval as be
from bioeval.cli import main
from bioeval.datasets.face_images import computed_templates, image_of, templates_of

#: EER of single-template verification, AUC, rank-1 rate: all-against-all by Euclidean distance.
MEASURED = {
    ("eigenfaces", "euclidean", "unseen"): (0.18305263157894736, 0.9081214619883041, 0.975),
    ("eigenfaces", "cosine", "unseen"): (0.21999999999999997, 0.8528754385964912, 0.975),
    ("deep", "l2", "all"): (0.0033333333333332993, 0.9999544017094018, 1.0),
    ("deep", "euclidean", "unseen"): (0.0022222222222222365, 0.9999835087719298, 1.0),
}


@pytest.mark.parametrize("given", MEASURED)
def test_rates_are_those_measured_elsewhere(given):
    system, metric, people = given
    scores = be.datasets.faces(system, metric=metric, people=people)
    assert scores.name == system
    single, ranked = be.verification(scores), be.closed_set(scores)
    rates = single.eer.item(), single.auc.item(), ranked.cms.values[0]
    # Descriptors are stored as float16: one attempt in 78,000 may change its side.
    np.testing.assert_allclose(rates, MEASURED[given], atol=2e-5)


def test_images_are_the_original_ones():
    data = be.datasets.faces()
    assert data.images.shape == (400, 64, 64) and data.images.dtype == np.uint8
    assert hashlib.sha256(data.images.tobytes()).hexdigest() == (
        "a3f75007cc103363b61a63e06bec8ea4846407682ef6e7c9ae1eb9c1bd0e8a00"
    )
    assert data.people[[0, 9, 10, 399]].tolist() == ["s1", "s1", "s2", "s40"]
    assert data.image_ids[[0, 399]].tolist() == ["faces:s1/1", "faces:s40/10"]
    with pytest.raises(ValueError, match="read-only"):
        data.images[0] = 0


@pytest.mark.slow
@pytest.mark.parametrize("system", ["pixels", "eigenfaces"])
def test_templates_are_of_the_grey_values_divided_by_255_as_documented(system, root):
    """The distance of two images from their grey values, and from 64 components by an SVD."""
    values = be.datasets.faces().images.reshape(400, -1) / 255
    templates = values[200:]
    if system == "eigenfaces":
        mean = values[:200].mean(axis=0)
        _, _, axes = np.linalg.svd(values[:200] - mean, full_matrices=False)
        templates = (templates - mean) @ axes[:64].T
    expected = np.linalg.norm(templates[0] - templates[13])
    scores = be.datasets.faces(system)
    np.testing.assert_allclose(np.asarray(scores.values)[0, 13], expected, rtol=1e-9)
    assert "divided by 255" in be.datasets.faces.__doc__
    assert "divided by 255" in (root / "docs/course/faces.md").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("system", ["eigenfaces", "fisherfaces"])
def test_stored_templates_are_those_that_are_computed(system):
    """Distances are equal up to a factor; a library of linear algebra may reverse a component."""
    stored, computed = templates_of(system), computed_templates(system)
    assert stored.shape == computed.shape
    ratio = pdist(stored) / pdist(computed)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
    # Older versions of scikit-learn divide the scatter within people by other degrees of freedom.
    assert np.isclose(ratio[0], [1, 0.9**-0.5], rtol=1e-9).any()


def test_templates_carry_their_images():
    data, scores = be.datasets.faces(), be.datasets.faces("fisherfaces")
    names = scores.probe_meta["image"]
    assert names[0] == "faces:s21/1" and scores.probe_labels[0] == "s21"
    np.testing.assert_array_equal(image_of(names[13]), data.images[213])
    assert image_of("faces:s41/1") is None and image_of("s1/1.pgm") is None
    worst = be.worst_pairs(scores, 3)
    assert all(image_of(name) is not None for name in worst.probe_meta_image.values)


def test_a_system_is_not_judged_on_the_people_it_was_fitted_on():
    """On the people of the fit the error is far smaller; all people together are refused."""
    unseen, error_of_seen = (
        be.verification(be.datasets.faces("fisherfaces", people=people)).eer.item()
        for people in ("unseen", "seen")
    )
    assert error_of_seen < unseen / 10
    with refused("people is 'all', but eigenfaces are fitted on"):
        be.datasets.faces("eigenfaces", people="all")
    with refused("`system` is 'vgg'.*eigenfaces"):
        be.datasets.faces("vgg")


def test_the_command_writes_the_scores(tmp_path, capsys):
    out = tmp_path / "faces.npz"
    line = ["example", "faces", "--system", "deep", "--metric", "cosine", "--out", str(out)]
    assert main([*line, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["subjects"] == 20
    expected = be.datasets.faces("deep", metric="cosine")
    loaded = be.load(out)
    np.testing.assert_array_equal(loaded.values, expected.values)
    assert loaded.probe_meta["image"].tolist() == expected.probe_meta["image"].tolist()
    assert main(line) == 2
    assert "--force" in capsys.readouterr().err
    assert main([*line, "--force"]) == 0


def test_the_command_lists_what_there_is(capsys):
    assert main(["example"]) == 0
    listing = capsys.readouterr().out
    assert all(system in listing for system in ("eigenfaces", "fisherfaces", "pixels", "deep"))
    assert main(["example", "faces", "--out", "x.npz"]) == 2
    assert "--system" in capsys.readouterr().err
