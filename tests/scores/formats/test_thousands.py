"""Points that may separate thousands are asked about; decimals are read as they are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bioeval as be
from bioeval.cli import main

WHO = np.repeat(np.arange(6), 4)


def numbers(seed, pairs):
    """Whole scores of which some are above 1,000: distances of mates are smaller."""
    rng = np.random.default_rng(seed)
    genuine = np.arange(pairs) % 3 == 0
    return np.round(np.exp(rng.normal(5.5, 1, pairs) + 1.2 * ~genuine)).astype(int), genuine


def with_points(values):
    return [f"{x:,}".replace(",", ".") for x in values]


def eer(scores):
    return float(be.verification(scores).eer)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("order", ["as drawn", "increasing"])
@pytest.mark.parametrize("pairs", [300, 3000])
@pytest.mark.parametrize("door", ["list", "classes", "preset", "frame", "parquet"])
def test_points_between_thousands_are_asked_about(tmp_path, seed, order, pairs, door):
    values, genuine = numbers(seed, pairs)
    place = np.argsort(values, kind="stable") if order == "increasing" else np.arange(pairs)
    values, genuine = (x[place[values[place] < 1_000_000]] for x in (values, genuine))
    table = pd.DataFrame({"distance": with_points(values), "genuine": genuine.astype(int)})
    path, options, columns = tmp_path / f"x.{door}", {}, ["genuine", "distance"]
    if door in ("classes", "preset"):
        options["kind"] = "distance"
        if door == "preset":
            names = [f"t{i}" for i in range(len(table))]
            table, columns = table.assign(a=names, b=names[::-1]), ["genuine", "a", "b", "distance"]
            options["format"] = "voxceleb"
        table[columns].to_csv(path, index=False, header=False, sep=" ")
    elif door == "parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False)
    with pytest.raises(be.DataError, match=r"'\d+\.\d{3}' beside '\d{3}': does the point separate"):
        be.load(table if door == "frame" else path, **options)
    if door == "list":  # each answer of the error
        right = eer(be.Scores.from_pairs(values, genuine))
        assert eer(be.load(pd.read_csv(path, thousands="."))) == right
        as_decimals = np.array([float(x) for x in table.distance])
        assert eer(be.load(pd.read_csv(path))) == eer(be.Scores.from_pairs(as_decimals, genuine))
        assert main(["run", str(path), "--protocol", "pairs"]) == 2


def test_a_matrix_of_numbers_with_points(tmp_path):
    rng = np.random.default_rng(2)
    values = np.round(np.exp(rng.normal(5.5, 1.2, (24, 24)))).astype(int).clip(1, 99_999)
    text = "\n".join(" ".join(with_points(row)) for row in values)
    (tmp_path / "x.txt").write_text(text)
    pd.DataFrame({"label": WHO}).to_csv(tmp_path / "who.csv", index=False)
    with pytest.raises(be.DataError, match="does the point separate thousands"):
        be.load(tmp_path / "x.txt", labels=tmp_path / "who.csv")


SOUND = {
    "three decimals": lambda v: [f"{x / 1000:.3f}" for x in v],
    "three decimals of large numbers": lambda v: [f"{x / 7:.3f}" for x in v],
    "whole": lambda v: [*map(str, v)],
    "shortest form": lambda v: [f"{x / 4:g}" for x in v],
    "below one": lambda v: [f"0.{x % 1000:03d}" for x in v] + ["1", "2"],
    "six digits": lambda v: [f"{x / 1000:g}" for x in v] + ["987"],
    "two decimals": lambda v: [f"{x / 100:.2f}" for x in v] + ["999"],
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("form", SOUND)
def test_decimals_are_read(tmp_path, form, seed):
    values, _ = numbers(seed, 200)
    cells = SOUND[form](values)
    genuine = np.arange(len(cells)) % 3 == 0
    table = pd.DataFrame({"distance": cells, "genuine": genuine.astype(int)})
    table.to_csv(tmp_path / "x.csv", index=False)
    assert np.array_equal(be.load(tmp_path / "x.csv").values, [*map(float, cells)])


def test_several_points_are_no_number(tmp_path):
    (tmp_path / "x.csv").write_text("distance,genuine\n1.234.567,1\n987,0\n")
    with pytest.raises(be.DataError, match=r"1\.234\.567.*thousands have no separator"):
        be.load(tmp_path / "x.csv")
