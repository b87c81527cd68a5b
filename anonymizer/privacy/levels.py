"""L_sl-diversity: a value of a higher security level needs a larger crowd.

    n(E, s) / N <= 1/l_lv(s)  for every value s of level lv(s), i.e.  n(E, s)·l_lv(s) <= N

N the units of the class with a value. Units: the figure reached is max n·l/N, at most 1. Source:
Xiao, Li, "Privacy preserving data publishing for multiple sensitive attributes based on security
level" (2020), definition 10. Exact (whole numbers). Needs `value_l`, the l of each value's level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from anonymizer.compile import Sql, lit
from anonymizer.privacy.exact import big, share
from anonymizer.privacy.rule import Rule


@dataclass(frozen=True, slots=True)
class Levels(Rule):
    """Shares bounded by the security level of the value."""

    name: ClassVar[str] = "level_l"
    extra: ClassVar[tuple[str, ...]] = ("value_l",)

    level_l: Mapping[int, int]
    """The l that each level needs."""

    def required(self) -> Mapping[str, object]:
        return {"level_l": {str(level): l for level, l in sorted(self.level_l.items())}}

    def holds(self) -> Sql:
        return Sql(f"{big(self._most)} <= {big(self.known)}")

    def achieved(self) -> Sql:
        return share(self._most, self.known)

    @property
    def _most(self) -> str:
        return f"coalesce(max(n * value_l) filter (where {self.counts}), 0)"


def value_l_sql(
    value: Sql,
    levels: Mapping[int, Sequence[object]],
    level_l: Mapping[int, int],
    default_level: int | None,
) -> Sql:
    """The l that a value of the data needs: `value` is its column, of a comparable type.

    NULL gets 1, which every class grants. A value that no level lists and no `default_level` covers
    gets NULL, to be refused by the caller.
    """
    cases = [f"when {value} is null then 1"]
    for level, values in sorted(levels.items()):
        if values:
            listed = ", ".join(lit(one).text for one in values)
            cases.append(f"when {value} in ({listed}) then {lit(level_l[level])}")
    other = lit(None if default_level is None else level_l[default_level])
    return Sql(f"case {' '.join(cases)} else {other} end")
