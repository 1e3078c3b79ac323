"""Tallies that a site may share: counts alone, codes in place of people, and disclosures."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bioeval import DataError, ProtocolError
from bioeval.base import Argument, counted, require_integer
from bioeval.evaluation import TaskCounts
from bioeval.scores import Provenance
from bioeval.studies.sites.folded import TooFewError
from bioeval.studies.sites.template_digests import CountedProbes, DigestKey, as_texts


@dataclass(frozen=True)
class Sharing:
    """How a tally was prepared for sharing."""

    #: Whether there are digests of subjects and probes, under a salt; else they are dropped.
    salted: bool
    min_count: int  # no count is from 1 to below it; 0 for no such limit


def share_parts(parts: dict[str, TaskCounts], *, min_count: int) -> dict[str, TaskCounts]:
    """Return folded counts without small counts."""
    require_integer("min_count", min_count, low=0)
    made = {}
    left_out = list[str]()
    tallies = distinct_tallies(parts)
    for tally in tallies:
        if not tally.form.startswith("folded"):
            raise ProtocolError(
                "expected counts over drawn galleries cannot be shared: they are not whole numbers"
            )
    for tally in tallies:
        try:
            made[id(tally)] = tally.without_small(min_count) if min_count > 1 else tally
        except TooFewError as few:
            left_out.append(f"{_nodes_of(tally, parts)} left out: {few}")
    if not made:
        raise DataError(
            f"nothing can be shared with {Argument('min_count')} = {min_count}: "
            + "; ".join(left_out)
        )
    shared = {}
    for node, part in parts.items():
        if id(part.tally) in made:
            shared[node] = TaskCounts(made[id(part.tally)], part.options)
    for tally in made.values():
        tally.about = replace(tally.about, notes=tuple(left_out))
    return shared


def distinct_tallies(parts: dict[str, TaskCounts]) -> list[Any]:
    """Return the tallies of all tasks, each once: several tasks may be of one."""
    return list({id(part.tally): part.tally for part in parts.values()}.values())


def _nodes_of(tally: Any, parts: dict[str, TaskCounts]) -> str:
    """Return the tasks of a tally, for a sentence."""
    return " and ".join(node for node, part in parts.items() if part.tally is tally)


def share_about(about: Provenance, salt: DigestKey | None) -> Provenance:
    """Return a provenance without names: subjects as salted codes, or as numbers."""
    if salt is not None:
        names = list(about.probe_subjects)
        codes = dict(zip(names, as_texts(salt.digests("shared", names)), strict=True))
        gallery = salt.hexadecimal("gallery", about.gallery) if about.gallery else ""
        prints = tuple(salt.hexadecimal("data", x) for x in about.fingerprints)
    else:
        here = secrets.token_hex(4)
        enrolled = about.enrolled_subjects
        ordered = sorted(about.probe_subjects, key=lambda name: (name not in enrolled, name))
        codes = {name: f"{here}-{i}" for i, name in enumerate(ordered)}
        gallery, prints = "", ("not shared",)
    return replace(
        about,
        name="",
        origin="",
        reading=(),
        probe_subjects=frozenset(codes.values()),
        enrolled_subjects=frozenset(map(codes.__getitem__, about.enrolled_subjects)),
        fingerprints=prints,
        gallery=gallery,
    )


def share_probes(probes: CountedProbes | None, salt: DigestKey | None) -> CountedProbes | None:
    """Return salted digests of probes, without those of their scores; None without probes."""
    if probes is None or salt is None:
        return None
    hashed = [salt.digest("probe", str(x)) for x in probes.probes.tolist()]
    return CountedProbes(
        np.sort(np.array(hashed, dtype=np.uint64)),
        salt.hexadecimal("gallery", probes.gallery),
        salt.hexadecimal("key", probes.key),
    )


def disclosed(
    parts: dict[str, TaskCounts], probes: CountedProbes | None, sharing: Sharing | None
) -> list[str]:
    """Return what a tally discloses about people, one line each, without names."""
    about = next(iter(parts.values())).tally.about
    lines = [
        f"the numbers of probes ({about.probes:,}), of their subjects "
        f"({len(about.probe_subjects):,}, {len(about.enrolled_subjects):,} enrolled), of gallery "
        f"templates ({about.gallery_templates:,}) and subjects ({about.gallery_subjects:,})"
    ]
    if sharing is None or sharing.salted:
        who = "anyone with the salt" if sharing else "anyone with the key"
        if probes is not None and probes.key == DigestKey.parse(None).hexadecimal("key", ""):
            who = "since the key of bioeval is public, anyone"
        digested = "each subject of the probes" + (" and of each probe" if probes else "")
        lines.append(
            f"a digest of {digested}: "
            f"{who} can test names against the digests, and equal digests show equal subjects"
        )
        if probes is not None and probes.scores is not None:
            lines.append(
                f"a digest of all scores of each probe, and one of its label and metadata: {who} "
                "can test whole rows of scores against the digests, and equal digests show equal "
                "rows"
            )
    if sharing is None:
        lines.append("a digest of all labels, and the name of the system")
    for tally in distinct_tallies(parts):
        nodes = _nodes_of(tally, parts)
        lines += [f"{nodes}: {line}" for line in _disclosed_by(tally)]
    if sharing is not None and sharing.min_count > 1:
        lines.append(
            f"no count of a bin is from 1 to {sharing.min_count - 1}: thresholds and ranks were "
            "left out, and rates between them are bounds only; differences from another shared "
            "tally of the same data may disclose more"
        )
    return lines


def _disclosed_by(tally: Any) -> list[str]:
    """Return what the counts of a task disclose."""
    if tally.form == "verification":
        lines = [f"all {counted(len(tally.genuine), 'genuine scores')}"]
        if tally.kept is not None:
            lines.append(f"{counted(len(tally.kept.scores), 'impostor scores')} around the points")
        low, high = tally.impostor.range
        alone = int((tally.impostor.counts == 1).sum())
        if np.isfinite(low):
            lines.append(
                f"the impostor scores counted in cells from about {low:g} to {high:g} (in "
                f"distances), {counted(alone, 'cells')} with a single score"
            )
        return lines
    if tally.form == "identification":
        return [
            f"for each of {counted(tally.about.probes, 'probes')}: the scores of its nearest mate "
            "and non-mate, and the rank"
        ]
    if tally.form in ("folded verification", "folded identification"):
        ends = ""
        if len(tally.thresholds):
            tables = np.concatenate(list(map(np.ravel, tally.tables().values())))
            alone = int((tables == 1).sum())
            ends = f", {counted(alone, 'bins')} with a single attempt"
        return [f"counts between {counted(len(tally.thresholds), 'thresholds')}{ends}"]
    if tally.form == "folded queries":
        by = ", and by rank of the first match"
        if len(tally.thresholds):
            by = f" at {counted(len(tally.thresholds), 'thresholds')}"
        single = counted(int((tally.values == 1).sum()), "bins")
        return [
            f"counts of queries by hundredths of {', '.join(tally.measures)}{by}, {single} with a "
            "single query"
        ]
    if tally.form == "galleries":
        return ["expected counts between thresholds"]
    return ["for each query: the scores and the ranks of its matches"]
