"""Tables that are left out of a draft, the reasons, and what to do about them."""

from __future__ import annotations

from collections.abc import Sequence

from anonymizer.review.draft.tables.found import Tables
from anonymizer.review.draft.tables.links import Link
from anonymizer.review.draft.tables.several import Several
from anonymizer.review.draft.tables.tree import Tree


def left_out(
    known: Tables,
    tree: Tree,
    links: Sequence[Link],
    missed: Sequence[Link],
    several: Sequence[Several],
) -> dict[str, str]:
    """Tables left out, sorted by name, with the reason."""
    there = {tree.person, *tree.links}
    found = dict.fromkeys(known.empty, "has no rows")
    for name in known.found:
        if name not in there:
            found[name] = f"reaches no person: {_reason(name, there, links, missed, several)}"
    return dict(sorted(found.items()))


def _reason(
    name: str,
    there: set[str],
    links: Sequence[Link],
    missed: Sequence[Link],
    several: Sequence[Several],
) -> str:
    declared = [one for one in several if one.table == name]
    if declared:
        return f"{declared[0].told}; {declared[0].cure}"
    near = [link for link in missed if link.table == name and link.to in there]
    if near:
        return min(near, key=lambda link: (link.fit, link.strangers / link.different)).told
    away = [link for link in links if link.table == name and link.to not in there]
    to_it = [link for link in links if link.to == name and link.table in there]
    if to_it:
        link = to_it[0]
        return (
            f"{link.table}.{link.column} holds its keys; what is needed of it can be joined in"
            f" source.query of {link.table}"
        )
    if away:
        return f"it leads to {away[0].to}, which is left out; alone: anonymizer init {name}"
    return (
        "no column holds keys of a table above; if one does, add the table with links:"
        f" {{column: table}}; alone: anonymizer init {name}"
    )
