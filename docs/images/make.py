"""Draw the picture that the README opens with: two systems on one DET plot."""

from __future__ import annotations

from pathlib import Path

import bioeval as be


def main() -> None:
    """Write det.png beside this file."""
    systems = {
        "System A": be.simulate(200, 8, dimensions=24, within=0.62, random_state=1),
        "System B": be.simulate(200, 8, dimensions=24, within=0.75, random_state=2),
    }
    results = {name: be.verification(scores) for name, scores in systems.items()}
    be.plot.save(be.plot.det(results), Path(__file__).with_name("det.png"))


if __name__ == "__main__":
    main()
