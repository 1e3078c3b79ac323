"""Is a probe a gallery template? Scores confirm names; copies without names are said."""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from limits import streaming
from result_messages import arguments, codes

import bioeval as be
from bioeval.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")

Draw = tuple[np.random.Generator, np.ndarray, np.ndarray, float]


def draw(seed: int, per: int | None = None) -> Draw:
    """Return a generator, the person of each template, centres of people, and the noise."""
    rng = np.random.default_rng(seed)
    per = int(rng.integers(1, 5)) if per is None else per
    who = np.repeat(np.arange(int(rng.integers(10, 30))), per)
    centres = rng.normal(size=(who[-1] + 1, int(rng.integers(4, 20))))[who]
    return rng, who, centres, float(rng.choice([0.1, 0.3, 0.6]))


def noisy(rng: np.random.Generator, centres: np.ndarray, noise: float) -> np.ndarray:
    return centres + noise * rng.normal(size=centres.shape)


def distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.linalg.norm(a[:, None] - b, axis=-1)


def saturating(d: np.ndarray) -> np.ndarray:
    """Whole numbers of a matcher whose similarity has an upper limit."""
    return np.clip(np.round(np.exp(-d) * 400), 0, 255)


def file_names(who: np.ndarray) -> list[str]:
    """Return 003_1.png for the second image of person 3, as each folder has it."""
    return [f"{person:03d}_{(who[:i] == person).sum()}.png" for i, person in enumerate(who)]


# --------------------------------------------------------------------- sound data: nothing is said

MATRICES: dict[str, Callable[[np.ndarray], tuple[np.ndarray, str]]] = {
    "distances": lambda d: (d, "distance"),
    "similarities": lambda d: (-d, "similarity"),
    "float16": lambda d: (d.astype(np.float16), "distance"),
    "saturating whole numbers": lambda d: (saturating(d), "similarity"),
    "per cent": lambda d: (np.round(100 * np.exp(-d / 4)), "similarity"),
}


@pytest.mark.parametrize("form", MATRICES)
@pytest.mark.parametrize("sides", ["one set", "one set, asymmetric", "two sessions"])
@pytest.mark.parametrize("seed", range(4))
def test_sound_data_have_no_doubt(form, sides, seed):
    rng, who, centres, noise = draw(seed)
    first = noisy(rng, centres, noise)
    second = first if sides.startswith("one") else noisy(rng, centres, noise)
    d = distance(first, second)
    if sides.endswith("asymmetric"):
        d += 0.1 * rng.random(d.shape) * ~np.eye(len(d), dtype=bool)
    values, kind = MATRICES[form](d)
    labels = (who,) if sides.startswith("one") else (who, who)
    result = be.verification(be.Scores(values, *labels, kind=kind))
    assert not {"copies-in-gallery", "not-all-against-all"} & {*codes(result)}


# ------------------------------------------------------------------------------------- equal names


