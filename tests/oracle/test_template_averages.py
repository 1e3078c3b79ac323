"""Embeddings become templates by means within media first, then over the media."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import bioeval as be


def naive(x, template, media):
    """One row a template, in the order of their first rows."""
    rows = []
    for template_name in dict.fromkeys(template):
        means = []
        for medium in dict.fromkeys(media):
            frames = [
                row
                for row, a, b in zip(x, template, media, strict=True)
                if (a, b) == (template_name, medium) and not any(np.isnan(row))
            ]
            if frames:
                means.append(sum(frames) / len(frames))
        rows.append(sum(means) / len(means) if means else np.full(len(x[0]), np.nan))
    return np.array(rows)


@given(
    keys=st.lists(
        st.tuples(st.sampled_from("dacb"), st.integers(0, 2), st.booleans()), min_size=1, max_size=9
    ),
    text=st.booleans(),
)
def test_templates_are_means_of_means(keys, text):
    rng = np.random.default_rng(len(keys))
    embeddings = rng.normal(size=(len(keys), 3))
    template = [k[0] if text else "abcd".index(k[0]) for k in keys]
    media = [str(k[1]) if text else k[1] for k in keys]
    embeddings[[k[2] for k in keys], 1] = np.nan  # failed
    labels = [f"person {t}" for t in template]
    gallery = rng.normal(size=(2, 3))
    scores = be.Scores.from_embeddings(
        embeddings, labels, gallery, ["e", "f"], metric="l2", nan="reject",
        average=("template", "media"),
        probe_meta={"template": template, "media": media, "camera": [1] * len(keys)},
        gallery_meta={"template": [7, 8], "media": [1, 1]},
    )  # fmt: skip
    expected = naive(embeddings, template, media)
    distances = np.sqrt(((expected[:, None] - gallery[None]) ** 2).sum(axis=-1))
    np.testing.assert_allclose(scores.values, distances, atol=1e-12)
    assert scores.probe_labels.tolist() == list(dict.fromkeys(labels))
    assert scores.probe_meta["template"].tolist() == list(dict.fromkeys(template))
    assert "camera" in scores.probe_meta
    assert ("media" in scores.probe_meta) == all(
        len({m for t, m in zip(template, media, strict=True) if t == one}) == 1 for one in template
    )


def test_a_video_weighs_as_much_as_a_photograph():
    # One photograph and a video of three frames.
    embeddings = np.array([[1.0], [3.0], [3.0], [3.0]])
    meta = {"template": [5, 5, 5, 5], "media": ["p", "v", "v", "v"]}
    gallery_meta = {"template": [1], "media": ["p"]}
    sides = {"probe_meta": meta, "gallery_meta": gallery_meta, "metric": "l2"}
    distance = {
        names: be.Scores.from_embeddings(
            embeddings, [1] * 4, [[0.0]], [1], average=names, **sides
        ).values.item()
        for names in (("template", "media"), ("template",), "template")
    }
    assert distance == {("template", "media"): 2.0, ("template",): 2.5, "template": 2.5}


@pytest.mark.parametrize(
    ("meta", "labels", "words"),
    [
        ({"templates": [1, 1]}, ["a", "a"], "names 'template', .* Did you mean 'templates'"),
        ({"template": [1, 1]}, ["a", "b"], r"embeddings of several subjects in 1 probe template;"),
        (
            {"template": [1, None]},
            ["a", "a"],
            r"`average`: 1 probe embedding without a value in 'template', the first is probe "
            r"embedding 1 \(None, NaN or an empty text\); give each probe embedding its value",
        ),
    ],
)
def test_what_cannot_be_averaged(meta, labels, words):
    with pytest.raises(be.DataError, match=words):
        be.Scores.from_embeddings(np.eye(2), labels, probe_meta=meta, average=["template"])


def test_averages_of_a_file(tmp_path):
    rng = np.random.default_rng(0)
    embeddings, template = rng.normal(size=(12, 4)), np.repeat([3, 1, 2, 0], 3)
    np.savez(tmp_path / "x.npz", embeddings=embeddings, labels=template // 2, template=template)
    scores = be.load(tmp_path / "x.npz", average=("template",))
    assert scores.layout == "all-against-all" and scores.shape == (4, 4)
    expected = be.Scores.from_embeddings(embeddings.reshape(4, 3, 4).mean(axis=1), [1, 0, 1, 0])
    np.testing.assert_allclose(scores.values, expected.values, atol=1e-12)
    assert scores.origin.endswith("means by template of 12 embeddings of probes")
    be.save(scores, tmp_path / "matrix.npz")
    with pytest.raises(be.DataError, match="`average` has no meaning for a matrix of scores"):
        be.load(tmp_path / "matrix.npz", average=("template",))
