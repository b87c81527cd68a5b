"""Rules on event columns: EIR l-diversity of the values that generalized cells may stand for.

A choice of values that breaks the rule meets every person with fewer than l values. A cell admits
the values below its node, so in the worst case it stands for every lower node that the class
publishes; a person with `*` is met by any value. What holds then holds for the values themselves,
which is why the cuts of persons are made under the rule on these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from anonymizer.algorithms.persons.rules import PersonRules
from anonymizer.algorithms.schema.events import Known, known
from anonymizer.algorithms.schema.raising import PLACED
from anonymizer.algorithms.schema.rules import FAILING, Judged, failing_steps
from anonymizer.compile import Sql, Table, work
from anonymizer.errors import Problem, SourceError
from anonymizer.policy import SchemaPolicy
from anonymizer.policy.schema.checks.events import CATEGORIES
from anonymizer.policy.schema.paths import table_path
from anonymizer.privacy.eir_l import EirL
from anonymizer.source.child import Child
from anonymizer.source.profile import Sensitive
from anonymizer.steps import Step

APART = 50_000
"""From here on columns with a rule are numbered, above the sensitive ones of their table."""


@dataclass(frozen=True, slots=True)
class OfEvent(Sensitive):
    """The values of an event column as those of a sensitive one."""

    physical: Sql = Sql("value")

    @property
    def s(self) -> Sql:  # type: ignore[override]  # the column has its own name
        return self.physical


@dataclass(frozen=True, slots=True)
class EventRule:
    """An event column with a rule: its table, its column, and the l of EIR l-diversity."""

    child: Child
    event: Known
    l: int

    @property
    def name(self) -> str:
        return f"{self.child.name}.{self.event.attribute.column}"

    @property
    def path(self) -> str:
        return table_path(self.child.name, "columns", self.event.attribute.column)

    @property
    def admitted(self) -> Table:
        return work(f"admitted_values_{self.event.index}")

    def column(self, physical: Sql) -> OfEvent:
        """The column for the templates of rules, under this name in its table."""
        a = self.event.attribute
        return OfEvent(a.index + APART, a.column, a.sql_type, a.kind, physical=physical)

    def steps(self) -> Iterator[Step]:
        """The steps that list the classes whose published cells do not prove the rule."""
        context = {
            "placed": PLACED,
            "coded": self.child.coded,
            "recoding": self.event.recoding,
            "gone": self.child.gone,
            "admitted": self.admitted,
            "source": self.child.number,
            "code": self.event.c,
            "height": max(self.event.height, 1),
            "steps": [
                (step, levels[self.event.position]) for step, levels in enumerate(self.child.ladder)
            ],
        }
        yield Step(f"values of {self.name} at worst", "schema/admitted_values.sql.j2", context)
        yield from failing_steps(
            self.name,
            self.column(Sql("value")),
            (EirL(self.event.attribute.column, self.l),),
            pairs=True,
            remaining=self.admitted,
            judged=self.admitted,
            failing=FAILING,
        )


def event_rules(policy: SchemaPolicy, children: Sequence[Child]) -> tuple[EventRule, ...]:
    """The rules on event columns. Raises SourceError for a column that has no categories."""
    found: list[EventRule] = []
    problems: list[Problem] = []
    for child in children:
        columns = policy.tables[child.name].columns
        for event in known(child):
            protect = columns[event.attribute.column].protect
            if protect is None or protect.eir_l is None:
                continue
            rule = EventRule(child, event, protect.eir_l)
            found.append(rule)
            if event.attribute.ordered:
                hint = "role: sensitive, if nobody can know it of a row; or kind: categorical"
                problems.append(Problem(f"{rule.path}.protect.eir_l", CATEGORIES, hint=hint))
    SourceError.refuse(problems)
    return tuple(found)


def needed_of_cuts(rules: Sequence[EventRule], k: int) -> tuple[PersonRules, tuple[Judged, ...]]:
    """A rule that classes have to satisfy by the values themselves: that of the smallest l."""
    least = EirL("any", min(rule.l for rule in rules))
    judged = tuple(
        (rule.child.kept, "person", rule.column(rule.event.q), rule.path, False) for rule in rules
    )
    return PersonRules(tuple(column for _, _, column, _, _ in judged), (least,), k, k), judged
