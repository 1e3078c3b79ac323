"""Pairs of one subject that agree in a metadata column are left out, in every task."""

import naive_reid
import numpy as np
import pytest
from limits import streaming
from named_arguments import refused
from reference import assert_all_tasks

import bioeval as be

#: What is left out, with values of a probe and of a gallery template in place of A and B.
FORMS = [
    *(("session",), ("session", "camera"), ("camera!=",), ("camera=A/B", "session")),
    *(("all:session",), ("all:camera!=",), ("all:camera=A/B", "session!=")),
]


@pytest.mark.parametrize("square", [True, False])
@pytest.mark.parametrize("policy", ["reject", "exclude"])
def test_failures_that_are_left_out_are_not_counted(square, policy):
    """Failed comparisons of a template with itself, of a session, or masked are left out."""
    rng, probe, gallery = drawn(4, square, templates=(9, 12))
    m, n = len(probe["label"]), len(gallery["label"])
    values, mask = rng.random((m, n)), rng.random((m, n)) < 0.8
    values[rng.random((m, n)) < 0.4] = np.nan
    expected = [0, 0]
    for i in range(m):
        for j in range(n):
            same = probe["label"][i] == gallery["label"][j]
            session = probe["session"][i] == gallery["session"][j]
            left_out = square and i == j or not mask[i, j] or same and session
            expected[not same] += bool(np.isnan(values[i, j]) and not left_out)
    sides = (probe,) if square else (probe, gallery)
    names = ("probe_meta", "gallery_meta")
    meta = {k: {"session": x["session"]} for k, x in zip(names, sides, strict=False)}
    options = {"mask": mask, "nan": policy, "exclude": ["session"], **meta}
    scores = be.Scores(values, *(x["label"] for x in sides), **options)
    assert min(expected) > 0 and list(scores.failures) == expected
    said = [x.arguments for x in be.messages(be.verification(scores)) if x.code == "failures"]
    assert [(x["genuine"], x["impostor"]) for x in said] == [tuple(expected)]


def drawn(seed, square, *, templates):
    """Return labels and columns of both sides, the probes first."""
    rng = np.random.default_rng(seed)
    m, n = rng.integers(*templates, 2).tolist()
    sides = []
    for size in (m, m if square else n):
        sides.append({"label": rng.integers(0, 3, size)})
        sides[-1] |= {"session": rng.integers(0, 2, size), "camera": rng.integers(0, 3, size)}
    if square:
        sides[1] = sides[0]
    return rng, *sides


def named(forms, probe, gallery):
    """Return the forms with two cameras that there are."""
    return [x.replace("A/B", f"{probe['camera'][0]}/{gallery['camera'][-1]}") for x in forms]


def left_out(exclude, mates, probe, gallery):
    """Whether two templates are not compared, from the forms of `exclude` alone."""
    for form in exclude:
        rule = form.removeprefix("all:")
        column = rule.partition("=")[0].removesuffix("!")
        values = probe[column], gallery[column]
        if "/" in rule:
            holds = [*map(str, values)] == rule.partition("=")[2].split("/")
        else:
            holds = (values[0] == values[1]) != rule.endswith("!=")
        if holds and (mates or form.startswith("all:")):
            return True
    return False


def remover(exclude, probe, gallery):
    """Return a function that says whether a cell is left out."""

    def removed(i, j):
        mates = probe["label"][i] == gallery["label"][j]
        sides = ({k: x[at] for k, x in side.items()} for side, at in ((probe, i), (gallery, j)))
        return left_out(exclude, mates, *sides)

    return removed


@pytest.mark.parametrize("forms", FORMS, ids=" ".join)
@pytest.mark.parametrize("layout", ["square", "embeddings", "npz"])
def test_every_form_in_every_layout(forms, layout, tmp_path):
    square = layout in ("square", "embeddings")
    rng, probe, gallery = drawn(5, square, templates=(20, 30))
    exclude = named(forms, probe, gallery)
    x = rng.integers(0, 9, (len(probe["label"]), 3)).astype(float)
    y = x if square else rng.integers(0, 9, (len(gallery["label"]), 3))
    values = np.linalg.norm(x[:, None] - y, axis=-1)
    meta = {"probe_meta": probe, "gallery_meta": None if square else gallery}
    labels = probe["label"], None if square else gallery["label"]
    if layout == "embeddings":
        options = {"metric": "l2", "probe_meta": probe, "exclude": exclude}
        scores = streaming(x, labels[0], **options)
        assert scores.streams
    else:
        scores = be.Scores(values, *labels, **meta)
        if not square:
            be.save(scores, tmp_path / f"scores.{layout}")
            scores = be.load(tmp_path / f"scores.{layout}")
        scores = scores.excluding(*exclude)
    removed = remover(exclude, probe, gallery)
    mask = [
        [0 if removed(i, j) else 1 + (a == b) for j, b in enumerate(gallery["label"])]
        for i, a in enumerate(probe["label"])
    ]
    case = {
        "values": values.tolist(),
        "probe_labels": probe["label"].tolist(),
        "gallery_labels": None if square else gallery["label"].tolist(),
        "mask": mask,
    }
    assert_all_tasks(scores, [3.0, 5.0, 8.0], **case)
    expected = naive_reid.reid(
        case, (probe["camera"], gallery["camera"]), removed="none", ties="stable"
    )
    result = be.reid(scores, "vehicleid")
    assert float(result.mean_ap) == pytest.approx(float(expected.mean_ap))
    assert int(result.queries) == expected.queries


def test_wrong_columns_are_refused():
    distances = np.ones((2, 2))
    with refused("'session', but the probe metadata have no such column; there are"):
        be.Scores(distances, [1, 2], exclude=("session",))
    with refused("the gallery metadata have no such column"):
        be.Scores(distances, [1, 2], [1, 2], probe_meta={"camera": [1, 2]}, exclude=("camera",))
    mask = np.array([[0, 1], [1, 0]])
    with refused("exclude needs labels"):
        be.Scores(distances, mask=mask, probe_meta={"session": [1, 1]}, exclude=("session",))
    with pytest.raises(be.ProtocolError, match="pair list"):
        be.Scores.from_pairs([0.1], [True]).excluding("session")
    scores = be.Scores(distances, [1, 1], probe_meta={"session": [1, 1]}, exclude=("session",))
    with refused("1 pair left out by exclude=session"):
        scores.at_pairs([0], [1])


@pytest.mark.parametrize(
    ("exclude", "message"),
    [
        ("camera=3", "expected COLUMN"),
        ("camera=3/2/1", "expected COLUMN"),
        ("session,camera", "expected COLUMN"),
        ("camera=3/7", "no template has the camera '7'; there are 1, 2, 3"),
        ("all:kamera=3/2", "Did you mean 'camera'"),
    ],
)
def test_what_is_no_form_is_refused(exclude, message):
    meta = {"camera": [1, 2, 3]}
    with refused(message):
        be.Scores(np.ones((3, 3)), [1, 1, 2], probe_meta=meta, exclude=exclude)


def test_exclusions_of_embeddings_are_a_list_or_text():
    with refused("`exclude` is 3; expected a list"):
        be.Scores.from_embeddings(np.ones((3, 2)), [1, 1, 2], metric="l2", exclude=3)
