# packages: faiss-cpu
"""FAISS: measures that its users compute of the result of a search."""

from __future__ import annotations

import faiss
import numpy as np

import bioeval as be
from peers.frame import Figure, gallery, print_costs, print_figures, print_title


def search(queries, vectors, k):
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return index.search(queries, k)


def recall_at(k, neighbours, who, names):
    """Return the proportion of queries with a match among the first k, as scripts write it."""
    return np.mean([np.isin(who[i], names[row[:k]]) for i, row in enumerate(neighbours)])


def main() -> None:
    print_title("FAISS", "faiss-cpu")
    data = gallery()
    similarity, neighbours = search(data.query, data.gallery, 50)
    lists = be.Scores.from_top_k(
        neighbours, data.query_ids, data.gallery_ids, distances=similarity, kind="similarity"
    )
    zero, skip = be.reid(lists, "top-k", unmatched="zero"), be.reid(lists, "top-k")
    figures = [
        Figure(
            f"recall@{k} of the script (`cmc`, unmatched zero)",
            recall_at(k, neighbours, data.query_ids, data.gallery_ids),
            zero.cmc.sel(rank=k),
        )
        for k in (1, 10)
    ]
    figures.append(
        Figure(
            "recall@1 of the script (`cmc`)",
            figures[0].theirs,
            skip.cmc.sel(rank=1),
            "queries without a match in the gallery are left out here, and counted",
        )
    )
    x, who = data.gallery, data.gallery_ids
    itself = search(x, x, 51)
    own = be.reid(
        be.Scores.from_top_k(itself[1], who, distances=itself[0], kind="similarity"), "top-k"
    )
    figures += [
        Figure(
            "recall@1, the gallery searched with its own vectors",
            recall_at(1, itself[1], who, who),
            own.cmc.sel(rank=1),
            "each vector finds itself; `from_top_k` leaves it out, wherever it stands",
        ),
        Figure(
            "the same, first column dropped",
            recall_at(1, itself[1][:, 1:], who, who),
            own.cmc.sel(rank=1),
        ),
    ]
    copies = np.concatenate([x, x[::2]])
    names = np.concatenate([who, who[::2] + 1000])  # the same images under other names
    twice = search(copies, copies, 51)
    doubled = be.reid(
        be.Scores.from_top_k(twice[1], names, distances=twice[0], kind="similarity"), "top-k"
    )
    figures.append(
        Figure(
            "the same, with copies under other names",
            recall_at(1, twice[1][:, 1:], names, names),
            doubled.cmc.sel(rank=1),
            "the first column is not always the query: a match of itself is left",
        )
    )
    print_figures("FAISS and a script", figures)
    many = gallery(identities=2000, templates=10, dimension=64)
    sides = (many.query, many.query_ids, many.gallery, many.gallery_ids)

    def script():
        found = search(many.query, many.gallery, len(many.gallery))[1]
        return recall_at(1, found, many.query_ids, many.gallery_ids)

    def ours():
        return be.reid(
            be.Scores.from_embeddings(*sides, metric="cosine"), "vehicleid"
        ).mean_ap.item()

    print_costs(
        f"whole lists, which mAP needs, of {len(many.query):,} queries in {len(many.gallery):,}",
        script,
        ours,
    )


if __name__ == "__main__":
    main()
