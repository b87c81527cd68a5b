"""The policy, complete and consistent: of one table, or of several that reach a person by links."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from anonymizer.errors import Problem
from anonymizer.policy import checks, defaults, document
from anonymizer.policy.document import Document
from anonymizer.policy.fields import PolicyFields
from anonymizer.policy.problems import Broken
from anonymizer.policy.schema import consistency as schema_checks
from anonymizer.policy.schema.fields import SchemaFields


class SchemaPolicy(SchemaFields):
    """A policy of several tables; all errors are raised together as one `PolicyError`."""

    @classmethod
    def _filled(cls, given: Mapping[Any, Any]) -> dict[Any, Any]:
        return defaults.fill_tables(given)

    def _contradictions(self, broken: Broken = frozenset()) -> list[Problem]:
        return schema_checks.crosscheck(self, broken)


class Policy(PolicyFields):
    """A policy of one table; all errors are raised together as one `PolicyError`."""

    OTHERWISE: ClassVar[tuple[str, ...]] = ("tables",)

    if not TYPE_CHECKING:

        def __new__(cls, **given: Any) -> Any:
            # a validator can return an instance of another class, but not if called by __init__
            return super().__new__(cls) if cls._reader(given) is cls else SchemaPolicy(**given)

    @classmethod
    def _reader(cls, given: object) -> type[Document]:
        tables = isinstance(given, Mapping) and any(key in given for key in cls.OTHERWISE)
        return SchemaPolicy if tables or isinstance(given, SchemaPolicy) else cls

    @classmethod
    def _filled(cls, given: Mapping[Any, Any]) -> dict[Any, Any]:
        return defaults.fill(given)

    def _contradictions(self, broken: Broken = frozenset()) -> list[Problem]:
        return checks.crosscheck(self, broken)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON Schema (2020-12) of a policy file, of one table or of several."""
        return document.either_schema("tables", SchemaPolicy, cls)
