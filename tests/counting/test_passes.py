"""What a pass over the scores refuses, and how often it looks at them."""

import numpy as np
import pytest

import bioeval as be
from bioeval.scores import blocks


def population(people: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Embeddings of people with one to twelve templates, their distances, and who they are."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), rng.integers(1, 12, people, endpoint=True))
    x = rng.normal(size=(people, 6))[who] + 0.6 * rng.normal(size=(len(who), 6))
    return x, np.sqrt(((x[:, None] - x[None]) ** 2).sum(-1)).astype(np.float32), who


def with_mask() -> be.Scores:
    """Scores of which a mask leaves out a third, in no order."""
    _, d, who = population(11)
    rng = np.random.default_rng(12)
    rows, columns = rng.permutation(len(who))[:40], rng.permutation(len(who))[:50]
    genuine = who[rows][:, None] == who[columns]
    out = rng.random(genuine.shape) < 0.3
    values = d[np.ix_(rows, columns)].astype(float)
    return be.Scores(values, who[rows], who[columns], mask=np.where(out, 0, 1 + genuine))


def test_a_mask_of_another_class_and_a_nan_beside_it_are_errors():
    scores = with_mask()
    labels = scores.probe_labels, scores.gallery_labels
    row, column = np.argwhere(scores.mask == 1)[-1]
    mask = scores.mask.copy()
    mask[row, column] = 2
    with pytest.raises(be.DataError, match=f"contradicts.*row {row}, column {column} "):
        be.verification(be.Scores(scores.values, *labels, mask=mask))
    values = scores.values.copy()
    values[row, column] = np.nan
    with pytest.raises(be.DataError, match=f"1 NaN, the first at row {row}, column {column}"):
        be.verification(be.Scores(values, *labels, mask=scores.mask))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16"])
@pytest.mark.parametrize("shape", [(600, 600), (300, 1200)])
@pytest.mark.cases(1)
def test_a_large_matrix_has_the_points_of_its_dtype(monkeypatch, dtype, shape):
    """They are counted as float32, and few of them are looked at as float64."""
    monkeypatch.setattr(blocks, "LISTED", 1 << 18)
    m, n = shape
    values = np.random.default_rng(0).integers(0, 100, shape).astype(dtype)
    labels = [np.arange(m) // 3] if m == n else [np.arange(m) % (n // 3), np.arange(n) // 3]
    result, wide = (be.evaluate(be.Scores(x, *labels)) for x in (values, values.astype(float)))
    for node in wide.subtree:
        for name, expected in node.data_vars.items():
            found = result[node.path][name].values
            if name == "d_prime":
                np.testing.assert_allclose(found, expected, rtol=1e-12)
            elif "threshold" not in expected.dims:
                np.testing.assert_array_equal(found, expected.values, name)
