"""A tour of the main job on data that needs no download.

Two recognition systems are evaluated from end to end, as ``bioeval run`` would:

1. a simulated population, every template compared with every other (all-against-all);
2. real images: the handwritten digits that scikit-learn carries, where "who is it?" reads
   "which digit is it?". Digits 0 to 7 are enrolled, 8 and 9 are strangers
   (probe-against-gallery, open set).

The tables appear on the terminal; results, curves and plots go to the output folder.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import bioeval as be
from bioeval.cli import main as bioeval

ENROLLED_DIGITS = 8
TEMPLATES = 20


def simulated_population() -> be.Scores:
    """Sixty people, four to eight templates each, compared by Euclidean distance."""
    return be.simulate(60, (4, 8), dimensions=24, within=0.75, random_state=2026)


def handwritten_digits() -> be.Scores:
    """Images of 8 x 8 pixels; 20 of each of the digits 0 to 7 are enrolled, the rest probe."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    names = np.array([f"digit {d}" for d in digits.target])
    place = np.zeros(len(names), dtype=int)  # the how-many-th image of its digit
    for digit in range(10):
        mine = digits.target == digit
        place[mine] = np.arange(mine.sum())
    enrolled = (digits.target < ENROLLED_DIGITS) & (place < TEMPLATES)
    pixels = digits.data.astype(np.float32)
    return be.Scores.from_embeddings(
        pixels[~enrolled], names[~enrolled], pixels[enrolled], names[enrolled], metric="l2"
    )


def main() -> int:
    """Run the tour."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("demo-out"), help="output folder")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, make in (("population", simulated_population), ("digits", handwritten_digits)):
        data = out / f"{name}.npz"
        be.save(make(), data)
        print(f"$ bioeval run {data} --out {out / name} --plots\n", flush=True)
        code = bioeval(["run", str(data), "--out", str(out / name), "--plots", "--force"])
        if code:
            return code
        print()
    print(f"Results: {out.resolve()}")
    print("  <name>/table.txt     the table above")
    print("  <name>/results.nc    everything, for xarray: xarray.open_datatree(...)")
    print("  <name>/summary.json  the numbers of the table, for programs")
    print("  <name>/*.csv         the curves, for spreadsheets")
    print("  <name>/*.png         the plots")
    return 0


if __name__ == "__main__":
    sys.exit(main())
