"""A protocol card as one typed object: its sections, fields and accepted values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any

from bioeval.protocol.fields import (
    PAIRS,
    RECTANGULAR,
    SEARCHABLE,
    SQUARE,
    CardSection,
    Choice,
    Field,
    Size,
    Task,
    card_field,
    fields_of,
    write_toml,
)
from bioeval.protocol.tasks import ClosedSet, Gom, OpenSet, Reid, Verification
from bioeval.scores.attempts import FORM

SCHEMA_VERSION = 1

LAYOUTS: Mapping[str, str] = MappingProxyType(
    {
        SQUARE: "one set of n templates, each compared with all the others; a template is never "
        "compared with itself",
        RECTANGULAR: "m probe templates (rows) compared with the templates of a separate gallery "
        "(columns)",
        PAIRS: "a fixed list of comparisons, each marked as genuine or impostor",
    }
)


@dataclass(frozen=True, kw_only=True)
class SourceSection(CardSection):
    """The ``[source]`` section."""

    doc = "Where the protocol is defined."
    required = True

    text: str = card_field("the paper, standard or lecture that defines it")
    year: int | None = card_field("its year", ge=1800, le=2200, default=None)
    section: str | None = card_field("the section, chapter or part of it", default=None)
    url: str | None = card_field("where to read it", default=None)


@dataclass(frozen=True, kw_only=True)
class PartitionKind(Choice):
    """A way to divide the data: a splitter of ``bioeval.partition``, made from fields of the card.

    `arguments` names the field of the ``[partition]`` section that gives each argument of the
    splitter; the other fields have no effect.
    """

    splitter: str
    arguments: Mapping[str, str]


_FOLDS = {"n_splits": "folds", "n_repeats": "repeats", "random_state": "seed"}
#: The parts of an experiment, which are arguments and fields of the same name.
EXPERIMENT = (
    *("train", "validation", "gallery_templates", "unenrolled", "enrolled", "probe_templates"),
    *("too_few", "unseen"),
)

#: The kinds of partition: a new splitter has its card side here.
PARTITIONS = {
    "subject-folds": PartitionKind(
        doc="folds of subjects: each is tested once while the others are trained on; no subject is "
        "in two. Pairs must name their subjects",
        splitter="SubjectKFold",
        arguments={**_FOLDS, "stratify": "stratify"},
    ),
    "sample-folds": PartitionKind(
        doc="folds of templates, with the same number of each subject's, within one; subjects "
        "are on both sides",
        layouts=SEARCHABLE,
        splitter="SampleKFold",
        arguments={**_FOLDS, "stratify": "stratify"},
    ),
    "gallery-folds": PartitionKind(
        doc="folds of the templates of each subject: each is enrolled once, and the others probe. "
        "There is no training part, and each gallery is evaluated by itself",
        layouts=(SQUARE,),
        splitter="GalleryKFold",
        arguments=_FOLDS,
    ),
    "given-folds": PartitionKind(
        doc="the folds that come with the data: of each pair, or of each template in the metadata "
        "column that 'column' names",
        splitter="PredefinedFolds",
        arguments={"fold_of_sample": "column"},
    ),
    "dev-eval": PartitionKind(
        doc="two parts of subjects, drawn anew in each repeat: development, to choose the "
        "threshold, and evaluation, to judge it",
        splitter="SubjectShuffleSplit",
        arguments={"n_splits": "repeats", "random_state": "seed", "test_size": "test_size"},
    ),
    "experiment": PartitionKind(
        doc="the lecture's whole experiment, drawn anew in each repeat: training, validation and "
        "test by subject, or by sample; gallery and probes by template; enrolled and unenrolled by "
        "subject",
        layouts=(SQUARE,),
        splitter="Experiment",
        arguments={
            **dict(zip(EXPERIMENT, EXPERIMENT, strict=True)),
            "unit": "unit",
            "stratify": "stratify",
            "repeats": "repeats",
            "random_state": "seed",
        },
    ),
}


_of_experiment = partial(card_field, layouts=(SQUARE,), default=None)


@dataclass(frozen=True, kw_only=True)
class Partition(CardSection):
    """The ``[partition]`` section."""

    doc = (
        "The folds. A training pair has both templates in the training part, a test pair both in "
        "the test part; pairs across both parts are not used. For a list of pairs that is "
        "divided by subject, the same holds for both subjects."
    )
    by: str = card_field("how the data are divided", choices=PARTITIONS)
    folds: int = card_field(
        "the number of folds, each tested at a threshold chosen on the others; not with given "
        "folds, dev-eval or an experiment",
        ge=2,
        default=10,
    )
    repeats: int = card_field(
        "how often folds or experiments are drawn; not with given folds", ge=1, le=10_000, default=1
    )
    seed: int = card_field("the seed of the draws", ge=0, default=0)
    test_size: float = card_field(
        "with dev-eval: the proportion of subjects in the evaluation part",
        ge=0.01,
        le=0.99,
        default=0.5,
    )
    stratify: str | None = card_field(
        "a metadata column of subjects whose values have the same proportions in every fold, or "
        "with an experiment in training, validation and test",
        layouts=SEARCHABLE,
        default=None,
    )
    column: str | None = card_field(
        "with given folds: the metadata column that holds the fold of each template",
        layouts=SEARCHABLE,
        default=None,
    )
    train: Size | None = _of_experiment(
        "with an experiment: the proportion or number of subjects on which the threshold is "
        "chosen, if there is no validation part, while the others are tested"
    )
    validation: Size | None = _of_experiment(
        "with an experiment: the subjects of the validation part; the threshold is chosen on it"
    )
    gallery_templates: Size | None = _of_experiment(
        "with an experiment: the templates of each subject that are enrolled, as a number, a "
        "proportion, or metadata such as session=1; or a number of the best by a metadata column "
        "of quality, the largest value being the best; without it all templates of a part are "
        "compared with each other",
        pattern="[^=]+=[^=]+",
        pattern_words='or metadata such as session=1 or { quality = "sharpness", number = 2 }',
        table={"quality": "text", "number": "size"},
    )
    unenrolled: Size | None = _of_experiment(
        "with an experiment: the proportion or number of test subjects that are not enrolled; all "
        "their templates probe"
    )
    enrolled: Size | None = _of_experiment(
        "with an experiment, instead of 'unenrolled': the number of test subjects to enrol, "
        "among those with enough templates; all templates of the others are probes"
    )
    probe_templates: int | None = _of_experiment(
        "with an experiment: largest number of other templates of an enrolled subject that are "
        "probes, drawn at random (by default all)",
        ge=1,
    )
    unit: str = card_field(
        "with an experiment: what training, validation and test divide",
        choices={
            "subject": "subjects: those tested are new",
            "sample": "templates of each subject: train and validation count these, and those "
            "tested are of the same subjects",
        },
        layouts=(SQUARE,),
        default="subject",
    )
    unseen: Size | None = _of_experiment(
        'with an experiment of unit "sample": the subjects who are only tested, of those with two '
        "templates or more"
    )
    too_few: str = card_field(
        "with an experiment: what becomes of a subject that has too few templates to be enrolled "
        "and to probe",
        choices={
            "raise": "an error",
            "enrol": "all its templates are enrolled",
            "probe": "all its templates probe, and it is not enrolled",
            "drop": "it is left out",
        },
        layouts=(SQUARE,),
        default="raise",
    )

    @property
    def unused(self) -> tuple[str, ...]:
        """The fields without effect on this kind of partition."""
        if self.by not in PARTITIONS:  # of a card made in Python, before it is checked
            return ()
        used = {"by", *PARTITIONS[self.by].arguments.values()}
        return tuple(name for name in self.fields() if name not in used)

    @property
    def splitter(self) -> str:
        """The name of the splitter in :mod:`bioeval.partition`."""
        return PARTITIONS[self.by].splitter

    def options(self) -> dict[str, Any]:
        """Return the arguments of the splitter, from the fields of the card."""
        return {name: self[field] for name, field in PARTITIONS[self.by].arguments.items()}


@dataclass(frozen=True, kw_only=True)
class Galleries(CardSection):
    """The ``[galleries]`` section."""

    doc = (
        "Several galleries in one set of scores. All probes search each gallery separately, at "
        "its own thresholds, and rates are averaged over the galleries; attempts are never "
        "pooled."
    )
    layouts = (RECTANGULAR,)

    column: str = card_field("the metadata column of the gallery whose values are its galleries")


@dataclass(frozen=True, kw_only=True)
class ClaimsSection(CardSection):
    """The ``[claims]`` section."""

    doc = (
        "Claims of verification drawn at random, instead of all. Probes of subjects that are not "
        "enrolled make as many claims, and are counted separately."
    )
    layouts = SEARCHABLE

    per_probe: int = card_field("the different subjects that each probe claims", ge=1, default=1)
    genuine: float = card_field(
        "the proportion of genuine claims among those of enrolled probes", ge=0, le=1, default=0.5
    )
    seed: int = card_field("the seed of the draws", ge=0, default=0)


@dataclass(frozen=True, kw_only=True)
class Decision(CardSection):
    """The ``[decision]`` section."""

    doc = (
        "The threshold of each fold: chosen on its training part, at the scores themselves, and "
        "used unchanged on its test part."
    )
    rule: str = card_field(
        "how it is chosen",
        choices={
            "eer": "where {far} and {frr} cross: of the two neighbours, the one with the smaller "
            "max({far}, {frr})",
            "far": "the smallest {frr} with {far} at most 'far'",
            "frr": "the smallest {far} with {frr} at most 'frr'",
            "accuracy": "the largest proportion of correct decisions; of equals the strictest",
            "hter": "the smallest ({far} + {frr}) / 2; of equals the strictest",
            "cost": "the least prior c_miss {frr} + (1 - prior) c_fa {far}, of 'cost'; of equals "
            "the strictest",
            "fixed": "given: 'value', the same in all folds",
            "none": "no threshold is chosen: operating points of each test part, for an "
            "experiment without another part",
        },
        default="eer",
    )
    far: float | None = card_field(
        "the largest {far} allowed on the training part",
        ge=0,
        le=1,
        only_if=("rule", "far"),
        default=None,
    )
    frr: float | None = card_field(
        "the largest {frr} allowed on the training part",
        ge=0,
        le=1,
        only_if=("rule", "frr"),
        default=None,
    )
    cost: tuple[float, ...] | None = card_field(
        "prior, c_miss, c_fa", ge=0, only_if=("rule", "cost"), default=None
    )
    value: float | None = card_field(
        "the threshold, in the units of the scores", only_if=("rule", "fixed"), default=None
    )

    def as_rule(self) -> Any:
        """Return the rule, or the number, as :func:`bioeval.cross_evaluate` takes it."""
        if self.rule == "fixed":
            return self.value
        numbers = {"far": (self.far,), "frr": (self.frr,), "cost": self.cost}.get(self.rule)
        if numbers is None:
            return self.rule
        return f"{self.rule}={','.join(map(str, numbers))}"


@dataclass(frozen=True, kw_only=True)
class Uncertainty(CardSection):
    """The ``[uncertainty]`` section."""

    doc = "The interval of a rate over folds."
    interval: str = card_field(
        "how it is found",
        choices={
            "nadeau-bengio": "from the spread between folds, corrected for training parts that "
            "overlap (Nadeau and Bengio 2003), with sizes in subjects; a heuristic",
            "quantile": "the middle of the repeats themselves: how the rate depends on the draw, "
            "among these same subjects; no confidence interval for other subjects",
        },
        default="nadeau-bengio",
    )
    confidence: float = card_field(
        "confidence level of the two-sided interval", ge=0.5, le=0.9999, default=0.95
    )


@dataclass(frozen=True, kw_only=True)
class CurveSection(CardSection):
    """The ``[curve]`` section."""

    doc = "The thresholds of the curves. EER and the other operating points do not depend on them."
    only_one_of = ("n_thresholds", "thresholds")

    n_thresholds: int | None = card_field(
        "about this many thresholds, from the smallest to the largest finite score",
        ge=2,
        le=1_000_000,
        default=1000,
    )
    thresholds: tuple[float, ...] | None = card_field(
        "these thresholds, in the units of the scores", increasing=True, default=None
    )


@dataclass(frozen=True, kw_only=True)
class Report(CardSection):
    """The ``[report]`` section."""

    doc = "What tables and reports show."

    far_targets: tuple[float, ...] = card_field(
        "{frr} and {dir} are given where {far} is at most each of these",
        distinct=True,
        gt=0,
        le=1,
        default=(0.1, 0.01, 0.001, 0.0001),
    )
    frr_targets: tuple[float, ...] | None = card_field(
        "{far} of verification is given where {frr} is at most each of these",
        distinct=True,
        gt=0,
        le=1,
        default=None,
    )
    priors: tuple[float, ...] = card_field(
        "the proportions of genuine attempts at which minDCF of verification is given; it is the "
        "least expected cost of decisions, divided by that of the better of accepting all and "
        "rejecting all, both errors costing 1",
        distinct=True,
        gt=0,
        lt=1,
        default=(0.5,),
    )
    ranks: tuple[int, ...] = card_field(
        "the ranks shown in tables", distinct=True, ge=1, default=(1, 5, 10), layouts=SEARCHABLE
    )


SECTIONS: Mapping[str, type[CardSection]] = MappingProxyType(
    {
        "source": SourceSection,
        "verification": Verification,
        "open_set": OpenSet,
        "closed_set": ClosedSet,
        "reid": Reid,
        "gom": Gom,
        "galleries": Galleries,
        "partition": Partition,
        "claims": ClaimsSection,
        "decision": Decision,
        "uncertainty": Uncertainty,
        "curve": CurveSection,
        "report": Report,
    }
)
"""The sections of a card, in their order."""

TASKS = tuple(name for name, section in SECTIONS.items() if issubclass(section, Task))


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """A protocol card, with the defaults filled in.

    Its attributes are the fields and the sections of the card, which ``docs/protocol-cards.md``
    explains: ``card.layout``, ``card.open_set.ties``. A section that the card does not have is
    None, and so is an option that it does not fix, such as ``max_rank``; ``curve`` and ``report``
    always have values. ``path`` is the file of the card, or None.

    A protocol that is made in Python, by ``Protocol(...)`` or ``dataclasses.replace``, is checked
    where it is used, as a file is.
    """

    name: str = card_field(
        "the name by which the protocol is loaded",
        pattern="[a-z0-9]+(-[a-z0-9]+)*",
        pattern_words="of lower-case letters and digits, with single hyphens between them",
    )
    title: str = card_field("the title, for headings")
    summary: str = card_field("the protocol in a few plain sentences")
    layout: str = card_field(
        "the layout of the scores: which templates are compared", choices=LAYOUTS
    )
    exclude: tuple[str, ...] = card_field(
        "further comparisons to leave out, by metadata: session (mates of the same session), "
        "clothes!= (mates with different clothes), camera=3/2 (mates of camera 3 as probe and 2 in "
        "the gallery); all:session, all:camera=3/2: all such pairs and not mates alone",
        pattern=FORM,
        pattern_words="such as session, clothes!=, camera=3/2 or all:camera=3/2",
        distinct=True,
        may_be_empty=True,
        layouts=SEARCHABLE,
        default=(),
    )
    source: SourceSection
    verification: Verification | None = None
    open_set: OpenSet | None = None
    closed_set: ClosedSet | None = None
    reid: Reid | None = None
    gom: Gom | None = None
    galleries: Galleries | None = None
    partition: Partition | None = None
    claims: ClaimsSection | None = None
    decision: Decision | None = None
    uncertainty: Uncertainty | None = None
    curve: CurveSection = CurveSection()
    report: Report = Report()
    not_said: tuple[str, ...] = card_field(
        "points that the card leaves open, one sentence each", default=(), may_be_empty=True
    )
    not_expressed: tuple[str, ...] = card_field(
        "rules of the protocol's source that a card cannot state, one sentence each",
        default=(),
        may_be_empty=True,
    )
    path: str | None = field(default=None, compare=False)
    # Whether the values were checked. `replace` does not copy it, since values may have changed.
    _checked: bool = field(default=False, init=False, compare=False, repr=False)

    @property
    def sections(self) -> dict[str, CardSection]:
        """The sections of the card by name, in the order of :data:`SECTIONS`."""
        sections = {}
        for name in SECTIONS:
            section = getattr(self, name)
            if section is not None:
                sections[name] = section
        return sections

    @property
    def tasks(self) -> Mapping[str, Task]:
        """The tasks of the card by name: ``card.tasks["open_set"]["ties"]``."""
        return MappingProxyType(
            {name: task for name, task in self.sections.items() if isinstance(task, Task)}
        )

    def section(self, name: str) -> Any:
        """Return a section, with its defaults where the card has none."""
        return getattr(self, name) or SECTIONS[name]()

    @property
    def layouts(self) -> tuple[str, ...]:
        """The layouts of scores that the card takes.

        Re-identification and GOM alone take any matrix: a query is compared with the gallery
        entries that are left for it, and never with itself. The attempts of all other tasks are
        those of the card's own layout.
        """
        if not self.only_retrieval:
            return (self.layout,)
        sections = self.sections.values()
        return tuple(x for x in SEARCHABLE if all(x in section.layouts for section in sections))

    @property
    def only_retrieval(self) -> bool:
        """Whether re-identification and GOM, which have passes of their own, are the only tasks."""
        return self.verification is self.open_set is self.closed_set is None

    @property
    def has_folds(self) -> bool:
        """Whether the tasks are evaluated in folds."""
        return self.partition is not None

    def as_tables(self) -> dict[str, Any]:
        """Return the values and the sections of the card's file, with every default written out.

        Values that are not fixed are left out, and fields that the layout does not have.
        """

        def written(values: Any, fields: Mapping[str, Field]) -> dict[str, Any]:
            return {
                key: values[key]
                for key, spec in fields.items()
                if values[key] is not None
                and (self.layout in spec.layouts or values[key] != spec.default)
            }

        tables = {"schema": SCHEMA_VERSION, **written(vars(self), fields_of(Protocol))}
        for name, section in self.sections.items():
            tables[name] = written(section, section.fields())
        return tables

    def to_toml(self) -> str:
        """Return the card as text, with every default written out; it reads back as equal."""
        lines = []
        for name, value in self.as_tables().items():
            if name in SECTIONS:
                lines += ["", f"[{name}]"]
                lines += [f"{key} = {write_toml(item)}" for key, item in value.items()]
            else:
                lines.append(f"{name} = {write_toml(value)}")
        return "\n".join(lines) + "\n"


HEAD: Mapping[str, Field] = MappingProxyType(
    {
        "schema": Field(
            f"the version of the card format, which is {SCHEMA_VERSION}",
            kind="integer",
            required=True,
        ),
        **fields_of(Protocol),
    }
)
"""The fields above the first section."""
