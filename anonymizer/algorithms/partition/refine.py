"""A final pass over finished classes: units move to a neighbouring class if that lowers the loss.

Cuts are made one attribute after the other, and a unit on the wrong side of an early cut
stays there. A round offers every unit that its class can spare to the neighbouring classes in the
order of the cuts, and carries out the moves that save most. A class takes part in one move per
round, so that every gain is exactly as computed. Only for k-anonymity: a class that gives up a unit
keeps k rows (persons), and one that receives a unit grows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anonymizer.algorithms.encode import UNITS
from anonymizer.algorithms.partition.loss import cell_loss_sql, shape
from anonymizer.algorithms.partition.partition import MEMBERS, POSITIONS
from anonymizer.algorithms.partition.words import pack
from anonymizer.compile import Sql, join, lit, work
from anonymizer.source.profile import Attribute, Level
from anonymizer.steps import Step

NEIGHBOURS = 32
"""Classes on either side that a unit is offered to; the cost is in proportion to them.

Of what an offer to every class gains on Adult in six rounds, 4 reach 45 %, 16 66 %, 64 82 %.
"""

CODES = work("refine_codes")
REFINED = work("refined")


def refine_steps(attributes: Sequence[Attribute], k: int, rounds: int) -> Iterator[Step]:
    """Steps that move units between the classes of `members`, in so many rounds."""
    if rounds == 0:
        return
    context = _context(attributes, k)
    yield Step("codes of units", "mondrian/refine_codes.sql.j2", context)
    for number in range(rounds):
        # the tables take turns: a statement does not read what it replaces
        before, after = (MEMBERS, REFINED) if number % 2 == 0 else (REFINED, MEMBERS)
        own = {**context, "members": before, "refined": after}
        yield Step("values of classes", "mondrian/refine_held.sql.j2", own)
        yield Step("spans of classes", "mondrian/refine_spans.sql.j2", own)
        yield Step("losses of classes", "mondrian/refine_classes.sql.j2", own)
        yield Step("units to spare", "mondrian/refine_leaving.sql.j2", own)
        yield Step("neighbours", "mondrian/refine_pairs.sql.j2", own)
        yield Step("offers to neighbours", "mondrian/refine_offers.sql.j2", own)
        yield Step("moves", "mondrian/refine_moves.sql.j2", own)
        yield Step("move units", "mondrian/refine_members.sql.j2", own)
    if rounds % 2:
        last = {**context, "members": REFINED, "refined": MEMBERS, "moves": None}
        yield Step("final classes", "mondrian/refine_members.sql.j2", last)


def _context(attributes: Sequence[Attribute], k: int) -> Mapping[str, Any]:
    height = max((a.height for a in attributes if shape(a) == "node"), default=0)
    levels = tuple(Level(number) for number in range(1, height + 1))
    words = pack([a for a in attributes if shape(a) == "set"])
    is_set = _of(attributes, "set")
    return {
        "attributes": tuple(attributes),
        "positions": POSITIONS,
        "units": UNITS,
        "codes": CODES,
        "held": work("refine_held"),
        "spans": work("refine_spans"),
        "classes": work("refine_classes"),
        "leaving": work("refine_leaving"),
        "pairs": work("refine_pairs"),
        "offers": work("refine_offers"),
        "moves": work("refine_moves"),
        "k": k,
        "window": NEIGHBOURS,
        "is_set": is_set,
        "is_range": _of(attributes, "range"),
        "c_is_set": _of(attributes, "set", "c.attribute"),
        "c_is_range": _of(attributes, "range", "c.attribute"),
        "c_is_node": _of(attributes, "node", "c.attribute"),
        # NULL, code 0, is a leaf of a tree, and beside the values of a range
        "counted": _counted("code", _of(attributes, "node")),
        "counted_of_h": _counted("h.code", _of(attributes, "node", "h.attribute")),
        "lowest": Sql(f"case when {is_set} then 1 else low end"),
        "highest": Sql(f"case when {is_set} then 1 else high end"),
        "several": Sql(
            f"case when {is_set} then different > 1 else low < high or different > 0 end"
        ),
        "cell_loss": cell_loss_sql(attributes, levels),
        "words": words.columns,
        "bits": words.sizes,
        "packed": [a for a in attributes if a.index in words.sizes],
        # a bound in doubles passes over nothing that the exact sums would take
        "slack": Sql("0.000001"),
        "class_key": (Sql("class_id"),),
        "unit_key": (Sql("unit"),),
        "pair_key": (Sql("unit"), Sql("target")),
    }


def _counted(code: str, is_node: Sql) -> Sql:
    return Sql(f"case when {is_node} or {code} > 0 then {code} end")


def _of(attributes: Sequence[Attribute], kind: str, column: str = "attribute") -> Sql:
    """Whether a row's attribute is of a kind."""
    members = [lit(a.index) for a in attributes if shape(a) == kind]
    return Sql(f"{column} in ({join(members)})") if members else Sql("false")
