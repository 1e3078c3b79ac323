"""The tasks of a card: verification, identification and re-identification.

Each class is a section of a protocol card, and each of its fields an entry of the section. The card

.. code-block:: toml

    [closed_set]
    max_rank = 20
    unmated = "skip"

has ``ClosedSet(max_rank=20, unmated="skip")``, with the defaults of other fields. The words that a
field may have are told twice: as a ``Literal`` for type checkers, and as the `choices` of the field
with what each of them does, for checks, messages, and ``bioeval protocols NAME``, which prints a
card in words. `says` and `rates` are the words of the task as a whole, by the layout of scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from bioeval.base.arguments import require_choice, require_integer
from bioeval.base.kinds import Kind
from bioeval.protocol.fields import (
    PAIRS,
    RECTANGULAR,
    SEARCHABLE,
    SQUARE,
    Choice,
    Label,
    Task,
    card_field,
    fields_of,
)
from bioeval.scores.distances import FUSIONS, Templates, by_closeness, parse_fusion

#: Which probes make impostor attempts in open-set identification.
ImpostorProbes = Literal["auto", "unenrolled", "leave-subject-out", "both"]

#: Whether a candidate list has templates or subjects.
RankUnit = Literal["template", "subject"]
#: Which templates of the gallery are enrolled.
EnrolledTemplates = Literal["all", "single"]

#: The rank of an entry exactly as close as the mate.
PlainTies = Literal["pessimistic", "optimistic", "stable"]
#: The same, also with counts that may hold fractions.
Ties = Literal[PlainTies, "expected"]

#: Probes without a mate, in closed-set identification.
Unmated = Literal["auto", "raise", "skip"]

#: Entries that a query does not see.
Removed = Literal["same-id-same-camera", "same-camera", "none"]
#: The treatment of junk.
Junk = Literal["keep", "remove"]

#: Entries that a query does not see, for average precision and INP.
RemovedForAp = Literal["as-above", "same-id-same-camera", "none"]
#: The matches that the CMC counts.
Cmc = Literal["first-match", "allshots", "single-gallery-shot", "identity-dedup"]

#: The treatment of a query without a match.
Unmatched = Literal["skip", "zero"]
#: The form of average precision.
ApForm = Literal["sum", "trapezoid", "tied-once"]

#: The divisor of the average precision of a cut list.
RankKOver = Literal["positives", "smaller", "found"]
#: The divisor of the precision at a rank.
PrecisionOver = Literal["rank", "smaller"]

#: The text of GOM's paper, or the program behind its figures.
GomVariant = Literal["paper", "reference"]

TIES = {
    "pessimistic": "a non-mate exactly as close as the mate ranks before it",
    "optimistic": "a non-mate exactly as close as the mate ranks after it",
    "stable": "equal scores keep the order of the gallery's columns (a subject has the column of "
    "its first best template)",
    "expected": "the mean over all orders of the tied, so counts may hold fractions",
}

# Choices of `Verification.templates`, with the words on attempts by layout.
_SINGLE = Choice(
    "one comparison is one attempt",
    says={
        SQUARE: {
            "An attempt": "every ordered pair (i, j) of two different templates: i claims to be "
            "the subject of j. (i, j) and (j, i) are two attempts, unless 'pairs' below says "
            "otherwise",
            "Genuine": "the two templates are of one subject. TG = the sum over subjects of "
            "S(S - 1), for a subject with S templates",
            "Impostor": "the two templates are of two subjects. TI = n^2 - the sum over subjects "
            "of S^2, for n templates in all",
        },
        RECTANGULAR: {
            "An attempt": "every cell of the matrix: the probe claims to be the subject of the "
            "gallery template",
            "Genuine": "probe and template are of one subject. TG = the sum over probes of the "
            "number of gallery templates of the probe's subject",
            "Impostor": "every other cell. TI = m*n - TG, for m probes and n gallery templates",
        },
        PAIRS: {
            "An attempt": "every pair of the list",
            "Genuine": "a pair that the list marks as genuine. TG = their number",
            "Impostor": "every other pair. TI = their number",
        },
    },
)

_MULTI = Choice(
    "a claim is compared with all templates of the claimed subject, whose scores are fused",
    layouts=SEARCHABLE,
    says={
        SQUARE: {
            "An attempt": "each probe claims each subject once; the score is fused over that "
            "subject's templates, the probe itself left out",
            "Genuine": "a claim of the probe's own subject, if it has another template. TG = "
            "probes with at least one other template of their subject",
            "Impostor": "a claim of any other subject. TI = all pairs of a probe and another "
            "subject (n(N - 1) for n templates of N subjects)",
        },
        RECTANGULAR: {
            "An attempt": "each probe claims each enrolled subject once; the score is fused over "
            "that subject's gallery templates",
            "Genuine": "a claim of the probe's own subject. TG = probes whose subject is enrolled",
            "Impostor": "a claim of any other subject. TI = m*N - TG, for m probes and N enrolled "
            "subjects",
        },
    },
)

# The field `fusion` of verification and of identification, where other fields decide on its use.
_FUSION: dict[str, Any] = {
    "doc": "how the scores of one subject's templates become one score",
    "choices": FUSIONS,
    "default": "best",
}


@dataclass(frozen=True, kw_only=True)
class Verification(Task):
    """The ``[verification]`` section."""

    doc = "Verification (1:1): a probe claims an identity, and the claim is accepted or rejected."
    rates = {
        "{gar}": "genuine accepts / genuine attempts (GA / TG)",
        "{frr}": "false rejects / genuine attempts (FR / TG) = 1 - {gar}",
        "{far}": "false accepts / impostor attempts (FA / TI)",
        "{grr}": "genuine rejects / impostor attempts (GR / TI) = 1 - {far}",
    }
    templates: tuple[Templates, ...] = card_field(
        "whether a claim is compared with one template of the claimed subject or with all",
        distinct=True,
        default=("single", "multi"),
        choices={"single": _SINGLE, "multi": _MULTI},
    )
    fusion: str = card_field(**_FUSION, layouts=SEARCHABLE, only_if=("templates", "multi"))
    pairs: str = card_field(
        "which comparisons of a square matrix are attempts; all but ordered go with templates "
        "= single and with no other task",
        choices={
            "ordered": "(i, j) and (j, i) are two attempts",
            "unordered": "each pair of templates is one attempt, with the later one by name as the "
            "probe and the earlier one enrolled, or the other way round where only that was "
            "compared: TG and TI are half of the above",
            "first-impostors": "each pair of templates of one subject is one genuine attempt, so "
            "TG is half of the above; only the first templates of two subjects, by name, make an "
            "impostor attempt, once: TI = N(N - 1)/2 for N subjects",
        },
        default="ordered",
        layouts=(SQUARE,),
        only_if=("templates", "single"),
    )


@dataclass(frozen=True, kw_only=True)
class Search(Task):
    """How each probe is searched in a gallery, by open-set and by closed-set identification.

    Its words are checked where it is made, of a card or of arguments.
    """

    layouts = SEARCHABLE
    rank_unit: RankUnit = card_field(
        "whether the candidate list has templates, or subjects at their fused scores",
        choices={
            "template": "the candidate list holds every template, so a subject may be on it more "
            "than once",
            "subject": "the candidate list holds each subject once, at its fused score",
        },
        default="template",
    )
    fusion: str = card_field(**_FUSION, only_if=("rank_unit", "subject"))
    ties: Ties = card_field(
        "where a non-mate exactly as close as the mate ranks", choices=TIES, default="pessimistic"
    )
    gallery: EnrolledTemplates = card_field(
        "which templates are enrolled",
        choices={
            "all": "every template of the gallery is enrolled",
            "single": "one template of each subject, drawn uniformly for each probe anew; rates "
            "are the exact means over all such galleries, and counts may hold fractions",
        },
        default="all",
    )

    def __post_init__(self) -> None:
        """Refuse words that the fields lack, and fewer ranks than 1."""
        for name, field in fields_of(type(self)).items():
            value = getattr(self, name)
            if name == "fusion":
                parse_fusion(value)  # also "kth:2", a word with a number
            elif name != "max_rank":
                require_choice(name, value, field.words())
            elif value is not None:
                require_integer(name, value, low=1)

    def of_kind(self, kind: Kind) -> Self:
        """Return the search with the rule that fuses distances."""
        fusion = by_closeness(self.fusion, kind)
        return self if fusion == self.fusion else replace(self, fusion=fusion)

    @property
    def fused(self) -> str:
        """The fusion rule; ``"none"`` where templates are ranked by themselves."""
        return self.fusion if self.rank_unit == "subject" else "none"

    @property
    def attrs(self) -> dict[str, str]:
        """How candidates are ranked, as attributes of a result."""
        return {"rank_unit": self.rank_unit, "fusion": self.fused, "ties": self.ties}


@dataclass(frozen=True, kw_only=True)
class OpenSet(Search):
    """The ``[open_set]`` section."""

    doc = (
        "Open-set identification (1:N with a threshold): is the probe's subject in the gallery, "
        "and who is it?"
    )
    says = {
        SQUARE: {
            "An attempt": "each probe is searched twice, in parallel: once as a genuine probe, "
            "against all other templates, and once as an impostor, against the templates of the "
            "other subjects only",
            "Genuine": "the probe, if its subject has another template. Its score is the distance "
            "of its nearest mate, its rank that mate's place among all candidates. TG = probes "
            "with a mate",
            "Impostor": "the same probe with its own subject's templates out of the gallery. Its "
            "score is the distance of the nearest template of another subject. TI = probes with "
            "at least one other subject present",
        },
        RECTANGULAR: {
            "An attempt": "each probe is searched in the gallery",
            "Genuine": "a probe whose subject is enrolled (PG). Its score is the distance of its "
            "nearest mate, its rank that mate's place among all candidates. TG = enrolled probes "
            "with at least one usable mate",
            "Impostor": "a probe whose subject is not in the gallery of the trial: 'impostors' "
            "below selects the probes. Its score is the distance of the nearest "
            "template of another subject. TI = such probes with at least one usable "
            "template of another subject",
        },
    }
    rates = {
        "{dir}(t, k)": "genuine probes with a mate within t at rank k or better / TG",
        "{frr}(t)": "1 - {dir}(t, 1): missed, or not first",
        "{far}(t)": "impostor probes with any candidate within t / TI",
        "{grr}(t)": "impostor probes without a candidate within t / TI",
        "TTR(t)": "enrolled probes with any template within t, of any subject / enrolled probes",
        "FTR(t)": "probes that are not enrolled (PN) with any template within t / such probes",
    }
    impostors: ImpostorProbes = card_field(
        "which probes make impostor attempts",
        choices={
            "auto": "the probes that are not enrolled (PN) if there are any, else each enrolled "
            "probe with its own subject left out; all-against-all always leaves it out",
            "unenrolled": Choice("the probes that are not enrolled (PN)", (RECTANGULAR,)),
            "leave-subject-out": "each enrolled probe, searched again without its own subject's "
            "templates",
            "both": Choice("the probes of both kinds", (RECTANGULAR,)),
        },
        default="auto",
    )
    max_rank: int | None = card_field(
        "the last rank of {dir} (left out: every rank, while the table stays small)",
        ge=1,
        default=None,
    )


@dataclass(frozen=True, kw_only=True)
class ClosedSet(Search):
    """The ``[closed_set]`` section."""

    doc = (
        "Closed-set identification (1:N without a threshold): every probe is enrolled; at which "
        "rank is its subject?"
    )
    says = {
        SQUARE: {
            "An attempt": "each template is searched against all others. TA = probes with a mate",
            "Genuine": "every probe. One whose subject has no other template has no mate; "
            "'unmated' below sets its treatment",
            "Impostor": "none: there is no threshold to pass",
        },
        RECTANGULAR: {
            "An attempt": "each probe is searched in the gallery. TA = probes with a mate",
            "Genuine": "every probe, since all must be enrolled; 'unmated' below sets "
            "the treatment of the others",
            "Impostor": "none: there is no threshold to pass",
        },
    }
    rates = {
        "{cms}(k)": "probes with a mate at rank k or better / TA",
        "RR": "the recognition rate, {cms}(1)",
    }
    max_rank: int | None = card_field(
        "the last rank of {cms} (left out: every rank)", ge=1, default=None
    )
    unmated: Unmated = card_field(
        "what to do with a probe that has no mate in the gallery",
        choices={
            "auto": "a probe without a mate is left out and counted in all-against-all; in "
            "probe-against-gallery it is an error, since closed-set probes must be "
            "enrolled",
            "raise": "a probe without a mate is an error",
            "skip": "a probe without a mate is left out and counted",
        },
        default="auto",
    )


# The words on impostor attempts of re-identification, in which there are none.
_NO_IMPOSTOR = (
    "none: there is no threshold to pass. Remaining entries of other identities, including "
    "distractors, are wrong entries of the list"
)


@dataclass(frozen=True, kw_only=True)
class Retrieval(Task):
    """Fields shared by re-identification and GOM: the gallery entries that a query sees."""

    layouts = SEARCHABLE
    removed: Removed = card_field(
        "which gallery entries a query does not see",
        choices={
            "same-id-same-camera": "entries of the query's own identity from the query's own "
            "camera",
            "same-camera": "every entry from the query's own camera, of any identity",
            "none": "nothing is removed; cameras are not needed",
        },
        default="same-id-same-camera",
    )
    junk: Junk = card_field(
        "what to do with gallery entries of the junk ids",
        choices={
            "remove": "junk leaves the gallery of every query",
            "keep": "junk stays, as wrong entries that match no query",
        },
        default="remove",
    )
    junk_ids: tuple[int, ...] = card_field(
        "identities that mark junk: detections of nothing, or of a part of a person; a query of "
        "one matches nothing, and is left out and counted",
        distinct=True,
        default=(-1,),
        may_be_empty=True,
    )
    distractor_ids: tuple[Label, ...] = card_field(
        "identities of distractors, in addition to those from image names (`names_of`); they "
        "stay as wrong entries that match no query; a query of one is left out and counted",
        distinct=True,
        default=(),
        may_be_empty=True,
    )


@dataclass(frozen=True, kw_only=True)
class Reid(Retrieval):
    """The ``[reid]`` section; ``docs/reid.md`` explains its fields."""

    doc = (
        "Re-identification (1:N, ranked): each query searches the gallery; at which ranks "
        "are its matches?"
    )
    says = {
        SQUARE: {
            "An attempt": "each template is a query, against all the others that the convention "
            "leaves it",
            "Genuine": "a query with at least one match left: another template of its identity "
            "that is not removed. Every mean is over these queries, unless "
            "'unmatched' is zero",
            "Impostor": _NO_IMPOSTOR,
        },
        RECTANGULAR: {
            "An attempt": "each query (row) searches the gallery entries that the convention "
            "leaves it",
            "Genuine": "a query with at least one match left: a gallery entry of its identity "
            "that is not removed. Every mean is over these queries, unless "
            "'unmatched' is zero",
            "Impostor": _NO_IMPOSTOR,
        },
    }
    rates = {
        "CMC(k)": "queries whose counted match is at rank k or better / queries",
        "mAP": "the mean over the queries of their average precision",
        "mINP": "the mean over the queries of matches / rank of the last match",
    }
    removed_for_ap: RemovedForAp = card_field(
        "the same for average precision and INP, if a program uses another list for them",
        choices={
            "as-above": "the same list as that of the CMC",
            "same-id-same-camera": "average precision and INP are over the list without the "
            "entries of the query's identity from its camera, whatever the CMC is over",
            "none": "average precision and INP are over the whole list",
        },
        default="as-above",
    )
    cmc: Cmc = card_field(
        "matches that the CMC counts",
        choices={
            "first-match": "the first match of a query, at its rank",
            "allshots": "each of the h matches of a query, with 1/h, at its rank among non-matches",
            "single-gallery-shot": "the one match in a gallery of one entry of each identity, "
            "drawn anew for each query; averaged exactly over all draws",
            "identity-dedup": "the query's identity in the list of distinct identities, each at "
            "its first entry",
        },
        default="first-match",
    )
    unmatched: Unmatched = card_field(
        "what to do with a query that has no match left",
        choices={
            "skip": "a query without a match is left out of every mean, and counted",
            "zero": "a query without a match counts as 0 in every mean",
        },
        default="skip",
    )
    ap: ApForm = card_field(
        "the form of average precision",
        choices={
            "sum": "the mean of the precisions at the ranks of the matches",
            "trapezoid": "the area under precision and recall by the trapezoidal rule, from "
            "precision 1 at recall 0",
            "tied-once": "the sum over distinct scores of precision times gained recall, so that "
            "equal scores form one threshold (scikit-learn's average_precision_score)",
        },
        default="sum",
    )
    rank_k: int | None = card_field(
        "also report the mean average precision of lists cut at this rank", ge=1, default=None
    )
    rank_k_over: RankKOver = card_field(
        "divisor of the average precision of a cut list",
        choices={
            "positives": "all matches in the query's gallery, within the cut or not",
            "smaller": "the smaller one of that number and the length of the cut",
            "found": "the matches within the cut (torchmetrics); without one it is 0",
        },
        default="positives",
    )
    precision_over: PrecisionOver = card_field(
        "divisor of the precision at rank K",
        choices={
            "rank": "K",
            "smaller": "the smaller one of K and the number of matches in the query's gallery "
            "(Open Metric Learning)",
        },
        default="rank",
    )
    max_rank: int = card_field("the last rank of the CMC", ge=1, default=50)
    ties: Ties = card_field(
        "where a non-match exactly as close as a match ranks", choices=TIES, default="stable"
    )


# GOM has no exact mean over the orders of tied entries.
_WITHOUT_EXPECTED = {name: words for name, words in TIES.items() if name != "expected"}


@dataclass(frozen=True, kw_only=True)
class Gom(Retrieval):
    """The ``[gom]`` section; ``docs/reid.md`` explains its measures."""

    doc = (
        "GOM (1:N with a threshold): each query retrieves the entries within the threshold; are "
        "all its matches retrieved, ranked first, and nothing else?"
    )
    says = {
        layout: {
            "An attempt": f"{query} searches the gallery entries that are left for it, and "
            "retrieves those within the threshold",
            "Genuine": "a query with at least one match left. mRP, mVP and mReP are over these",
            "Impostor": "a query whose identity is not in the gallery. mFR is over these "
            "queries; a query whose matches are all removed is in neither set, and "
            "is counted separately",
        }
        for layout, query in (
            (SQUARE, "each template, against all the others,"),
            (RECTANGULAR, "each query (row)"),
        )
    }
    rates = {
        "mRP(t)": "the mean of RP: AP of the retrieved list over the matches in it, 0 without one",
        "mVP(t)": "the mean of VP = TP / (TP + FN + FP)",
        "mReP(t)": "the mean of ReP = sqrt(RP VP); MREP is the area under it",
        "mFR(t)": "the mean of FR = min(FP / B, 1); MFR is the area under it",
    }
    distances: str = card_field(
        "the scale of the distances and the thresholds",
        choices={
            "scaled": "distances are scaled to 0 ... 1 over all finite ones of the matrix",
            "as-given": "distances stay as they are",
        },
        default="scaled",
    )
    thresholds: tuple[float, ...] | None = card_field(
        "the thresholds, on that scale (left out: 0, 0.01 ... 1)", increasing=True, default=None
    )
    budget: int = card_field(
        "B, the number of false retrievals at which FR reaches 1", ge=1, default=3000
    )
    variant: GomVariant = card_field(
        "the text of the paper, or the program behind its figures",
        choices={
            "paper": "VP counts all that is retrieved, means are over the queries with a match, "
            "and removed entries are not in the list",
            "reference": "VP counts entries up to the last match, means are over all queries, "
            "and removed entries stay in the list at distance 1",
        },
        default="paper",
    )
    max_rank: int = card_field("the last rank of the CMC and of {dir}", ge=1, default=10)
    ties: PlainTies = card_field(
        "where a non-match exactly as close as a match ranks",
        choices=_WITHOUT_EXPECTED,
        default="stable",
    )
