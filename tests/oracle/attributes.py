"""Attributes as the naive algorithms see them: order, width and loss of a set of values.

Conventions, on which a comparison with SQL rests:

* A numeric (or date, as a day number) value is an int, Fraction, Decimal or float and taken
  exactly. A category is its code 0 … size-1 in the chosen order (hierarchy leaves, frequency).
* NULL (None) is a value of its own that stands before all others in the order.
* `width` ranks attributes for median cuts (LeFevre et al. 2006, §4): numbers (hi-lo)/(domain
  hi-lo) without NULL; categories (highest-lowest code)/(m-1), where NULL is a code below 0 and m
  counts it when the column has NULLs. A domain of one value has width 0.
* `loss` is the NCP of a cell (Xu et al. 2006): numbers (hi-lo)/(domain hi-lo), NULL adding
  `null_penalty` when it is mixed with values (0 by default), at most 1; categories 0 for one
  value, else number of values / m, or with a hierarchy leaves below the lowest common ancestor
  / m. NULL is one more value of the cell (`A or NULL` costs 2/m), since it is published so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class Attribute:
    """Domain of one quasi-identifier. `lo`, `hi` for numbers, `size` for categories.

    `paths[code]` are the ancestors of a category, parent first, root last, all equally long.
    """

    kind: str
    lo: Any = 0
    hi: Any = 0
    size: int = 0
    has_null: bool = False
    paths: Sequence[Sequence[Any]] | None = None
    null_penalty: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.kind not in ("numeric", "categorical"):
            raise ValueError(f"unknown kind {self.kind!r}")

    def key(self, value: Any) -> tuple[int, Fraction]:
        """Place of a value in the attribute's order."""
        return (0, Fraction(0)) if value is None else (1, Fraction(value))

    @property
    def domain_size(self) -> int:
        """m: categories, and NULL where the column has it."""
        return self.size + self.has_null

    def width(self, values: Iterable[Any]) -> Fraction:
        distinct = set(values)
        if self.kind == "numeric":
            return self._range(distinct)
        codes = [-1 if value is None else value for value in distinct]
        return _ratio(max(codes) - min(codes), self.domain_size - 1)

    def loss(self, values: Iterable[Any]) -> Fraction:
        """NCP of the cell that stands for all these values, 0 … 1."""
        distinct = set(values)
        if self.kind == "numeric":
            mixed = None in distinct and len(distinct) > 1
            return min(Fraction(1), self._range(distinct) + (self.null_penalty if mixed else 0))
        if len(distinct) < 2:
            return Fraction(0)
        if self.paths is None:
            return _ratio(len(distinct), self.domain_size)
        present = distinct - {None}
        below = 1 if len(present) == 1 else self._leaves_below_common_ancestor(present)
        return _ratio(below + (None in distinct), self.domain_size)

    def _range(self, distinct: set[Any]) -> Fraction:
        numbers = [Fraction(value) for value in distinct if value is not None]
        span = Fraction(self.hi) - Fraction(self.lo)
        return _ratio(max(numbers) - min(numbers), span) if numbers else Fraction(0)

    def _leaves_below_common_ancestor(self, codes: set[Any]) -> int:
        assert self.paths is not None
        for level in range(len(next(iter(self.paths)))):
            label = {self.paths[code][level] for code in codes}
            if len(label) == 1:
                return sum(path[level] in label for path in self.paths)
        return self.size  # no common node: the whole domain


def _ratio(part: Fraction | int, whole: Fraction | int) -> Fraction:
    return Fraction(part) / Fraction(whole) if whole else Fraction(0)


def numeric(values: Iterable[Any], **options: Any) -> Attribute:
    """The attribute of a numeric source column."""
    column = list(values)
    present = [Fraction(value) for value in column if value is not None]
    lo, hi = (min(present), max(present)) if present else (0, 0)
    return Attribute("numeric", lo=lo, hi=hi, has_null=None in column, **options)


def categorical(
    values: Iterable[Any], order: Sequence[Any], paths: Mapping[Any, Sequence[Any]] | None = None
) -> tuple[Attribute, list[int | None]]:
    """The attribute of a categorical column in the given order, and the column as codes."""
    column = list(values)
    code = {value: i for i, value in enumerate(order)}
    return (
        Attribute(
            "categorical",
            size=len(order),
            has_null=None in column,
            paths=None if paths is None else [paths[value] for value in order],
        ),
        [None if value is None else code[value] for value in column],
    )
