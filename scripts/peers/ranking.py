# packages: ranx pytrec-eval-terrier
"""ranx and trec_eval (pytrec_eval): measures of ranked lists."""

from __future__ import annotations

import numpy as np
import pytrec_eval
from ranx import Qrels, Run, evaluate

import bioeval as be
from peers.frame import Figure, gallery, print_figures, print_title

MEASURES = {"map": "mean_ap", "mrr": "mrr", "ndcg": "ndcg", "r-precision": "r_precision"}
TREC = {"map": "mean_ap", "recip_rank": "mrr", "ndcg": "ndcg", "Rprec": "r_precision"}


def main() -> None:
    print_title("ranx, pytrec_eval", "ranx", "pytrec-eval-terrier")
    data = gallery()
    enrolled = np.isin(data.query_ids, data.gallery_ids)
    relevant, found = {}, {}
    for query in np.flatnonzero(enrolled):
        same = np.flatnonzero(data.gallery_ids == data.query_ids[query])
        relevant[f"q{query}"] = {f"g{entry}": 1 for entry in same}
        found[f"q{query}"] = {f"g{j}": float(x) for j, x in enumerate(data.cosines[query])}
    ours = be.reid(data.scores, "vehicleid")
    theirs = evaluate(Qrels(relevant), Run(found), list(MEASURES))
    trec = pytrec_eval.RelevanceEvaluator(relevant, set(TREC)).evaluate(found)
    figures = [
        Figure(f"ranx {x} (`{name}`)", theirs[x], ours[name]) for x, name in MEASURES.items()
    ]
    figures += [
        Figure(f"trec_eval {x} (`{name}`)", np.mean([row[x] for row in trec.values()]), ours[name])
        for x, name in TREC.items()
    ]
    print_figures("ranx, trec_eval", figures)


if __name__ == "__main__":
    main()
