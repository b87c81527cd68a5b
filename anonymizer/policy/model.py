"""The policy, complete and consistent: of one table, of several linked ones, or of counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, TypeVar, cast

from pydantic import BaseModel, PrivateAttr

from anonymizer.errors import PolicyError, Problem
from anonymizer.policy import checks, document
from anonymizer.policy.aggregate import AggregateFields
from anonymizer.policy.algorithms import FullDomain, NoAlgorithm
from anonymizer.policy.checks import schema as schema_checks
from anonymizer.policy.columns import Column
from anonymizer.policy.document import Document
from anonymizer.policy.fields import PolicyFields
from anonymizer.policy.paths import column_path, path_text, table_path
from anonymizer.policy.privacy import Privacy, Protect
from anonymizer.policy.problems import Broken
from anonymizer.policy.publish import Publish, Republish
from anonymizer.policy.schema import Knows, SchemaColumn, SchemaFields, SchemaTable
from anonymizer.policy.values import FrozenMap

ROLES = {"key": "drop", "event": "quasi"}
"""Single-table roles for the roles that only several tables have."""
M = TypeVar("M", bound=BaseModel)


class SchemaPolicy(SchemaFields):
    """A policy of several tables; all errors are raised together as one `PolicyError`."""

    several: ClassVar[Literal[True]] = True
    counts: ClassVar[None] = None

    def _contradictions(self, broken: Broken = frozenset()) -> list[Problem]:
        return schema_checks.crosscheck(self, broken)

    def one_table(self, verb: str) -> Policy:
        """Raise PolicyError: the verb does not work on several tables."""
        said = f"are several, and `{verb}` works on policies of one table"
        raise PolicyError.at("tables", said, hint="name one of them in a policy of its own")

    @property
    def prefix(self) -> str:
        """What stands before the names of the persons' columns, as `patients.`."""
        return f"{self.person}."

    @property
    def knows(self) -> Knows:
        """What an observer may know of rows."""
        return self.privacy.knows

    @property
    def lead(self) -> Policy:
        """The policy of the view that names the release: of the persons' table, without the
        guarantees that distinguish persons from rows, as it has one row each.
        """
        whole = self.whole
        without = dict.fromkeys(whole.privacy.identity_reserved)
        return whole.model_copy(update={"privacy": whole.privacy.model_copy(update=without)})

    @property
    def whole(self) -> Policy:
        """Like `lead`, with all guarantees."""
        made = self.single(self.person)
        # (the ledger has one entry for all tables)
        again = Republish(new_population=True) if self.republish is not None else None
        further = {"ledger": self.ledger, "republish": again, "context": self.context}
        return made.model_copy(update=further)

    @property
    def singles(self) -> dict[str, Policy]:
        """The policies of all tables, by the prefix of their paths."""
        made = {self.person: self.lead} | {name: self.single(name) for name in self.children}
        return {f"{table_path(name)}.": single for name, single in made.items()}

    @property
    def apart(self) -> dict[str, Policy]:
        """The policies of all tables with the columns that each has itself, by their prefix."""
        return {
            f"{name}.": self.single(name).model_copy(
                update={"columns": FrozenMap({n: _column(c) for n, c in table.columns.items()})}
            )
            for name, table in self.tables.items()
        }

    @property
    def further(self) -> dict[str, Policy]:
        """The policies of all tables besides that of the persons, by name."""
        return {name: self.single(name) for name in self.children}

    @property
    def described(self) -> Iterator[tuple[str, str, Column]]:
        """Every column: its name with that of its table, its path, its description."""
        for name, table in self.tables.items():
            for column, of in table.columns.items():
                yield f"{name}.{column}", table_path(name, "columns", column), of

    @cached_property
    def reserved(self) -> dict[tuple[str, str], int]:
        """The size of reasoning sets that columns require, by table and column."""
        return {
            (name, column): of.protect.eir_l
            for name, table in self.tables.items()
            for column, of in table.columns.items()
            if of.protect is not None and of.protect.eir_l is not None
        }

    def single(self, name: str) -> Policy:
        """The policy of one of the tables; events are quasi-identifiers on hierarchy levels."""
        table, persons = self.tables[name], name == self.person
        columns = {n: _column(column) for n, column in self.columns_of(name).items()}
        if not persons:
            columns |= {n: Column.model_construct(role="drop") for n in table.lifted}
        tree = self.algorithm.model_copy(update={"refine": 0, "strict": True})
        made = Policy.model_construct(
            version=1,
            kind=self.release_kind,
            engine=self.engine,
            source=table.source,
            key=table.key,
            person=table.link[0] if table.link is not None else None,
            columns=FrozenMap(columns),
            privacy=_as(Privacy, self.privacy),
            suppression_limit=self.allowed.persons,
            algorithm=tree if persons else FullDomain(name="full_domain"),
            publish=_as(Publish, self.publish, name=self.view(name)),
        )
        made._base = self.base
        return made


def _column(column: SchemaColumn) -> Column:
    protect = None if column.protect is None else _as(Protect, column.protect)
    given = protect is not None and any(value is not None for _, value in protect)
    role = ROLES.get(column.role, column.role)
    return _as(Column, column, role=role, protect=protect if given else None)


