"""The figures of a report by path; a page of evidence contains no other figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from anonymizer.policy.publish import Context
from anonymizer.process.text import figure, plain
from anonymizer.review.evidence.entries import Value
from anonymizer.review.report.content import Report


@dataclass(frozen=True)
class Facts:
    """A report in the form of its JSON."""

    report: Report

    @cached_property
    def data(self) -> Mapping[str, Any]:
        """The JSON of the report."""
        found: Mapping[str, Any] = plain(self.report.as_dict())
        return found

    @property
    def context(self) -> Context:
        """The context that the policy states."""
        return self.report.policy.context or Context()

    def at(self, path: str) -> Any:
        """The report's content at a path; None if it has none."""
        found: Any = self.data
        for step in path.split("."):
            if isinstance(found, list):
                found = found[int(step)]
            elif isinstance(found, Mapping):
                found = found.get(step)
            else:
                return None
        return found

    def value(self, path: str) -> Value | None:
        """A figure of the report; None if it is missing."""
        found = self.at(path)
        return Value(path, found, figure(found)) if found is not None else None
