"""Tallies that a site may share: counts alone, codes in place of people, and disclosures."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bioeval import DataError, ProtocolError
from bioeval.base import (
    Argument,
    require_integer,
)
from bioeval.document import Message, Text, say
from bioeval.evaluation import TaskCounts
from bioeval.scores import Provenance
from bioeval.studies.sites.folded import TooFewError
from bioeval.studies.sites.template_digests import CountedProbes, DigestKey, as_texts
from bioeval.views import sentence_about


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
    left_out = list[Message]()
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
            left_out.append(few.about(_nodes_of(tally, parts)))
    if not made:
        raise DataError(
            "nothing can be shared with ",
            Argument("min_count"),
            f" = {min_count}: ",
            "; ".join(sentence_about(message) for message in left_out),
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


#: What a file discloses: the tasks that it is of, empty for all of them, and what it is.
Disclosure = tuple[str, Text]


def in_sentences(disclosures: Iterable[Disclosure]) -> list[str]:
    """Return what a file discloses, one line each."""
    from bioeval.views import Lines

    lines = []
    for tasks, text in disclosures:
        written = Lines().write(text)
        lines.append(f"{tasks}: {written}" if tasks else written)
    return lines


def disclosures(
    parts: dict[str, TaskCounts], probes: CountedProbes | None, sharing: Sharing | None
) -> Iterator[Disclosure]:
    """Yield what a tally discloses about people, without names."""
    about = next(iter(parts.values())).tally.about
    yield (
        "",
        say(
            "the numbers of probes ({probes:count}), of their subjects ({subjects:count}, "
            "{enrolled:count} enrolled), of gallery templates ({templates:count}) and subjects "
            "({gallery:count})",
            probes=about.probes,
            subjects=len(about.probe_subjects),
            enrolled=len(about.enrolled_subjects),
            templates=about.gallery_templates,
            gallery=about.gallery_subjects,
        ),
    )
    if sharing is None or sharing.salted:
        who = "anyone with the salt" if sharing else "anyone with the key"
        if probes is not None and probes.key == DigestKey.parse(None).hexadecimal("key", ""):
            who = "since the key of bioeval is public, anyone"
        yield (
            "",
            say(
                "a digest of each subject of the probes{of_probes}: {who} can test names against "
                "the digests, and equal digests show equal subjects",
                of_probes=" and of each probe" if probes else "",
                who=who,
            ),
        )
        if probes is not None and probes.scores is not None:
            yield (
                "",
                say(
                    "a digest of all scores of each probe, and one of its label and metadata: "
                    "{who} can test whole rows of scores against the digests, and equal digests "
                    "show equal rows",
                    who=who,
                ),
            )
    if sharing is None:
        yield "", "a digest of all labels, and the name of the system"
    for tally in distinct_tallies(parts):
        tasks = _nodes_of(tally, parts)
        for text in _disclosed_by(tally):
            yield tasks, text
    if sharing is not None and sharing.min_count > 1:
        yield (
            "",
            say(
                "no count of a bin is from 1 to {most:count}: thresholds and ranks were left out, "
                "and rates between them are bounds only; differences from another shared tally of "
                "the same data may disclose more",
                most=sharing.min_count - 1,
            ),
        )


def _disclosed_by(tally: Any) -> Iterator[Text]:
    """Yield what the counts of a task disclose."""
    if tally.form == "verification":
        yield say("all {n:count genuine scores}", n=len(tally.genuine))
        if tally.kept is not None:
            yield say("{n:count impostor scores} around the points", n=len(tally.kept.scores))
        low, high = tally.impostor.range
        if np.isfinite(low):
            yield say(
                "the impostor scores counted in cells from about {low:score} to {high:score} (in "
                "distances), {alone:count cells} with a single score",
                low=float(low),
                high=float(high),
                alone=int((tally.impostor.counts == 1).sum()),
            )
    elif tally.form == "identification":
        yield say(
            "for each of {n:count probes}: the scores of its nearest mate and non-mate, and the "
            "rank",
            n=tally.about.probes,
        )
    elif tally.form in ("folded verification", "folded identification"):
        ends: Text = ""
        if len(tally.thresholds):
            tables = np.concatenate(list(map(np.ravel, tally.tables().values())))
            ends = say(", {n:count bins} with a single attempt", n=int((tables == 1).sum()))
        yield say("counts between {n:count thresholds}{ends}", n=len(tally.thresholds), ends=ends)
    elif tally.form == "folded queries":
        by: Text = ", and by rank of the first match"
        if len(tally.thresholds):
            by = say(" at {n:count thresholds}", n=len(tally.thresholds))
        yield say(
            "counts of queries by hundredths of {measures}{by}, {alone:count bins} with a single "
            "query",
            measures=", ".join(tally.measures),
            by=by,
            alone=int((tally.values == 1).sum()),
        )
    elif tally.form == "galleries":
        yield "expected counts between thresholds"
    else:
        if getattr(tally, "people", None) is not None:
            yield "a digest of the subject of each query, which shows who has which scores"
        yield "for each query: the scores and the ranks of its matches"