@pytest.mark.parametrize("form", ["distances", "similarities", "saturating whole numbers"])
@pytest.mark.parametrize("share", [1.0, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_equal_names_of_other_images_are_a_question(form, share, seed):
    """Two sessions have the same file names in two folders."""
    rng, who, centres, noise = draw(seed, 3)
    values, kind = MATRICES[form](distance(noisy(rng, centres, 0.3), noisy(rng, centres, 0.3)))
    names = file_names(who)
    others = [x if rng.random() < share else f"other/{x}" for x in names]
    with pytest.raises(be.DataError, match="have one name on both sides") as caught:
        be.Scores(values, who, who, kind=kind, names=(names, others))
    assert "names=None" in str(caught.value) and "shared=True" in str(caught.value)
    apart = be.Scores(values, who, who, kind=kind, names=None)
    assert int(be.verification(apart).genuine_attempts) == 9 * (who[-1] + 1)
    stated = be.Scores(values, who, who, kind=kind, names=(names, others), shared=True)
    number = sum(x == y for x, y in zip(names, others, strict=True))
    assert int(be.verification(stated).genuine_attempts) == 9 * (who[-1] + 1) - number
    assert arguments(be.verification(stated), "templates-on-both-sides")["templates"] == number
    two = be.Scores(values, who, who, kind=kind, names=(names, others), shared=False)
    assert int(be.verification(two).genuine_attempts) == 9 * (who[-1] + 1)


def list_of(path: Path, d: np.ndarray, names: list[str], who: np.ndarray) -> Path:
    """Write each comparison as a line."""
    lines = ["template_a,template_b,subject_a,subject_b,distance"]
    for i, j in itertools.product(range(len(who)), repeat=2):
        lines.append(f"{names[i]},{names[j]},s{who[i]},s{who[j]},{d[j, i]:.9f}")
    path.write_text("\n".join(lines))
    return path


def nearest(d: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """The nearest entries of each query, and their distances."""
    order = np.argsort(d, axis=1)[:, :depth]
    return order, np.take_along_axis(d, order, 1)


@pytest.mark.parametrize("one_template", [True, False])
@pytest.mark.parametrize("door", ["embeddings", "tiles", "list", "lists of a search"])
def test_every_door_asks_about_equal_names_of_two_templates(door, one_template, tmp_path, capsys):
    """Judged by comparisons of equal names, by vectors, and by the nearest of each query."""
    rng, who, centres, noise = draw(5, 3)
    first = noisy(rng, centres, noise)
    second = first if one_template else noisy(rng, centres, max(noise, 0.3))
    d, names = distance(first, second), file_names(who)
    path = list_of(tmp_path / "list.csv", d, names, who)
    order, distances = nearest(d, 8)
    meta = {side: {"name": names} for side in ("probe_meta", "gallery_meta")}
    make = {
        "embeddings": lambda **options: be.Scores.from_embeddings(
            first, who, second[::-1], who[::-1], metric="l2", names=(names, names[::-1]), **options
        ),
        "tiles": lambda **options: streaming(
            first, who, second[::-1], who[::-1], metric="l2", names=(names, names[::-1]), **options
        ),
        "list": lambda **options: be.load(path, **options),
        "lists of a search": lambda **options: be.Scores.from_top_k(
            order, who, who, distances=distances, **meta, **options
        ),
    }[door]
    if not one_template:
        judged = "0% of them have equal embeddings" if door == "tiles" else "one name on both sides"
        with pytest.raises(be.DataError, match=judged):
            make()
    scores = make() if one_template else make(shared=True)
    if door == "lists of a search":
        assert not (scores.indices == np.arange(len(who))[:, None]).any()
        assert one_template or make(shared=False).depth == 8
        return
    genuine = 6 * (who[-1] + 1)
    assert int(be.verification(scores).genuine_attempts) == genuine
    if door == "list" and not one_template:
        kept = be.load(path, lists={"keep": "self"})
        assert int(be.verification(kept).genuine_attempts) == genuine + len(who)
        assert main(["run", str(path)]) == 2
        assert "--shared" in capsys.readouterr().err
        assert main(["run", str(path), "--shared"]) == 0


@pytest.mark.parametrize("form", ["distances", "similarities"])
@pytest.mark.parametrize("order", ["same order", "other order"])
@pytest.mark.parametrize("own", ["as compared", "failed", "one value"])
def test_equal_names_of_one_set_are_left_out(form, order, own):
    """A part of the gallery was searched in the whole gallery."""
    rng, who, centres, noise = draw(7, 3)
    x = noisy(rng, centres, noise)
    probes = rng.permutation(len(x))[: len(x) // 2]
    probes = np.sort(probes) if order == "same order" else probes
    values, kind = MATRICES[form](distance(x, x))
    if own != "as compared":
        np.fill_diagonal(values, np.nan if own == "failed" else values.min() - 1)
    names = np.array(file_names(who))
    scores = be.Scores(
        values[probes], who[probes], who, kind=kind, nan="exclude", names=(names[probes], names)
    )
    result = be.verification(scores)
    assert int(result.genuine_attempts) == 2 * len(probes)
    assert arguments(result, "templates-on-both-sides")["templates"] == len(probes)
    assert "copies-in-gallery" not in codes(result)


def test_coarse_scores_do_not_deny_names():
    rng, who, centres, _ = draw(3, 2)
    d = np.round(2 * distance(noisy(rng, centres, 0.1), centres) / centres.shape[1])
    names = file_names(who)
    scores = be.Scores((d + d.T) // 2, who, who, names=(names, names))
    about = arguments(be.verification(scores), "templates-on-both-sides")
    assert "too coarse" in about["how"]


# ------------------------------------------------------------------------------------------ copies


@pytest.mark.parametrize(
    "door", ["matrix", "similarities", "embeddings", "lists", "distances of lists"]
)
@pytest.mark.parametrize("order", ["first", "shuffled", "other images"])
@pytest.mark.parametrize("seed", range(3))
def test_queries_in_the_gallery_are_said(door, order, seed):
    rng, who, centres, _ = draw(seed, 4)
    x = noisy(rng, centres, 1.0)
    rows = np.arange(len(x) // 2)
    rows = rng.permutation(len(x))[: len(x) // 2] if order == "shuffled" else rows
    probes = noisy(rng, centres, 1.0)[rows] if order == "other images" else x[rows]
    d, labels = distance(probes, x), (who[rows], who)
    listed, distances = nearest(d, 10)
    if door == "embeddings":
        scores = be.Scores.from_embeddings(probes, who[rows], x, who, metric="l2")
    elif door == "lists":
        scores = be.Scores.from_top_k(listed, *labels)
    elif door == "distances of lists":
        scores = be.Scores.from_top_k(listed, *labels, distances=distances)
    else:
        values, kind = MATRICES["similarities" if door == "similarities" else "distances"](d)
        scores = be.Scores(values, *labels, kind=kind)
    is_said = order != "other images"
    results = [be.reid(scores, "top-k") if "lists" in door else be.verification(scores)]
    if "lists" not in door:
        results.append(be.verification(be.claim_scores(scores)))
    assert all(("copies-in-gallery" in codes(x)) == is_said for x in results)
    if is_said:
        about = arguments(results[0], "copies-in-gallery")
        assert about["probes"] == len(rows)
        # The order of a list tells only where further templates of the person are listed.
        assert about["copies"] >= (0.5 if door == "lists" else 1) * len(rows)


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_features_that_were_gathered_twice_are_said(share):
    """The last batch of a loader is filled up with the first templates again."""
    rng, who, centres, _ = draw(2, 4)
    x = noisy(rng, centres, 0.6)
    again = np.arange(int(share * len(x)))
    rows = np.append(np.arange(len(x)), again)
    scores = be.Scores.from_embeddings(x[rows], who[rows], metric="l2")
    about = arguments(be.verification(scores), "copies-in-gallery")
    judged = about.get("judged", len(rows))
    assert abs(about["copies"] - 2 * len(again)) <= len(rows) / judged  # of a sample of probes
    layout = be.check_data(scores)["layout"]
    assert (layout.severity, layout.code) == ("warning", "copies-in-gallery")


def test_a_single_copy_is_found_by_the_check_alone():
    rng, who, centres, _ = draw(2, 4)
    x = noisy(rng, centres, 0.6)
    scores = be.Scores.from_embeddings(
        np.append(x, x[:1], axis=0), np.append(who, who[:1]), metric="l2"
    )
    assert "copies-in-gallery" not in codes(be.verification(scores))
    assert be.check_data(scores)["layout"].count == 2


def test_excluded_copies_are_no_attempts_and_not_said():
    rng, who, centres, _ = draw(2, 4)
    x = noisy(rng, centres, 0.6)
    camera = np.arange(len(x)) % 3
    meta = {"probe_meta": {"camera": camera}, "gallery_meta": {"camera": camera}}
    d = distance(x, x)
    assert "copies-in-gallery" in codes(be.verification(be.Scores(d, who, who, **meta)))
    left_out = be.Scores(d, who, who, **meta, exclude=["camera"])
    assert "copies-in-gallery" not in codes(be.verification(left_out))
