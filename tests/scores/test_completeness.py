"""Complete or said: searches of a part of the gallery, and transactions that lack a try."""

import json

import matplotlib as mpl
import numpy as np
import pytest
from limits import streaming

import bioeval as be
from bioeval.cli import main
from bioeval.scores.formats import losses

#: Three people at the door, one template each, who search a gallery of four.
D = np.array([[1.0, 4, 6, 7], [5, 3, 2, 8], [4, 3, 5, 9]])
DOOR, GALLERY = ["ann", "bob", "cat"], ["ann", "bob", "cat", "dan"]

#: Bob was not compared with cat, who is nearer than his mate, and cat with nobody but herself and
#: bob.
COMPARED = np.array([[1, 1, 1, 1], [1, 1, 0, 1], [0, 1, 1, 0]], dtype=bool)
NUMBERS = {"probes": 2, "searches": 3, "least": 2, "most": 4, "candidates": 4}

SEARCHES = {"open_set": be.open_set, "closed_set": be.closed_set, "ranks": be.ranks}


def said(result, code="candidates-missing"):
    """Return the arguments of the messages with a code."""
    return [dict(x.arguments) for x in be.messages(result) if x.code == code]


def door(values=D, **more):
    return be.Scores(values, DOOR, GALLERY, **more)


def embedded(make, **more):
    """Embeddings with a failed gallery template, which all probes miss."""
    probe, gallery = np.eye(4)[:3] + 0.1, np.eye(4)
    gallery[3] = np.nan
    return make(probe, DOOR, gallery, GALLERY, nan="exclude", **more)


CAMERAS = {"probe_meta": {"camera": [1] * 3}, "gallery_meta": {"camera": [2] * 4}}
#: Calls that say how many candidates there were.
SAYING = {
    **SEARCHES,
    "conventions": lambda s: be.conventions(s, cards=["frte-1n", "vehicleid"]),
    "one search of a card": lambda s: be.conventions(s, cards=["course-probe-vs-gallery"]),
    "single templates": lambda s: be.closed_set(s, gallery="single"),
}


@pytest.mark.parametrize("call", SAYING.values(), ids=SAYING)
def test_searches_say_with_how_many_candidates(call):
    assert not said(call(door(**CAMERAS)))
    failed = {"values": np.where(COMPARED, D, np.nan), **CAMERAS}
    for scores in (door(mask=COMPARED, **CAMERAS), door(**failed, nan="exclude")):
        assert said(call(scores)) == [NUMBERS]
    assert not said(call(door(**failed, nan="reject")))  # a comparison that failed was made


def test_attributes_have_the_candidates():
    names = ("incomplete_probes", "candidates_least", "candidates_most", "candidates")
    attributes = be.closed_set(door(mask=COMPARED)).attrs
    assert [attributes[x] for x in names] == [2, 2, 4, 4]
    assert "candidates" not in be.closed_set(door()).attrs


def test_repeated_searches_say_it_of_the_whole_gallery():
    """Re-identification counts templates that its convention keeps; dan is junk of the card."""
    partitions = [
        be.partition.ProbesGallery([0, 1, 2], [0, 1, 2, 3]),
        be.partition.ProbesGallery([0, 1], [0, 1, 2]),
    ]
    labels = ["1", "2", "3"], ["1", "2", "3", "-1"]
    scores = be.Scores(np.where(COMPARED, D, np.nan), *labels, nan="exclude", **CAMERAS)
    repeated = be.repeat(scores, partitions, "market1501")["reid"].to_dataset()
    assert said(repeated) == [NUMBERS | {"most": 3, "candidates": 3}]
    assert said(repeated) == said(be.reid(scores, "market1501"))


def test_what_a_protocol_leaves_out_is_not_missing():
    values = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    meta = {"session": [1, 1, 2] * 2, "camera": [1, 1, 2] * 2}
    square = be.Scores(values, list("aaabbb"), probe_meta=meta)
    itself = square.with_mask(~np.eye(6, dtype=bool))
    same = np.equal.outer(meta["session"], meta["session"])
    mates = np.equal.outer(list("aaabbb"), list("aaabbb"))
    for scores in (square, itself, itself.excluding("session"), square.select([0, 1, 3])):
        assert not said(be.closed_set(scores))
    masked = square.with_mask(~(same & mates))  # the same, said by a mask
    assert said(be.closed_set(masked))[0]["probes"] == 4
    assert not said(be.closed_set(masked.excluding("session")))
    assert not said(be.reid(masked, "market1501"))  # which removes them, too
    masked_square = square.with_mask(~(same & ~mates))
    assert said(be.reid(masked_square, "market1501"))[0]["probes"] == 6


