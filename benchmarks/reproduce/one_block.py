"""DAnonyIR as the paper has it, all persons in one block (Wang et al. 2018, algorithms 1 and 7).

The clusters are those of the naive algorithm of the tests (`tests/oracle/danonyir.py`), with the
same ties, in a fifth of its time: a distance is looked up by the person's values in small tables
made anew for every box, and a rule is carried along instead of being judged from all members. The
SQL form with `block_size: all` takes a few statements for every person.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import duckdb
import numpy as np
from numpy.typing import NDArray

from anonymizer.guarantees.screening import hitting_set
from benchmarks import informs
from benchmarks.trial import cpu
from tests.oracle.danonyir import SCALE, Members, Ordered, place

Numbers = NDArray[np.int64]
Box = tuple[int, ...]
"""What a cluster has of one attribute."""
GONE = np.int64(2**42)
"""Loss of a person who is taken: beyond every loss, and no product with it overflows."""
WIDEST = 2_048
"""Most combinations of values that are looked up at once."""
STALE = 8
"""Arrays are made anew when one in so many entries is gone."""


@dataclass(frozen=True)
class Person:
    """What rules read of a person."""

    values: frozenset[Any]
    records: Counter[Any]
    """Rows by value."""


class State(Protocol):
    """What a rule carries of a cluster."""

    def add(self, other: Any) -> None:
        """Take the members of another cluster."""

    def holds(self) -> bool:
        """Whether the cluster satisfies the rule."""


class Rule(Protocol):
    def of(self, person: Person) -> State:
        """The state of a person alone."""


@dataclass
class Diverse:
    """IR (l,l): l persons and l values."""

    l: int
    persons: int = 1
    values: set[Any] = field(default_factory=set)

    def of(self, person: Person) -> Diverse:
        return Diverse(self.l, 1, set(person.values))

    def add(self, other: Diverse) -> None:
        self.persons += other.persons
        self.values |= other.values

    def holds(self) -> bool:
        return min(self.persons, len(self.values)) >= self.l


@dataclass
class ExtendedDiverse:
    """EIR l: no l - 1 values meet everybody."""

    l: int
    sets: list[frozenset[Any]] = field(default_factory=list)
    proof: frozenset[Any] | None = None
    """Values that meet everybody; they serve until somebody joins whom they do not meet."""

    def of(self, person: Person) -> ExtendedDiverse:
        return ExtendedDiverse(self.l, [person.values])

    def add(self, other: ExtendedDiverse) -> None:
        self.sets += other.sets
        if self.proof is not None and any(self.proof.isdisjoint(one) for one in other.sets):
            self.proof = None

    def holds(self) -> bool:
        if self.proof is None:
            self.proof = hitting_set(self.sets, self.l - 1)
        return self.proof is None


@dataclass
class Shares:
    """IR (α,β), or EIR (α,β) if `extended`; as published, and with every pair counted once."""

    alpha: Fraction
    beta: Fraction
    extended: bool
    persons: int = 1
    most_pairs: int = 0
    most_records: int = 0
    by_pair: Counter[Any] = field(default_factory=Counter)
    """Persons by value."""
    by_record: Counter[Any] = field(default_factory=Counter)

    def of(self, person: Person) -> Shares:
        pairs, records = Counter(dict.fromkeys(person.values, 1)), Counter(person.records)
        most = pairs.total(), records.total()
        return Shares(self.alpha, self.beta, self.extended, 1, *most, pairs, records)

    def add(self, other: Shares) -> None:
        self.persons += other.persons
        self.most_pairs = max(self.most_pairs, other.most_pairs)
        self.most_records = max(self.most_records, other.most_records)
        self.by_pair.update(other.by_pair)
        self.by_record.update(other.by_record)

    def holds(self) -> bool:
        pairs, records = self.by_pair.total(), self.by_record.total()
        if self.most_pairs > self.alpha * pairs or self.most_records > self.alpha * records:
            return False
        if self.extended:
            return max(self.by_pair.values()) <= self.beta * self.persons
        return (
            max(self.by_pair.values()) <= self.beta * pairs
            and max(self.by_record.values()) <= self.beta * records
        )


class _Interval:
    """An ordered attribute; a box is (lowest, highest, whether NULL is in it)."""

    def __init__(self, given: Ordered) -> None:
        places = list(dict.fromkeys(given.places))
        codes = {value: i for i, value in enumerate(places)}
        self.codes = np.array([codes[value] for value in given.places])
        domain = Ordered(places, given.size, given.scale)
        self.values = (domain.lo, domain.hi, domain.nil.astype(np.int64))
        self.size, self.has_null = len(places), bool(domain.nil.any())
        self.domain, self.scale = given.size, given.scale
        self.boxes = [(int(x), int(y), int(z)) for x, y, z in zip(*self.values, strict=True)]

    def united(self, box: Box, others: Sequence[Numbers]) -> Numbers:
        """Loss of the union with each of the others."""
        width: Numbers = np.maximum(others[1], box[1])
        width -= np.minimum(others[0], box[0])
        if self.has_null:
            empty = width < 0
            mixed = (width * (self.domain - 1) + self.scale) // self.domain
            width = np.where((others[2] | box[2]) != 0, mixed, width)
            width[empty] = 0
        return width

    def loss(self, box: Box) -> int:
        width = box[1] - box[0]
        if width < 0:
            return 0
        return (width * (self.domain - 1) + self.scale) // self.domain if box[2] else width

    def union(self, one: Box, other: Box) -> Box:
        return min(one[0], other[0]), max(one[1], other[1]), one[2] | other[2]


class _Set:
    """A category; a box is (the values, one bit each)."""

    def __init__(self, given: Members) -> None:
        codes = {value: i for i, value in enumerate(dict.fromkeys(given.values))}
        self.codes = np.array([codes[value] for value in given.values])
        self.values = (np.array([1 << value for value in codes], dtype=np.int64),)
        self.size, self.weight = len(codes), given.weight
        self.boxes = [(1 << value,) for value in codes]

    def united(self, box: Box, others: Sequence[Numbers]) -> Numbers:
        """Loss of the union with each of the others."""
        several: Numbers = np.bitwise_count(others[0] | box[0]).astype(np.int64)
        several -= 1
        several *= self.weight
        return several

    def loss(self, box: Box) -> int:
        return (box[0].bit_count() - 1) * self.weight

    def union(self, one: Box, other: Box) -> Box:
        return (one[0] | other[0],)


_Attribute = _Interval | _Set


@dataclass
class Cluster:
    """Persons with their box, its loss, and what the rule carries."""

    seed: int
    members: list[int]
    box: list[Box]
    size: int
    """Records."""
    state: State
    loss: int = 0


class OneBlock:
    """One run over persons in the order in which seeds and residual persons are taken."""

    def __init__(
        self,
        attributes: Sequence[Ordered | Members],
        records: Sequence[int],
        persons: Sequence[Person],
        rule: Rule,
        scale: int = SCALE,
    ) -> None:
        self.attributes = [
            _Interval(given) if isinstance(given, Ordered) else _Set(given) for given in attributes
        ]
        self.persons, self.rule, self.scale = persons, rule, scale
        self.records = np.array(records, dtype=np.int64)
        self.groups = _groups(self.attributes)
        self.free = np.ones(len(records), dtype=bool)
        self.closed: list[Cluster | None] = []
        self.suppressed: list[int] = []
        self.residual = 0
        self._gather_persons()
        self._gather_clusters()

    def run(self) -> list[Cluster]:
        """The clusters that hold."""
        for seed in range(len(self.records)):
            if not self.free[seed]:
                continue
            cluster = self._person(seed)
            self._take(seed)
            complete = False
            while not complete and self.left:
                self._grow(cluster)
                complete = cluster.state.holds()
            if complete:
                self._close(cluster)
            else:
                self._handle(sorted(cluster.members))
        return [cluster for cluster in self.closed if cluster is not None]

    def _person(self, i: int) -> Cluster:
        box = [a.boxes[a.codes[i]] for a in self.attributes]
        return Cluster(i, [i], box, int(self.records[i]), self.rule.of(self.persons[i]))

    def _grow(self, cluster: Cluster) -> None:
        """Take the nearest person, or the nearest cluster if that is nearer still."""
        before = cluster.size * cluster.loss
        loss = self._to_persons(cluster)
        distance = (self.weight + cluster.size) * loss
        at = int(distance.argmin())
        nearest = int(distance[at]) - before
        far = self._to_clusters(cluster)
        if far.size and int(far.min()) < nearest:
            place = int(far.argmin())
            other = self.closed[place]
            assert other is not None
            self._reopen(place)
        else:
            person = int(self.order[at])
            other = self._person(person)
            self._take(person, at)
        self._unite(cluster, other)

    def _unite(self, cluster: Cluster, other: Cluster) -> None:
        both = zip(self.attributes, cluster.box, other.box, strict=True)
        cluster.box = [a.union(x, y) for a, x, y in both]
        cluster.size += other.size
        cluster.members = cluster.members + other.members
        cluster.state.add(other.state)
        pairs = zip(self.attributes, cluster.box, strict=True)
        cluster.loss = sum(a.loss(box) for a, box in pairs)

    def _to_persons(self, cluster: Cluster) -> Numbers:
        """Loss of the union with each person that is left."""
        losses = [a.united(b, a.values) for a, b in zip(self.attributes, cluster.box, strict=True)]
        found: Numbers | None = None
        for first, last, codes in self.codes:
            table = losses[first]
            for other in losses[first + 1 : last]:
                table = np.add.outer(table, other).ravel()
            loss = np.append(table, GONE)[codes]
            found = loss if found is None else found + loss
        assert found is not None
        return found

    def _to_clusters(self, cluster: Cluster) -> Numbers:
        """Distance to each closed cluster."""
        n = len(self.closed)
        sizes, losses = self.sizes[:n], self.losses[:n]
        united: Any = 0
        for a, own, boxes in zip(self.attributes, cluster.box, self.boxes, strict=True):
            united = united + a.united(own, [part[:n] for part in boxes])
        distance: Numbers = (sizes + cluster.size) * united
        distance -= sizes * losses + cluster.size * cluster.loss
        distance[self.reopened] = np.iinfo(np.int64).max
        return distance

    def _take(self, person: int, at: int | None = None) -> None:
        """A person is no longer free; `at` is the place among those that are looked up."""
        self.free[person] = False
        self.left -= 1
        at = int(np.searchsorted(self.order, person)) if at is None else at
        for _, _, codes in self.codes:
            codes[at] = self.gone[id(codes)]
        if (len(self.order) - self.left) * STALE > len(self.order):
            self._gather_persons()

    def _gather_persons(self) -> None:
        self.order = np.flatnonzero(self.free)
        self.left = len(self.order)
        self.weight = self.records[self.order]
        self.codes = []
        self.gone: dict[int, int] = {}
        for first, last, codes, size in self.groups:
            kept = codes[self.order]
            self.codes.append((first, last, kept))
            self.gone[id(kept)] = size

    def _close(self, cluster: Cluster) -> None:
        if len(self.closed) == len(self.sizes):
            self._gather_clusters()
        place = len(self.closed)
        self.closed.append(cluster)
        self._store(place, cluster)

    def _store(self, place: int, cluster: Cluster) -> None:
        self.sizes[place], self.losses[place] = cluster.size, cluster.loss
        for boxes, own in zip(self.boxes, cluster.box, strict=True):
            for part, value in zip(boxes, own, strict=True):
                part[place] = value

    def _reopen(self, place: int) -> None:
        self.closed[place] = None
        self.reopened.append(place)
        if len(self.reopened) * STALE > len(self.closed):
            self._gather_clusters()

    def _gather_clusters(self) -> None:
        """Arrays with room for as many clusters again, without those that were reopened."""
        self.closed = [cluster for cluster in self.closed if cluster is not None]
        room = 2 * len(self.closed) + 1_000
        self.reopened: list[int] = []
        self.sizes, self.losses = np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int64)
        self.boxes = [[np.zeros(room, dtype=np.int64) for _ in a.values] for a in self.attributes]
        for at, cluster in enumerate(self.closed):
            assert cluster is not None
            self._store(at, cluster)

    def _handle(self, residual: Sequence[int]) -> None:
        """Each joins the nearest cluster that still holds with it, or is suppressed."""
        self.residual = len(residual)
        self._gather_clusters()
        for i in residual:
            person = self._person(i)
            whole = person.size * len(self.attributes) * self.scale
            distances = self._to_clusters(person)
            for at in np.argsort(distances, kind="stable"):
                if int(distances[at]) > whole:
                    self.suppressed.append(i)
                    break
                cluster = self.closed[at]
                assert cluster is not None
                if self.state(self.rule, [*cluster.members, i]).holds():
                    self._unite(cluster, person)
                    self._store(int(at), cluster)
                    break
            else:
                self.suppressed.append(i)

    def state(self, rule: Rule, members: Sequence[int]) -> State:
        """What a rule carries of these persons."""
        first, *others = members
        state = rule.of(self.persons[first])
        for i in others:
            state.add(rule.of(self.persons[i]))
        return state


def _groups(attributes: Sequence[_Attribute]) -> list[tuple[int, int, NDArray[Any], int]]:
    """Neighbouring attributes that are looked up together: from, to, codes of persons, how many."""
    found, first = [], 0
    while first < len(attributes):
        codes, size, last = attributes[first].codes, attributes[first].size, first + 1
        while last < len(attributes) and size * attributes[last].size <= WIDEST:
            codes = codes * attributes[last].size + attributes[last].codes
            size *= attributes[last].size
            last += 1
        found.append((first, last, codes, size))
        first = last
    return found


def rule_of(privacy: dict[str, Any]) -> Rule:
    """The rule of a model of the paper, as in a policy."""
    ((name, given),) = privacy.items()
    if name == "eir_l":
        return ExtendedDiverse(given)
    if name == "ir_kl":
        return Diverse(given["l"])
    alpha, beta = Fraction(str(given["alpha"])), Fraction(str(given["beta"]))
    return Shares(alpha, beta, name == "eir_alpha_beta")


def in_one_block(
    source: Path,
    seed: int,
    privacy: dict[str, Any],
    d: int,
    stricter: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The paper's algorithm over all persons, in the order that the seed gives them.

    `vulnerable` is the share of the classes that do not satisfy the `stricter` model.
    """
    names = informs.QUASI[:d]
    with duckdb.connect() as connection:
        rows = connection.execute(
            f"select {', '.join(f'any_value({name})' for name in names)}, list(diagnosis)"
            f" from '{source}' group by person_id order by md5(person_id || ':{seed}')"
        ).fetchall()
    attributes: list[Ordered | Members] = []
    for i, name in enumerate(names):
        values = [row[i] for row in rows]
        if name in informs.NUMERIC:
            numbers_only = [v for v in values if v is not None]
            ends = (min(numbers_only), max(numbers_only))
            places = [None if v is None else place(v, ends) for v in values]
            attributes.append(Ordered(places, len(set(values))))
        else:
            numbers = {v: j for j, v in enumerate(dict.fromkeys(values))}
            attributes.append(Members([numbers[v] for v in values], len(numbers)))
    persons = [Person(frozenset(row[-1]), Counter(row[-1])) for row in rows]
    records = [len(row[-1]) for row in rows]
    began, clock = cpu(), time.perf_counter()
    run = OneBlock(attributes, records, persons, rule_of(privacy))
    clusters = run.run()
    seconds, wall = cpu() - began, time.perf_counter() - clock
    vulnerable = 0
    if stricter is not None:
        rule = rule_of(stricter)
        vulnerable = sum(not run.state(rule, cluster.members).holds() for cluster in clusters)
    lost = sum(cluster.size * cluster.loss for cluster in clusters) / SCALE
    lost += sum(records[i] for i in run.suppressed) * len(names)
    return {
        "rows": sum(records),
        "persons": len(rows),
        "cpu_seconds": round(seconds, 2),
        "wall_seconds": round(wall, 2),
        "nloss": lost / (sum(records) * len(names)),
        "classes": len(clusters),
        "suppressed_rows": sum(records[i] for i in run.suppressed),
        "residual_persons": run.residual,
        "vulnerable": vulnerable / len(clusters),
    }
