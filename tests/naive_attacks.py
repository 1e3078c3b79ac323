"""Naive vulnerability to presentation attacks, written from the definition alone."""

from fractions import Fraction
from typing import Any

import naive
from naive import NAN, Point

BONA_FIDE = ("", "bona fide", "bonafide", "bona-fide")


def is_bona_fide(name: Any) -> bool:
    return name is None or name != name or str(name).strip().lower() in BONA_FIDE


def lists(
    case: dict[str, Any],
    species: list[Any],
    sources: list[Any] | None,
    options: dict[str, str],
) -> dict[str, Any]:
    """Return the scores and the number of the attempts of each class.

    `case` is as for `naive.read`, attack rows and their columns of a square matrix included.
    """
    values, labels, kind = case["values"], case["probe_labels"], case["kind"]
    square = case["gallery_labels"] is None
    gallery = labels if square else case["gallery_labels"]
    m, n = len(values), len(gallery)
    bona = [i for i in range(m) if is_bona_fide(species[i])]
    columns = bona if square else list(range(n))
    fusion = options["fusion"]
    result: dict[str, Any] = {"genuine": [], "impostor": [], "species": {}}
    attempts = {"genuine": 0, "impostor": 0}
    sign = naive.sign_of(kind)

    def distances(i: int, own: list[int]) -> list[Any]:
        oriented = []
        for j in own:
            if case["mask"] is not None and case["mask"][i][j] == 0:
                continue
            score = naive.number(values[i][j])
            if score != score:
                assert case["nan"] != "raise"
                if case["nan"] == "exclude":
                    continue
                oriented.append(naive.FAILED)
            else:
                oriented.append(sign * score)
        return oriented

    def decisions(kept: list[Any]) -> list[Any]:
        if options["templates"] == "single":
            return kept
        fused = naive.fuse(kept, fusion)
        return [] if fused is None else [fused]

    for i in bona:
        for subject in dict.fromkeys(gallery[j] for j in columns):
            own = [j for j in columns if gallery[j] == subject and not (square and i == j)]
            name = "genuine" if subject == labels[i] else "impostor"
            for distance in decisions(distances(i, own)):
                attempts[name] += 1
                result[name].append(sign * distance)
    for i in range(m):
        if is_bona_fide(species[i]):
            continue
        own = [j for j in columns if gallery[j] == labels[i]]
        if sources is not None:
            own = [j for j in own if sources[i] != j]
        of_species = result["species"].setdefault(
            str(species[i]), {"ia": [], "attempts": 0, "rows": 0}
        )
        of_species["rows"] += 1
        for distance in decisions(distances(i, own)):
            of_species["attempts"] += 1
            of_species["ia"].append(sign * distance)
    result["attempts"] = attempts
    return result


def taken(scores: list[Any], t: Any, kind: str) -> int:
    """Return how many scores a threshold accepts; NaN, which rejects all, accepts none."""
    return 0 if t != t else sum(naive.accepted(x, t, kind) for x in scores)


def points(
    genuine: list[Any], other: list[Any], attempts: tuple[int, int], kind: str
) -> list[Point]:
    """Reject-all, then each distinct accepted score; over all attempts of each class."""
    if not all(attempts):
        return []
    scores = {naive.number(x) for x in genuine + other if x is not naive.FAILED}
    ordered = sorted(scores, reverse=kind == "similarity")
    return [
        Point(
            t,
            Fraction(taken(other, t, kind), attempts[1]),
            1 - Fraction(taken(genuine, t, kind), attempts[0]),
        )
        for t in [naive.reject_all(genuine + other, kind), *ordered]
    ]


def rates(found: dict[str, Any], t: Any, kind: str) -> dict[str, Any]:
    """Return all rates at a threshold."""
    by_species = {
        name: naive.rate(taken(x["ia"], t, kind), x["attempts"])
        for name, x in found["species"].items()
    }
    accepted = {c: taken(found[c], t, kind) for c in ("genuine", "impostor")}
    frr = 1 - naive.rate(accepted["genuine"], found["attempts"]["genuine"])
    pooled = iapar_pooled(found, t, kind)
    iapar = by_species | {
        "pooled": pooled,
        "largest": max((x for x in by_species.values() if x == x), default=NAN),
    }
    return {
        "far": naive.rate(accepted["impostor"], found["attempts"]["impostor"]),
        "frr": frr,
        "iapar": iapar,
        "riapar": {name: x + frr for name, x in iapar.items()},
    }


def iapar_pooled(found: dict[str, Any], t: Any, kind: str) -> Any:
    """Return the rate over the attempts of all species."""
    attack_scores = [x for one in found["species"].values() for x in one["ia"]]
    number = sum(x["attempts"] for x in found["species"].values())
    return naive.rate(taken(attack_scores, t, kind), number)


def eers(found: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the three EERs."""
    attacks = [x for one in found["species"].values() for x in one["ia"]]
    number = sum(x["attempts"] for x in found["species"].values())
    genuine, impostor = found["genuine"], found["impostor"]
    attempts = found["attempts"]
    impostor_and_attacks = impostor + attacks
    return {
        "eer": naive.crossing(
            points(genuine, impostor, (attempts["genuine"], attempts["impostor"]), kind)
        ),
        "attack_eer": naive.crossing(points(genuine, attacks, (attempts["genuine"], number), kind)),
        "sasv_eer": naive.crossing(
            points(
                genuine,
                impostor_and_attacks,
                (attempts["genuine"], attempts["impostor"] + number),
                kind,
            )
        ),
    }


def min_a_dcf(found: dict[str, Any], kind: str, a_dcf: tuple[float, ...]) -> Any:
    """Return the least normalised cost over the points of bona fide attempts."""
    attempts = found["attempts"]["genuine"], found["attempts"]["impostor"]
    tar, non, spf = (Fraction(p) * Fraction(c) for p, c in zip(a_dcf[:3], a_dcf[3:], strict=True))
    curve = points(found["genuine"], found["impostor"], attempts, kind)
    if not curve or not sum(x["attempts"] for x in found["species"].values()):
        return NAN
    costs = [
        tar * p.frr + non * p.far + spf * iapar_pooled(found, p.threshold, kind) for p in curve
    ]
    # Where a score has the threshold that would reject all, that point is NaN and accepts none.
    return min(costs) / min(tar, non + spf)