@pytest.mark.parametrize("make", [be.Scores.from_embeddings, streaming])
def test_templates_that_failed_are_missing_in_any_layout(make):
    callable_metric = {"metric": lambda x, y: 1 - x @ y.T, "kind": "distance"}
    for options in ({}, {"dtype": "float32", "metric": "l1"}, callable_metric):
        scores = embedded(make, **options)
        assert scores.streams == (make is streaming)
        (completeness,) = said(be.closed_set(scores))
        assert completeness == {"probes": 3, "searches": 3, "least": 3, "most": 3, "candidates": 4}
        assert not said(be.closed_set(scores.select(gallery=[2, 0, 1])))
        assert said(be.closed_set(scores.select(probes=[1], gallery=[3, 1])))[0]["candidates"] == 2


@pytest.mark.parametrize("seed", range(20))
def test_the_numbers_are_those_of_a_loop(seed):
    rng = np.random.default_rng(seed)
    n = 12
    labels, camera = rng.integers(0, 4, n), rng.integers(0, 2, n)
    values = rng.random((n, n))
    values[rng.random((n, n)) < 0.05 * (seed % 3)] = np.nan
    mask = rng.random((n, n)) < 1 - 0.1 * (seed % 4)
    mask[:2] = False  # probes without any comparison are no searches
    options = {"nan": "exclude", "mask": mask, "exclude": "all:camera"}
    scores = be.Scores(values, labels, probe_meta={"camera": camera}, **options)
    rows, columns = np.sort(rng.choice(n, 7, replace=False)), rng.choice(n, 9, replace=False)
    selected, compared, candidates = scores.select(rows, columns), [], []
    for i in rows:
        cells = [j for j in columns if i != j and camera[i] != camera[j]]
        compared.append(sum(mask[i, j] and values[i, j] == values[i, j] for j in cells))
        candidates.append(len(cells))
    lists = [(a, b) for a, b in zip(compared, candidates, strict=True) if a]
    said_numbers = said(be.ranks(selected))
    if not any(a < b for a, b in lists):
        assert not said_numbers
        return
    compared, candidates = zip(*lists, strict=True)
    numbers = {"probes": sum(a < b for a, b in lists), "searches": len(lists)}
    numbers |= {"least": min(compared), "most": max(compared), "candidates": max(candidates)}
    assert said_numbers == [numbers]


def test_gallery_size_needs_all_candidates():
    message = "a part of the gallery was not compared with 2 of 3 probes"
    with pytest.raises(be.ProtocolError, match=message):
        be.gallery_size(door(mask=COMPARED))
    complete_gallery = door(mask=COMPARED).select(probes=[0, 1], gallery=[0, 1, 3])
    assert float(be.gallery_size(complete_gallery).recognition_rate[-1]) == 1


def test_other_studies_of_searches_say_so():
    scores = be.simulate(20, 4, random_state=1)
    scores = scores.with_mask(np.random.default_rng(1).random(scores.shape) < 0.9)
    folds = be.partition.SubjectKFold(2)
    assert said(be.cross_evaluate(scores, folds, task="closed_set"))
    assert not said(be.cross_evaluate(scores, folds))
    parts = [np.arange(40), np.arange(40, 80)]
    assert said(be.repeat(scores, parts, "course-all-vs-all")["closed_set"].to_dataset())
    systems = {"a": scores, "b": scores.with_values(scores.values**2, "distance")}
    assert said(be.compare(systems["a"], systems["b"], measures=["recognition_rate"]))
    assert not said(be.compare(systems["a"], systems["b"], measures=["eer"]))
    assert be.check_data(scores)["complete"].severity == "note"
    assert be.check_data(be.simulate(20, 4))["complete"].severity == "ok"


def test_the_row_of_a_probe_says_so():
    (row,) = be.explain(door(mask=COMPARED), 1, threshold=4).remarks
    assert "compared with 3 of 4 gallery templates" in row
    assert not be.explain(door(mask=COMPARED), 0, threshold=4).remarks


