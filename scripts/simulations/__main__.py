"""Simulate: draw data sets, count what holds, print a table."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from simulations.claims import all_claims
from simulations.run import run_all
from simulations.store import Store
from simulations.table import failures, table

#: Where the counts that the docs quote are kept.
STORED = Path(__file__).resolve().with_name("counts.json")


def main() -> int:
    """Run what the options ask for; 1 where a claim does not hold."""
    parser = argparse.ArgumentParser(prog="scripts/coverage", add_help=False)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", nargs="+", metavar="WORD")
    parser.add_argument("--population", nargs="+", metavar="P")
    parser.add_argument("--people", nargs="+", type=int, metavar="N")
    parser.add_argument("--store", type=Path, default=STORED)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--jobs", type=int, default=0)  # 0: one for each core
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()

    claims = list(all_claims())
    if options.only:
        claims = [x for x in claims if any(word in x.name for word in options.only)]
    if options.list:
        for claim in claims:
            print(f"{claim.name}: {claim.claimed} ({claim.call}; {len(claim.cells)} cells)")
        return 0
    store = Store(options.store)
    if options.fresh:
        for claim in claims:
            store.counts.pop(claim.name, None)
    if not options.table:
        run_all(
            claims,
            store,
            options.runs,
            options.population or (),
            options.people or (),
            options.minutes,
            options.jobs,
        )
    for line in table(claims, store, options.people or ()):
        print(line)
    failed = [line for claim in claims for line in failures(claim, store)]
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
