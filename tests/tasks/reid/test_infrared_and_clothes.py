"""The cards of infrared and of cloth-changing re-identification, beside loops from their sources.

The loops know what the papers and the authors' programs do with a query: which images it sees, the
list that the CMC counts, and which queries are left out.
"""

import numpy as np
import pytest

import bioeval as be

RANKS = [1, 2, 5]


def evaluated(distances, queries, gallery, sees, *, distinct=False):
    """Return mAP, the CMC at some ranks and the queries that have a match, query by query."""
    precisions, ranks = [], []
    for row, query in zip(distances, queries, strict=True):
        listed = [
            gallery[j]["who"] for j in np.argsort(row, kind="stable") if sees(query, gallery[j])
        ]
        places = [k for k, who in enumerate(listed, 1) if who == query["who"]]
        if not places:
            continue
        precisions.append(np.mean([i / k for i, k in enumerate(places, 1)]))
        if distinct:
            listed = list(dict.fromkeys(listed))
        ranks.append(listed.index(query["who"]) + 1)
    cmc = [np.mean([rank <= k for rank in ranks]) for k in RANKS]
    return np.mean(precisions), cmc, len(precisions)


def images(cameras, people=9, each=3, **columns):
    """Return images of people by cameras, as rows of columns, with a feature for each image."""
    rows = [
        {"who": who, "camera": camera} | {name: of(who, camera, k) for name, of in columns.items()}
        for who in range(people)
        for camera in cameras
        for k in range(each)
        if (who + k) % 4 or camera not in (2, 6)  # not everybody is seen everywhere
    ]
    rng = np.random.default_rng(len(rows))
    own = np.random.default_rng(0).normal(size=(people, 4))
    return rows, np.array([own[row["who"]] + 1.2 * rng.normal(size=4) for row in rows])


def compared(queries, gallery):
    """Return scores of two lists of images."""
    (rows, query_features), (columns, gallery_features) = queries, gallery
    sides = [{name: [row[name] for row in side] for name in side[0]} for side in (rows, columns)]
    labels = [side.pop("who") for side in sides]
    distances = np.linalg.norm(query_features[:, None] - gallery_features, axis=2)
    return be.Scores(distances, *labels, probe_meta=sides[0], gallery_meta=sides[1])


def check(result, expected):
    mean_ap, cmc, queries = expected
    assert float(result.mean_ap) == pytest.approx(mean_ap, abs=1e-12)
    assert result.cmc.sel(rank=RANKS).values == pytest.approx(cmc, abs=1e-12)
    assert int(result.queries) == queries


#: Cameras 2 and 3 of SYSU-MM01 are at one place.
PLACE = {1: 1, 2: 2, 3: 2, 4: 4, 5: 5, 6: 6}


@pytest.mark.parametrize("search", [[1, 2, 4, 5], [1, 2]], ids=["all-search", "indoor-search"])
@pytest.mark.parametrize("shots", [1, 2])
def test_sysu_mm01(search, shots):
    queries, gallery = images([3, 6]), images([1, 2, 4, 5], people=10)
    scores = compared(queries, gallery)
    splitter = be.partition.ProbeGallerySplit(
        shots,
        by=("subject", "camera"),
        enrol={"camera": search},
        too_few="enrol",
        n_repeats=3,
        random_state=1,
    )
    means = []
    for k, columns in enumerate(drawn(scores, splitter)):
        chosen = [gallery[0][j] for j in columns]
        count = {}
        for row in chosen:
            count[row["who"], row["camera"]] = count.get((row["who"], row["camera"]), 0) + 1
        enrolled = {(row["who"], row["camera"]) for row in gallery[0] if row["camera"] in search}
        assert set(count) >= {x for x in enrolled if x[0] < 9}
        assert all(n == shots for (who, _), n in count.items() if who < 9), k
        expected = evaluated(
            scores.values[:, columns],
            queries[0],
            chosen,
            lambda query, image: PLACE[query["camera"]] != PLACE[image["camera"]],
            distinct=True,
        )
        check(be.reid(scores.select(gallery=columns), "sysu-mm01"), expected)
        means.append(expected[0])
    over_galleries = be.repeat(scores, splitter, "sysu-mm01")["reid"]
    assert over_galleries["mean_ap"].values == pytest.approx(means, abs=1e-12)


def drawn(scores, splitter):
    """Return the columns of each gallery that a splitter draws of both sides, probes first."""
    m, n = scores.shape
    all_labels = np.append(scores.probe_labels, scores.gallery_labels)
    camera = np.append(scores.probe_meta["camera"], scores.gallery_meta["camera"])
    for pair in splitter.split(y=all_labels, meta={"camera": camera}):
        yield pair.gallery[pair.gallery >= m] - m


def test_ltcc():
    def clothes(who, camera, k):
        return f"{who} {(camera + k) % 3}"

    queries, gallery = (
        images([1, 2, 3], each=1, clothes=clothes),
        images([1, 2, 3], clothes=clothes),
    )
    scores = compared(queries, gallery)

    def sees(query, image):
        same = query["who"] == image["who"]
        return not same or all(query[name] != image[name] for name in ("camera", "clothes"))

    expected = evaluated(scores.values, queries[0], gallery[0], sees)
    check(be.reid(scores, "ltcc-cc"), expected)


@pytest.mark.parametrize(("card", "camera"), [("prcc", "C"), ("prcc-same-clothes", "B")])
def test_prcc(card, camera):
    """Queries of both cameras in one matrix: each card counts the queries of its camera alone."""

    def clothes(who, camera, k):
        return 2 * who + (camera == "C")

    queries, gallery = images("BC", clothes=clothes), images("A", each=1, clothes=clothes)
    scores = compared(queries, gallery)
    of_camera = [i for i, query in enumerate(queries[0]) if query["camera"] == camera]
    expected = evaluated(
        scores.values[of_camera],
        [queries[0][i] for i in of_camera],
        gallery[0],
        lambda query, image: True,
    )
    check(be.reid(scores, card), expected)
    check(be.evaluate(scores, card)["reid"], expected)


def test_conventions_have_what_the_cards_leave_out():
    """In the table of cards, too; a card whose cameras there are not says so."""

    def clothes(who, camera, k):
        return f"{who} {(camera + k) % 3}"

    queries, gallery = images([3, 6], each=1, clothes=clothes), images([1, 2], clothes=clothes)
    scores = compared(queries, gallery)
    conventions = be.conventions(scores)
    for card in ("sysu-mm01", "ltcc-cc", "prcc", "prcc-same-clothes"):
        expected = float(be.reid(scores, card).mean_ap)
        assert conventions.mean_ap.sel(card=card) == pytest.approx(expected, abs=1e-12)
    of_camera = [i for i, query in enumerate(queries[0]) if query["camera"] == 6]
    conventions = be.conventions(scores.select(probes=of_camera))
    assert conventions.why_not.sel(card="sysu-mm01").item()