def _as(form: type[M], options: BaseModel, **changed: Any) -> M:
    """The options that a model has in common with a subclass."""
    fields = {name: getattr(options, name) for name in form.model_fields}
    return form.model_construct(**{**fields, **changed})


class OneTable:
    """What a policy of several tables has, as a policy of one table has it."""

    several: ClassVar[Literal[False]] = False
    prefix: ClassVar[str] = ""
    tables: ClassVar[Mapping[str, SchemaTable]] = {}
    children: ClassVar[tuple[str, ...]] = ()
    further: ClassVar[Mapping[str, Policy]] = {}
    lifted: ClassVar[Mapping[str, str]] = {}
    events: ClassVar[tuple[tuple[str, str], ...]] = ()
    reserved: ClassVar[Mapping[tuple[str, str], int]] = {}
    knows: ClassVar[Knows] = Knows()


class Policy(OneTable, PolicyFields):
    """A policy of one table; all errors are raised together as one `PolicyError`."""

    OTHERWISE: ClassVar[tuple[str, ...]] = ("tables", "aggregate")
    _counts: AggregatePolicy | None = PrivateAttr(None)

    if not TYPE_CHECKING:

        def __new__(cls, **given: Any) -> Any:
            # a validator can return an instance of another class, but not if called by __init__
            reader: Any = cls._reader(given)
            return super().__new__(cls) if reader is cls else reader(**given)

    @classmethod
    def _reader(cls, given: object) -> type[Document]:
        if isinstance(given, SchemaPolicy | AggregatePolicy):
            return type(given)
        keys = given if isinstance(given, Mapping) else {}
        if "aggregate" in keys and "tables" not in keys:
            return AggregatePolicy
        return SchemaPolicy if "tables" in keys else cls

    def _contradictions(self, broken: Broken = frozenset()) -> list[Problem]:
        return checks.crosscheck(self, broken)

    def one_table(self, verb: str) -> Policy:
        """The policy itself, for verbs that do not work on several tables."""
        del verb
        return self

    @property
    def lead(self) -> Policy:
        """The policy of the view that names the release: this one."""
        return self

    @property
    def whole(self) -> Policy:
        """The policy with all guarantees: this one."""
        return self

    @property
    def singles(self) -> dict[str, Policy]:
        """The policies of all tables, by the prefix of their paths."""
        return {"": self}

    @property
    def apart(self) -> dict[str, Policy]:
        """The policies of all tables, by the prefix of their columns."""
        return {"": self}

    @property
    def described(self) -> Iterator[tuple[str, str, Column]]:
        """Every column: its name, its path, its description."""
        return ((name, column_path(name), column) for name, column in self.columns.items())

    @property
    def counts(self) -> AggregatePolicy | None:
        """The policy of the table of counts that this one opens the source for, if it does."""
        return self._counts

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON Schema (2020-12) of a policy file of any kind."""
        return document.either_schema({"tables": SchemaPolicy, "aggregate": AggregatePolicy}, cls)


class AggregatePolicy(OneTable, AggregateFields):
    """A policy of a table of counts; all errors are raised together as one `PolicyError`."""

    @property
    def counts(self) -> AggregatePolicy:
        """The policy itself."""
        return self

    def one_table(self, verb: str) -> Policy:
        """Raise PolicyError: the verb does not work on tables of counts."""
        said = f"makes a table of counts, and `{verb}` works on releases of rows"
        allowed = "plan, explore, compile, run, verify, export, report, certify"
        raise PolicyError.at("aggregate", said, allowed)

    @cached_property
    def lead(self) -> Policy:
        """The policy that opens the source and names the release: it has the columns that are read,
        and no guarantee of classes.
        """
        grouped = {
            name: Column.model_construct(role="keep", hierarchy=of.hierarchy)
            for name, of in self.by.items()
        }
        made = Policy.model_construct(
            version=1,
            kind=self.release_kind,
            engine=self.engine,
            source=self.source,
            columns=FrozenMap(grouped),
            algorithm=NoAlgorithm(name="none"),
            ledger=self.ledger,
            publish=_as(Publish, self.publish),
        )
        made._base = self.base
        made._counts, made._further, made._instead = self, self.separated, self._instead
        return made

    @property
    def whole(self) -> Policy:
        """Like `lead`."""
        return self.lead

    @property
    def singles(self) -> dict[str, Policy]:
        """The policies of all tables, by the prefix of their paths."""
        return {"": self.lead}

    @property
    def apart(self) -> dict[str, Policy]:
        """The policies of all tables, by the prefix of their columns."""
        return {"": self.lead}

    @property
    def described(self) -> Iterator[tuple[str, str, Column]]:
        """Every column: its name, its path, its description."""
        for name, column in self.lead.columns.items():
            yield name, path_text(("aggregate", "by", name)), column


AnyPolicy: TypeAlias = Policy | SchemaPolicy | AggregatePolicy


def load_policy(path: str | Path, preset: str | None = None) -> AnyPolicy:
    """Like `Policy.load`, which reads all kinds, but typed as all kinds."""
    return cast("AnyPolicy", Policy.load(path, preset))
