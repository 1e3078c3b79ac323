"""Is a probe a gallery template? Scores confirm names; copies without names are said."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
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


@pytest.mark.parametrize("seed", range(4))
def test_an_honest_search_has_no_doubt(seed):
    rng, who, centres, noise = draw(seed, 4)
    d = distance(noisy(rng, centres, noise), noisy(rng, centres, noise))
    lists = be.Scores.from_top_k(np.argsort(d, axis=1)[:, :10], who, who)
    assert "copies-in-gallery" not in codes(be.reid(lists, "top-k"))


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


@pytest.mark.parametrize("share", [1, 0])
def test_names_of_embeddings_are_judged_by_the_vectors(share):
    rng, who, centres, noise = draw(5, 3)
    first = noisy(rng, centres, noise)
    second = first if share else noisy(rng, centres, noise)
    names = file_names(who)
    sides = (first, who, second[::-1], who[::-1])

    def made(**options: Any) -> be.Scores:
        return be.Scores.from_embeddings(*sides, metric="l2", **options)

    if share:
        scores = made(names=(names, names[::-1]))
        assert int(be.verification(scores).genuine_attempts) == 6 * (who[-1] + 1)
    else:
        with pytest.raises(be.DataError, match="not the same templates"):
            made(names=(names, names[::-1]))


@pytest.mark.parametrize("one_template", [True, False])
def test_names_of_a_list_are_judged_by_comparisons_of_equal_names(one_template, tmp_path, capsys):
    rng, who, centres, noise = draw(5, 2)
    first = noisy(rng, centres, noise)
    d = distance(first, first if one_template else noisy(rng, centres, noise))
    names = file_names(who)
    path = tmp_path / "list.csv"
    with path.open("w") as file:
        print("template_a,template_b,subject_a,subject_b,distance", file=file)
        for i, j in itertools.product(range(len(who)), repeat=2):
            print(f"{names[i]},{names[j]},s{who[i]},s{who[j]},{d[j, i]:.9f}", file=file)
    genuine = 2 * (who[-1] + 1)
    if one_template:
        assert int(be.verification(be.load(path)).genuine_attempts) == genuine
        return
    with pytest.raises(be.DataError, match="have one name on both sides"):
        be.load(path)
    assert int(be.verification(be.load(path, shared=True)).genuine_attempts) == genuine
    kept = be.load(path, lists={"keep": "self"})
    assert int(be.verification(kept).genuine_attempts) == 2 * genuine
    assert main(["run", str(path)]) == 2
    assert "--shared" in capsys.readouterr().err
    assert main(["run", str(path), "--shared"]) == 0


@pytest.mark.parametrize("one_template", [True, False])
def test_names_of_lists_of_a_search(one_template):
    rng, who, centres, noise = draw(6, 4)
    first = noisy(rng, centres, noise)
    d = distance(first, first if one_template else noisy(rng, centres, 0.5))
    order = np.argsort(d, axis=1)[:, :8]
    meta = {"name": np.array(file_names(who))}
    lists = {"distances": np.take_along_axis(d, order, 1), "probe_meta": meta, "gallery_meta": meta}
    if one_template:
        scores = be.Scores.from_top_k(order, who, who, **lists)
        assert not (scores.indices == np.arange(len(who))[:, None]).any()
        return
    with pytest.raises(be.DataError, match="have one name on both sides"):
        be.Scores.from_top_k(order, who, who, **lists)
    apart = be.Scores.from_top_k(order, who, who, **lists, shared=False)
    assert apart.depth == 8


# ------------------------------------------------------------------------------------------ copies


@pytest.mark.parametrize(
    "door", ["matrix", "similarities", "embeddings", "lists", "distances of lists"]
)
@pytest.mark.parametrize("order", ["first", "shuffled"])
@pytest.mark.parametrize("seed", range(3))
def test_queries_in_the_gallery_are_said(door, order, seed):
    rng, who, centres, _ = draw(seed, 4)
    x = noisy(rng, centres, 1.0)
    rows = rng.permutation(len(x))[: len(x) // 2]
    rows = np.arange(len(x) // 2) if order == "first" else rows
    d = distance(x[rows], x)
    nearest = np.argsort(d, axis=1)[:, :10]
    labels = (who[rows], who)
    if door == "embeddings":
        scores = be.Scores.from_embeddings(x[rows], who[rows], x, who, metric="l2")
    elif door == "lists":
        scores = be.Scores.from_top_k(nearest, *labels)
    elif door == "distances of lists":
        distances = np.take_along_axis(d, nearest, 1)
        scores = be.Scores.from_top_k(nearest, *labels, distances=distances)
    else:
        values, kind = MATRICES["similarities" if door == "similarities" else "distances"](d)
        scores = be.Scores(values, *labels, kind=kind)
    call = be.reid(scores, "top-k") if "lists" in door else be.verification(scores)
    if "lists" not in door:
        claims = be.verification(be.claim_scores(scores))
        assert "copies-in-gallery" in codes(claims)
    about = arguments(call, "copies-in-gallery")
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
