"""The words of fields of cards and of arguments of calls, as types; the fields explain them."""

from __future__ import annotations

from typing import Literal

#: Which probes make impostor attempts in open-set identification.
ImpostorProbes = Literal["auto", "unenrolled", "leave-subject-out", "both"]

#: Whether a candidate list has templates or subjects, and which templates are enrolled.
RankUnit = Literal["template", "subject"]
EnrolledTemplates = Literal["all", "single"]

#: The rank of an entry exactly as close as the mate; but for ``"expected"`` counts are whole.
PlainTies = Literal["pessimistic", "optimistic", "stable"]
Ties = Literal[PlainTies, "expected"]

#: Probes without a mate, in closed-set identification.
Unmated = Literal["auto", "raise", "skip"]

#: Entries that a query does not see, and the treatment of junk.
Removed = Literal["same-id-same-camera", "same-camera", "none"]
Junk = Literal["keep", "remove"]

#: The list of average precision and INP, and the matches that the CMC counts.
RemovedForAp = Literal["as-above", "same-id-same-camera", "none"]
Cmc = Literal["first-match", "allshots", "single-gallery-shot", "identity-dedup"]

#: A query without a match, and the form of average precision.
Unmatched = Literal["skip", "zero"]
ApForm = Literal["sum", "trapezoid", "tied-once"]

#: The divisors of the average precision of a cut list, and of the precision at a rank.
RankKOver = Literal["positives", "smaller", "found"]
PrecisionOver = Literal["rank", "smaller"]

#: The text of GOM's paper, or the program behind its figures.
GomVariant = Literal["paper", "reference"]