@pytest.mark.parametrize("draw", [be.plot.cmc, be.plot.dir_far], ids=["cmc", "dir_far"])
def test_plots_say_so_below_their_titles(draw):
    search = be.closed_set if draw is be.plot.cmc else be.open_set
    part, complete = search(door(mask=COMPARED)), search(door())

    def words(data):
        texts = draw(data).figure_.findobj(mpl.text.Text)
        return " ".join(" ".join(x.get_text() for x in texts).split())

    sentence = "each probe was compared with 2 to 4 of 4 gallery templates"
    assert sentence in words(part) and "was compared" not in words(complete)
    assert f"part: {sentence}" in words({"part": part, "whole": complete})


def visits():
    """A visit of ann and one of bob with two tries each; one of bob lacks a comparison with ann."""
    values = np.array([[0.1, 0.8], [0.9, 0.2], [0.6, 0.7], [0.0, 0.3]])
    options = {"mask": np.array([[1, 1], [1, 1], [1, 1], [0, 1]], dtype=bool)}
    options["probe_meta"] = {"visit": ["v1", "v1", "v2", "v2"]}
    return be.Scores(values, ["ann", "ann", "bob", "bob"], ["ann", "bob"], **options)


def test_a_transaction_without_a_try_is_counted_apart():
    claims = be.claim_scores(visits(), attempts="visit")
    result = be.verification(claims, thresholds=[0.2, 0.6])
    # Of bob against ann there is one try of two: no attempt, where 0.6 was one before.
    assert (int(result.genuine_attempts), int(result.impostor_attempts)) == (2, 1)
    assert result.far.values.tolist() == [1, 1] and result.frr.values.tolist() == [0.5, 0]
    assert said(result, "transactions-incomplete") == [{"genuine": 0, "impostor": 1}]
    assert (result.attrs["incomplete_genuine"], result.attrs["incomplete_impostor"]) == (0, 1)
    assert np.isnan(claims.values[1, 0])
    of_ann = be.verification(claims.select(probes=[0]))
    assert not said(of_ann, "transactions-incomplete")
    zoo = be.zoo(claims, threshold=0.5)
    assert said(zoo, "transactions-incomplete") == [{"genuine": 0, "impostor": 1}]


def test_the_check_of_claims_and_their_file_say_so():
    claims = be.claim_scores(visits(), attempts="visit")
    finding = be.check_data(visits(), claims=claims)["complete"]
    assert (finding.code, finding.count) == ("transactions-incomplete", 1)
    assert be.check_data(claims)["complete"].severity == "note"
    (lost,) = losses(claims, "claims.npz")
    assert "nor which lack tries" in lost and not losses(visits(), "scores.npz")


def test_a_list_of_candidates_names_their_number_in_the_heading(tmp_path, capsys):
    """Forty people, compared with their mates and ten others, but never with the nearest five."""
    scores = be.simulate(40, 1, layout="probe-against-gallery", probes=1, random_state=2)
    lines = ["template_a,template_b,subject_a,subject_b,distance"]
    for i, ranking in enumerate(np.argsort(scores.values, axis=1).tolist()):
        listed_templates = [j for j in ranking if j != i][5:15]
        lines += [f"g{j},p{i},s{j},s{i},{scores.values[i, j]}" for j in (i, *listed_templates)]
    path = tmp_path / "candidates.csv"
    path.write_text("\n".join(lines))
    as_matrix = [str(path), "--lists", "as=matrix"]
    assert main(["run", *as_matrix]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    heading = "each probe was compared with 11 of 40 gallery templates"
    assert printed.count(heading) == 1  # of open and closed set together
    loaded = be.load(path, lists={"as": "matrix"})
    assert said(be.closed_set(loaded))[0]["probes"] == 40
    assert main(["check", *as_matrix, "--json"]) == 0
    (check,) = (
        x for x in json.loads(capsys.readouterr().out)["findings"] if x["check"] == "complete"
    )
    assert check["code"] == "candidates-missing"
    full = be.closed_set(scores)
    assert float(full.recognition_rate) < float(be.closed_set(loaded).recognition_rate)
    assert main(["gallery-size", *as_matrix]) != 0
    assert "part of the gallery" in capsys.readouterr().err
