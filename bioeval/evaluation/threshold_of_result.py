"""The threshold of another result, such as a threshold study, and what it was chosen for."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import Argument, BioevalError, DataError, ProtocolError
from bioeval.base.messages import Message
from bioeval.evaluation.blocks.checkpoint import digest_of_data
from bioeval.evaluation.claim_scores import claim_scores
from bioeval.protocol.card import Protocol
from bioeval.protocol.tasks import OpenSet, Verification
from bioeval.results.dataset import attrs_of_data
from bioeval.scores.blocks import require_subjects
from bioeval.scores.enrolled import Enrolment
from bioeval.scores.matrix import Scores, require_scores
from bioeval.scores.provenance import exclusions_of
from bioeval.tallies.listed_claims import Use, parse_use
from bioeval.tallies.threshold_rules import Rule

_EXPECTED = "expected a number, a rule, or the result of be.study_threshold"

#: What attempts of a system in use are, by the attribute of a study that has them.
_IN_USE = {
    "attempts": "attempts of several tries",
    "enrol": "claims against a chosen number of templates",
}


@dataclass(frozen=True)
class ResultThreshold:
    """The threshold that a result answers with: the assured one if there is one."""

    value: float
    assured: bool
    #: The rule that chose it, as a text; empty where the result has none.
    rule: str
    #: The confidence of the promise; NaN without one.
    confidence: float
    kind: str
    task: str
    templates: Any  # as the functions of the tasks take these
    fusion: Any
    rank_unit: Any
    #: The column that joins the tries of an attempt, and the templates that are enrolled.
    attempts: str | None
    enrol: str | None
    #: The comparisons that the study left out, as :class:`Scores` has them.
    exclude: tuple[str, ...]
    digest: str

    @classmethod
    def of(cls, threshold: Any) -> ResultThreshold | None:
        """Return the threshold of a result; None of what is no result."""
        if isinstance(threshold, xr.DataTree):
            if "threshold_study" in threshold.children:
                threshold = threshold.children["threshold_study"]
            threshold = threshold.to_dataset()
        if not isinstance(threshold, xr.Dataset):
            return None
        values = {}
        for variable in ("assured_threshold", "threshold"):
            if variable in threshold.variables and not threshold[variable].dims:
                values[variable] = float(threshold[variable])
        if not values:
            raise DataError(
                Argument("threshold"), f" is a result without a threshold of its own; {_EXPECTED}"
            )
        name = next((x for x, value in values.items() if not math.isnan(value)), None)
        if name is None:
            raise DataError(
                Argument("threshold"),
                " is a result that could not choose a threshold; give a number, or a study with "
                "another target or of more people",
            )
        attrs = threshold.attrs
        return cls(
            value=values[name],
            assured=name == "assured_threshold",
            rule=str(attrs.get("threshold_rule", "")),
            confidence=float(attrs.get("assure", math.nan)),
            kind=str(attrs.get("kind", "")),
            task="open_set" if "unenrolled_people" in threshold else "verification",
            templates=str(attrs.get("templates", "single")),
            fusion=str(attrs.get("fusion", "min")),
            rank_unit=str(attrs.get("rank_unit", "template")),
            attempts=attrs.get("attempts"),
            enrol=attrs.get("enrol"),
            exclude=exclusions_of(attrs),
            digest=str(attrs.get("data_digest", "")),
        )

    @property
    def use(self) -> dict[str, Any]:
        """How the system of the study is used, as arguments of verification."""
        return {
            "templates": self.templates,
            "fusion": self.fusion,
            "attempts": self.attempts,
            "enrol": self.enrol,
        }

    @property
    def parsed_use(self) -> Use:
        """The same, checked."""
        return parse_use(**self.use | {"templates": "multi"})

    def require_use(self, asked: dict[str, Any], *, defaults: bool = True) -> None:
        """Raise where arguments describe another use than that of the study.

        With `defaults`, single templates and the least score may be those of a call that says
        nothing; else None says nothing.
        """
        default = {"templates": "single", "fusion": "min"} if defaults else {}
        if asked.get("enrol") is not None:
            asked = asked | {"enrol": str(Enrolment.parse(asked["enrol"]))}
        self._require_same(
            {
                name: (value, default.get(name), self.use[name])
                for name, value in asked.items()
                if value is not None
            }
        )

    def require(self, scores: Scores, task: str = "verification", *, in_use: bool = False) -> None:
        """Raise unless the scores and the task are those that the threshold is for.

        `in_use` says whether attempts of several tries, and a chosen number of templates, can be
        evaluated.
        """
        if self.kind and self.kind != scores.kind:
            raise DataError(
                Argument("threshold"),
                f" is of a study of scores of the kind {self.kind}, and these are of the kind "
                f"{scores.kind}; give a study of such scores",
            )
        if self.task != task:
            names = {"verification": "claims", "open_set": "searches"}
            raise ProtocolError(
                Argument("threshold"),
                f" is of a study of {names[self.task]}, and these are rates of {names[task]}: they "
                "need a threshold of their own",
            )
        self.require_one_gallery()
        for name, words in () if in_use else _IN_USE.items():
            if getattr(self, name) is not None:
                raise ProtocolError(
                    Argument("threshold"),
                    f" is of a study of {words}, which are not evaluated here; give the scores "
                    "of its claims (be.claim_scores) and its threshold as a number, or a study of "
                    "single comparisons",
                )

    def require_one_gallery(self) -> None:
        """Raise where it is of searches among any of the templates, which only a study counts."""
        if self.task == "open_set" and self.parsed_use.enrol.drawn:
            raise ProtocolError(
                Argument("threshold"),
                f" is of a study of searches with enrol={self.enrol}, a mean over all choices of "
                "templates, which is not evaluated here. Make the study with the first ones "
                f"enrolled, enrol=first:{self.enrol} (bioeval threshold FILE --task open_set "
                f"--enrol first:{self.enrol} --out STUDY)",
            )

    def compared(self, scores: Scores, *, besides: Collection[str] = ()) -> Scores:
        """Return scores with the exclusions of the study, which are part of its protocol.

        Raise :class:`DataError` where the scores have others, or cannot have these. Exclusions
        `besides` those are of the evaluation, whatever the study has.
        """
        require_scores(scores)
        own = [name for name in scores.exclude if name not in besides]
        wanted = [name for name in self.exclude if name not in besides]
        if set(own) == set(wanted):
            return scores
        if own:
            raise DataError(
                Argument("exclude", ",".join(own)),
                f" is not that of the study, {', '.join(wanted) or 'none'}, whose threshold is "
                "given; leave it out, or make a study with it",
            )
        try:
            return scores.excluding(*scores.exclude, *wanted)
        except BioevalError as error:
            raise type(error)(
                Argument("threshold"),
                f" is of a study that excludes {', '.join(wanted)}, which these scores cannot: "
                f"{error}",
            ) from None

    @classmethod
    def for_claims(
        cls, threshold: Any, scores: Scores, templates: Any, fusion: Any
    ) -> tuple[Scores, ResultThreshold | None, Rule, Any, Any]:
        """Return scores, a study of their claims, the rule of its threshold, templates and fusion.

        All but the study are those of the study, with its exclusions; without one, as given.
        """
        study = cls.of(threshold)
        if study is None:
            return scores, None, Rule.parse(threshold), templates, fusion
        scores = study.compared(scores)
        study.require(scores)
        return scores, study, study.fixed, *study.claim(templates, fusion)

    @classmethod
    def for_claims_in_use(
        cls, threshold: Any, scores: Scores, templates: Any, fusion: Any
    ) -> tuple[Scores, ResultThreshold | None, Rule, Any, Any]:
        """Return the scores too: of a study of a system in use they are those of its claims.

        Else as :meth:`for_claims`; the claims are single comparisons.
        """
        study = cls.of(threshold)
        if study is None or not study.in_use:
            return cls.for_claims(threshold, scores, templates, fusion)
        study.require_use({"templates": templates, "fusion": fusion})
        scores = study.compared(scores)
        return study.claims_of(scores), study, study.fixed, "single", "min"

    @property
    def is_of_single_comparisons(self) -> bool:
        """Whether its attempts are comparisons with one template each."""
        return self.task == "verification" and self.templates == "single" and not self.in_use

    def card_of(self, card: Protocol) -> Protocol:
        """Return a card of the claims, or the searches, of the study alone."""
        sections: dict[str, Any] = dict.fromkeys(card.tasks)
        if self.task == "open_set":
            sections["open_set"] = replace(
                card.open_set or OpenSet(),
                rank_unit=self.rank_unit,
                fusion=self.fusion if self.rank_unit == "subject" else "min",
                impostors="unenrolled",
            )
        else:
            sections["verification"] = replace(
                card.verification or Verification(),
                templates=(self.templates,),
                fusion=self.fusion if self.templates == "multi" else "min",
                attempts=self.attempts,
            )
        return replace(card, **sections)

    def is_mean_over_choices(self, scores: Scores) -> bool:
        """Whether several choices of templates may be enrolled, so that claims have many scores."""
        if not self.in_use or self.task != "verification":
            return False
        require_scores(scores)
        self.require(scores, in_use=True)
        drawn = self.parsed_use.enrol.drawn
        if not drawn:
            return False
        require_subjects(scores, Argument("enrol"))
        return int(np.bincount(scores._codes.gallery).max()) > drawn

    def require_single_scores(self, scores: Scores) -> None:
        """Raise where several choices of templates give a claim several scores."""
        if self.is_mean_over_choices(scores):
            raise ProtocolError(
                Argument("threshold"),
                f" is of a study with enrol={self.enrol}, a mean over all choices of templates: a "
                "claim has no single score. Make the study with the first ones enrolled, "
                f"enrol=first:{self.enrol} (bioeval threshold FILE --enrol first:{self.enrol} "
                "--out STUDY)",
            )

    def claims_of(self, scores: Scores) -> Scores:
        """Return the scores of the claims of a study of a system in use."""
        self.require_single_scores(scores)
        require_scores(scores)
        self.require(scores, in_use=True)
        use = self.use
        if self.parsed_use.enrol.drawn:  # of no subject more than these: all are enrolled
            use["enrol"] = None
        return claim_scores(scores, **use)

    @property
    def in_use(self) -> bool:
        """Whether its attempts are several tries, or claims against some of the templates."""
        return self.attempts is not None or self.enrol is not None

    def claim(self, templates: str, fusion: str) -> tuple[Any, Any]:
        """Return templates and fusion of the study; raise where others are asked for."""
        wanted = {"templates": (templates, "single", self.templates)}
        if self.templates == "multi":
            wanted["fusion"] = (fusion, "min", self.fusion)
        self._require_same(wanted)
        return self.templates, (self.fusion if self.templates == "multi" else fusion)

    @staticmethod
    def _require_same(wanted: Mapping[str, tuple[Any, str | None, Any]]) -> None:
        """Raise unless options are those of the study: of each the value, default and study's."""
        for name, (asked, default, of_study) in wanted.items():
            if asked not in (default, of_study):
                raise DataError(
                    Argument(name, asked),
                    f" is not that of the study, {of_study}, whose threshold is given; leave it "
                    "out",
                )

    def searches(self, rank_unit: str, fusion: str) -> tuple[Any, Any]:
        """Return rank unit and fusion of a study of searches; raise where others are asked for."""
        wanted = {
            "rank_unit": (rank_unit, "template", self.rank_unit),
            "fusion": (fusion, "min", self.fusion),
        }
        self._require_same(wanted)
        return self.rank_unit, self.fusion

    @property
    def fixed(self) -> Rule:
        """The rule of this threshold, which is given."""
        return Rule("fixed", (self.value,))

    def attrs(self, scores: Scores | None = None) -> dict[str, Any]:
        """Return the attributes that say where a given threshold comes from.

        A result of claims in use is of the `scores` that the claims were made of.
        """
        attrs: dict[str, Any] = {
            "threshold_of_study": "assured" if self.assured else "chosen",
            "rule_of_study": self.rule,
        }
        if self.assured:
            attrs["assure"] = self.confidence
        if self.in_use:
            attrs |= {name: value for name, value in self.use.items() if value is not None}
            if scores is not None:
                attrs |= attrs_of_data(scores)
        return attrs

    def is_of(self, scores: Scores) -> bool:
        """Whether the study was made on these very scores."""
        return bool(self.digest) and self.digest == digest_of_data(scores)

    def messages(self, scores: Scores) -> list[Message]:
        """Return a message where the study chose the threshold on these very scores."""
        was_chosen = bool(self.rule) and not self.rule.startswith("fixed")
        if was_chosen and self.is_of(scores):
            return [Message("study-of-these-data")]
        return []
