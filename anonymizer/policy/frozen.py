"""Immutable building blocks: the base of every policy model, an ordered map, and lists as tuples.

A policy is read once and then passed everywhere, so nothing in it may change: models are frozen,
mappings are `FrozenMap`, lists become tuples. Integers are strict (`true`, `"5"` and `5.0` are not
whole numbers), and no message that pydantic builds carries the input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
)
from pydantic_core import CoreSchema, PydanticCustomError, PydanticOmit, core_schema

K = TypeVar("K")
V = TypeVar("V")

TAG = "\0"
"""First character of the tags of discriminated unions, which distinguishes them from keys."""


class Options(BaseModel):
    """Base of all policy models: frozen, strict, without unknown options."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
        use_attribute_docstrings=True,
    )


class FrozenMap(Mapping[K, V]):
    """An immutable ordered mapping, hashable if its values are."""

    __slots__ = ("_items",)

    def __init__(self, items: Mapping[K, V] | None = None) -> None:
        object.__setattr__(self, "_items", dict(items or {}))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a FrozenMap cannot be changed")

    def __getitem__(self, key: K) -> V:
        found: V = self._items[key]  # type: ignore[attr-defined]
        return found

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self._items)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return f"FrozenMap({dict(self)!r})"

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenMap[K, V]], tuple[dict[K, V]]]:
        return (type(self), (dict(self),))

    def __copy__(self) -> FrozenMap[K, V]:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FrozenMap[K, V]:
        return self

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        key, value = get_args(source) or (Any, Any)
        items = handler.generate_schema(dict[key, value])  # type: ignore[valid-type]
        return core_schema.no_info_before_validator_function(
            lambda given: dict(given) if isinstance(given, Mapping) else given,
            core_schema.no_info_after_validator_function(cls, items),
            serialization=core_schema.wrap_serializer_function_ser_schema(
                lambda given, dump: dump(dict(given)), schema=items
            ),
        )


def fail(
    message: str, *, at: str = "", allowed: str | None = None, hint: str | None = None
) -> PydanticCustomError:
    """An error for one of our validators to raise; `at` is appended to the path."""
    return PydanticCustomError(
        "policy", "{message}", {"message": message, "at": at, "allowed": allowed, "hint": hint}
    )


@dataclass(frozen=True, slots=True)
class Shorthand:
    """Annotation: the JSON Schema of a short form, which a validator expands."""

    schema: dict[str, Any]

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"anyOf": [self.schema, handler(core)]}

    def __hash__(self) -> int:
        return hash(tuple(self.schema))


@dataclass(frozen=True, slots=True)
class Refused:
    """Annotation: an option that this kind of policy does not have, and what to do instead."""

    said: str
    hint: str

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_before_validator_function(self._refuse, handler(source))

    def __get_pydantic_json_schema__(
        self, core: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        raise PydanticOmit

    def _refuse(self, given: object) -> object:
        raise fail(self.said, hint=self.hint)


def _as_tuple(given: object) -> object:
    return tuple(given) if isinstance(given, list) else given


AsTuple = BeforeValidator(_as_tuple)
"""Annotation of a tuple field that is written as a list (strict models refuse lists for tuples)."""
