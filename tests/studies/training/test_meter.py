"""Embeddings batch by batch against all of them at once (``be.summary``, ``be.evaluate``)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bioeval as be

PEOPLE = be.simulate_embeddings(12, 3, cameras=3, dimensions=5, random_state=3)
LABELS = np.array([f"person {label}" for label in PEOPLE.labels])
CAMERAS = PEOPLE.meta["camera"]
NUMBER = len(LABELS)

pytestmark = pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")


def flat(by_task) -> dict:
    numbers = {}
    for task, variables in by_task.items():
        for name, value in variables.items():
            if not isinstance(value, dict):
                numbers[f"{task}/{name}"] = value
                continue
            for at, x in value.items():
                rank = "rank_" if name in ("cms", "cms_count", "cmc", "cmc_count") else ""
                numbers[f"{task}/{name}_{rank}{at}"] = x
    return numbers


def same(a: dict, b: dict) -> bool:
    """Whether two dictionaries are equal to the last bit, NaN to NaN."""
    return list(a) == list(b) and all(a[k] == b[k] or a[k] != a[k] and b[k] != b[k] for k in a)


def filled(order, cuts=(), *, index=True, dtype="f4", labels=LABELS, **options) -> be.Meter:
    """A meter of templates in an order, in batches."""
    meter = be.Meter(**options)
    for rows in np.split(np.asarray(order), sorted(cuts)):
        numbers = rows if index else None
        meter.update(
            PEOPLE.embeddings.astype(dtype)[rows], labels[rows], index=numbers, camera=CAMERAS[rows]
        )
    return meter


ORDERS = st.permutations(range(NUMBER))
CUTS = st.lists(st.integers(0, NUMBER), max_size=5)


@given(ORDERS, CUTS, st.sampled_from(["f2", "f4", "f8"]), st.sampled_from(["float32", "float64"]))
def test_with_an_index_the_numbers_are_those_of_the_data_set(order, cuts, given_in, dtype):
    scores = be.Scores.from_embeddings(
        PEOPLE.embeddings.astype(given_in), LABELS, probe_meta={"camera": CAMERAS}, dtype=dtype
    )
    found = filled(order, cuts, dtype=given_in, **{"dtype_": dtype}) if False else None
    meter = be.Meter(dtype=dtype)
    for rows in np.split(np.array(order), sorted(cuts)):
        meter.update(PEOPLE.embeddings.astype(given_in)[rows], LABELS[rows], index=rows,
                     camera=CAMERAS[rows])  # fmt: skip
    assert found is None and same(meter.compute(), flat(be.summary(scores)))
