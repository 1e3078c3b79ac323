"""Which layouts of scores a card takes is one rule, for every function and command.

A card takes its own layout; one of re-identification or GOM alone takes any matrix, in which a
query that is itself in the gallery is not compared with itself. Top-K lists answer conventions,
GOM, and open-set identification alone.
"""

import functools

import naive_reid
import numpy as np
import pytest

import bioeval as be
from bioeval.protocol import available, load

SQUARE, RECTANGLE, PAIRS, LISTS = (
    "all-against-all", "probe-against-gallery", "pairs", "top-k"
)  # fmt: skip
FROM_GALLERY = "probes from the gallery"
OWN = {SQUARE: {SQUARE, FROM_GALLERY}, RECTANGLE: {RECTANGLE}, PAIRS: {PAIRS}}
MATRICES = {SQUARE, FROM_GALLERY, RECTANGLE}

RNG = np.random.default_rng(7)
WHO, CAMERA = np.repeat(np.arange(24), 4), np.tile(np.arange(4), 24)
FEATURES = RNG.normal(size=(24, 8))[WHO] + 0.6 * RNG.normal(size=(96, 8))
DISTANCES = np.linalg.norm(FEATURES[:, None] - FEATURES, axis=-1)
COLUMNS = {"camera": CAMERA, "session": CAMERA % 2, "fold": WHO % 4}
PROBES, GALLERY = np.flatnonzero(CAMERA == 0), np.flatnonzero(CAMERA > 0)

#: A card of each kind: conventions, GOM, the tasks of each layout, folds, several galleries.
CARDS = (
    "market1501", "cuhk03", "vehicleid", "gom-market1501", "top-k", "course-all-vs-all",
    "course-probe-vs-gallery", "course-kfold-pairs", "fvc2004", "frte-1n", "ijbc-1n", "voxceleb",
)  # fmt: skip


def columns_of(rows: np.ndarray) -> dict[str, np.ndarray]:
    return {name: column[rows] for name, column in COLUMNS.items()}


def pair_list() -> be.Scores:
    i, j = np.triu_indices(96, 1)
    chosen = np.flatnonzero((WHO[i] == WHO[j]) | (RNG.random(len(i)) < 0.2))
    i, j = i[chosen], j[chosen]
    subjects = np.stack([WHO[i], WHO[j]], axis=1)
    return be.Scores.from_pairs(DISTANCES[i, j], WHO[i] == WHO[j], subjects=subjects)


@functools.cache
def layouts() -> dict[str, be.Scores]:
    square = be.Scores(DISTANCES, WHO, probe_meta=COLUMNS)
    part = DISTANCES[np.ix_(PROBES, GALLERY)]
    sides = WHO[PROBES], WHO[GALLERY]
    meta = {"probe_meta": columns_of(PROBES), "gallery_meta": columns_of(GALLERY)}
    order = np.argsort(part, axis=1)[:, :20]
    nearest = np.take_along_axis(part, order, axis=1)
    return {
        SQUARE: square,
        FROM_GALLERY: square.select(PROBES, range(96)),
        RECTANGLE: be.Scores(part, *sides, **meta),
        PAIRS: pair_list(),
        LISTS: be.Scores.from_top_k(order, *sides, distances=nearest, **meta),
    }


CALLS = {
    "evaluate": be.evaluate,
    "summary": be.summary,
    "check_data": be.check_data,
    "repeat": lambda s, card: be.repeat(
        s, [be.partition.ProbesGallery(range(20), range(s.shape[1]))], card
    ),
}

#: Layouts that a call has no answer for, whatever the card; it says so in its own words.
NEVER = {"repeat": {PAIRS, LISTS}}


def taken(card: str) -> set[str]:
    """Return the layouts that a card takes: the rule in words, from the tasks of the card."""
    tasks = set(load(card).tasks)
    if tasks <= {"reid", "gom"}:
        return MATRICES if "gom" in tasks else MATRICES | {LISTS}
    return OWN[load(card).layout]


def refusal(call, *arguments) -> str:
    """Return the error of a call, empty without an error."""
    try:
        call(*arguments)
    except be.BioevalError as error:
        return str(error)
    return ""


@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
@pytest.mark.parametrize("card", CARDS)
def test_every_function_takes_the_layouts_of_a_card_and_no_others(card):
    of_search = set(load(card).tasks) <= {"reid", "gom"}
    for layout, scores in layouts().items():
        for name, call in CALLS.items():
            if layout in NEVER.get(name, ()):
                continue
            text = refusal(call, scores, card)
            about_layout = "is for the layout" in text or "nearest alone" in text
            if layout not in taken(card):
                assert about_layout, (name, layout, text)
            else:
                assert not about_layout, (name, layout, text)
                if of_search and layout != LISTS:  # which do not determine some options
                    assert not text, (name, layout, text)


@pytest.mark.parametrize("layout", [SQUARE, FROM_GALLERY])
@pytest.mark.parametrize("card", ["market1501", "cuhk03-new", "vehicleid", "market1501-original"])
def test_a_query_in_the_gallery_is_not_compared_with_itself(card, layout):
    scores, rules = layouts()[layout], load(card).reid
    rows = np.arange(96) if layout == SQUARE else PROBES
    case = {
        "values": DISTANCES[rows], "probe_labels": WHO[rows], "gallery_labels": WHO,
        "probe_ids": rows.tolist(), "gallery_ids": list(range(96)),
    }  # fmt: skip
    options = {"removed": rules.removed, "removed_for_ap": rules.removed_for_ap, "ap": rules.ap}
    expected = naive_reid.reid(case, (CAMERA[rows], CAMERA), max_rank=1, **options)
    result = be.reid(scores, card)
    assert float(result.mean_ap) == pytest.approx(float(expected.mean_ap), rel=1e-12)
    assert float(be.evaluate(scores, card)["reid"]["mean_ap"]) == float(result.mean_ap)
    assert int(result.queries) == expected.queries == len(rows)
    if rules.cmc == "first-match":
        assert float(result.cmc.sel(rank=1)) == float(expected.cmc[0])


def test_all_cards_of_re_identification_alone_take_every_matrix():
    for name in available():
        card = load(name)
        if set(card.tasks) <= {"reid", "gom"}:
            assert set(card.layouts) == {SQUARE, RECTANGLE}, name
            assert card.layout in card.layouts
        else:
            assert card.layouts == (card.layout,), name


def test_other_tasks_keep_the_layout_of_their_card():
    card = load("market1501")
    mixed = be.Protocol(
        name="mixed", title="Mixed", summary="Both.", layout=card.layout, source=card.source,
        reid=card.reid, closed_set=load("course-probe-vs-gallery").closed_set,
    )  # fmt: skip
    assert mixed.layouts == (RECTANGLE,)
    with pytest.raises(be.ProtocolError, match="is for the layout probe-against-gallery"):
        be.evaluate(layouts()[SQUARE], mixed)
