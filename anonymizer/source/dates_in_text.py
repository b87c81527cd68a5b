"""Forms of dates and months in text."""

from __future__ import annotations

from anonymizer.source.forms import any_case

_NAMES = (
    # English, German, Dutch
    "jan january januar januari feb february februar februari mar march märz mär mrz maart apr"
    " april may mai mei jun june juni jul july juli aug august augustus sep sept september oct"
    " october okt oktober nov november dec december dez dezember"
    # French, Spanish, Portuguese, Italian
    " janvier février fevrier mars avril juin juillet août aout septembre octobre novembre décembre"
    " decembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre"
    " diciembre janeiro fevereiro março marco maio junho julho setembro outubro novembro dezembro"
    " gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre"
)
_MONTH = any_case(" ".join(sorted(set(_NAMES.split()), key=lambda name: (-len(name), name))))
_YEAR, _DAY = "(18|19|20)[0-9]{2}", "(0?[1-9]|[12][0-9]|3[01])"
_MONTH_NUMBER = "(0?[1-9]|1[0-2])"
_NTH = "(st|nd|rd|th|er|[.ºª°])?"
DATE_FORMS = (
    f"(^|[^0-9]){_YEAR}[-/.]{_MONTH_NUMBER}[-/.]{_DAY}([^0-9]|$)",
    f"(^|[^0-9]){_DAY}[-/.]{_DAY}[-/.]{_YEAR}([^0-9]|$)",
    # 4 May 1961, 04-MAY-61, 4 de mayo de 1961
    f"(^|[^0-9A-Za-z]){_DAY}{_NTH}[ -]?(de )?({_MONTH})[.,]?[ -](de )?(18|19|20)?[0-9]{{2}}"
    "([^0-9]|$)",
    # May 4th, 1961, May 1961, and mayo de 1961
    f"(^|[^0-9A-Za-z])({_MONTH})[.]?[ -](de |{_DAY}{_NTH},? )?{_YEAR}([^0-9]|$)",
    # the 33rd week of 2024
    f"(^|[^0-9A-Za-z]){_YEAR}-?W([0-4][0-9]|5[0-3])(-?[1-7])?([^0-9A-Za-z]|$)",
    # only as the whole value: 1961-05, 05/1961, 61-05-04, 04/05/61, May 4, 4 May
    f"^ *{_YEAR}[-/.](0[1-9]|1[0-2]) *$",
    f"^ *{_MONTH_NUMBER}[-/.]{_YEAR} *$",
    "^ *[0-9]{2}[-/](0[1-9]|1[0-2])[-/](0[1-9]|[12][0-9]|3[01]) *$",
    f"^ *{_DAY}[-/]{_DAY}[-/][0-9]{{2}} *$",
    f"^ *({_MONTH})[.]?[ -]{_DAY}{_NTH} *$",
    f"^ *{_DAY}{_NTH}[ -]?(de )?({_MONTH})[.]? *$",
)
"""Dates and months in text, in any order."""
