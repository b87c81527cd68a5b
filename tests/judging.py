"""Rules judged over a relation of a test, in one query."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.compile import Sql, Table, ident, join
from anonymizer.guarantees.rule import Rule, merge_layers


def layered_sql(relation: Table | Sql, part: Sql, rules: Sequence[Rule]) -> Sql:
    """A query that returns the relation with all window columns of `rules`."""
    inner = relation.text if isinstance(relation, Sql) else f"select * from {ident(relation)}"
    for depth, columns in enumerate(merge_layers(rules, part)):
        added = ", ".join(f"{expression} as {name}" for name, expression in columns)
        inner = f"select layer_{depth}.*, {added} from ({inner}) as layer_{depth}"
    return Sql(inner)


def judge_sql(relation: Table | Sql, part: Sequence[str], rules: Sequence[Rule]) -> Sql:
    """One row per group: the columns of `part`, and per rule `<name>_holds`, `<name>_achieved`.

    `relation` (a table, or a query) is the one that the rules' `basis` describes. With an empty
    `part` the whole relation is one group. Raises `ValueError` (a defect of the caller) for rules
    that cannot be judged together.
    """
    if len({rule.name for rule in rules}) < len(rules):
        raise ValueError("two rules of one name cannot be judged together")
    if len({rule.basis == "pairs" for rule in rules}) > 1:
        raise ValueError("rules on persons and rules on counts need different relations")
    keys = [ident(name) for name in part]
    figures = [
        Sql(f"{expression} as {rule.name}_{what}")
        for rule in rules
        for what, expression in (("holds", rule.holds()), ("achieved", rule.achieved()))
    ]
    inner = layered_sql(relation, join(keys), rules)
    grouped = f" group by {join(keys)}" if keys else ""
    return Sql(f"select {join([*keys, *figures])} from ({inner}) as judged{grouped}")
