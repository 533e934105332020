"""English: how a clause states something that holds."""

from __future__ import annotations

from typing import Final

from recallens.text.languages import pack

_DEFINITE: Final = "(?:[Tt]he|[Oo]ur|[Mm]y|[Yy]our|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir|[A-Za-z]+['’]s)"
_NAME: Final = r"(?P<name>[A-Z]\w+(?: [A-Z]\w+)?)"

STATEMENTS: Final = pack.StatementWords(
    values="""
    cost costs take takes last lasts live lives expire expires keep kept retain retained hold held allow allowed limit
    limited cap capped maximum minimum max min amount length duration period size number total valid stay remain
    need require get set exactly currently always about only each per long every within least most least up run runs
    charge charged bill billed pay fee today now
    """,
    past=r"\b(?:was|were|had|did|came|went|took|got|made|left|lent|sold|gave|found|ran|built|paid|lost|won|sent|told"
    r"|yesterday|last (?:year|month|week|night)|ago)\b"
    r"|^(?!.*\b(?:is|are|be|been|has|have|must|should|can|may|will|gets?)\b)(?:\S+ ){0,5}?"
    r"(?!the |an? |our |its )\S+ [a-z]{2,}(?<!e)ed\b",
    leaning=r"\d|(?:[Ii]t|[Tt]hey|[Tt]his|[Tt]hat|[Tt]hese|[Tt]hose|[Ii]ts|[Tt]heir)\b|[a-z]",
    negation=r"\b(?:not|cannot|never|no|nothing|nobody|none)\b|n['’]t\b",
    before_measured=r"\b(?:is|are|costs?|takes?|lasts?|gets?|has|have|seats?|needs?|weighs?|holds?)(?: about| up to)?",
    opposites="locked unlocked, free paid, opened closed, open closed, manual automatic, mandatory optional, hot cold",
    aside=r"[,;]? (?:because|since|so that|as|which|although|though|while|but|says?|said|according to)\b.*|\(.*?\)",
    one_name=(
        rf"^(?P<said>{_DEFINITE} .*\b(?:is|stands|sits|lives|hangs|is (?:located|hosted|based"
        rf"|kept|stored|parked|held|housed)) (?:in|at|on)) (?:the |hall |room )?{_NAME}\W*$",
        rf"^(?P<said>{_DEFINITE} .*\bis (?:\w+ed|led|run|built|made|kept|held|done"
        rf"|written) by) {_NAME}\W*$",
        rf"^(?P<said>{_DEFINITE} [^,]*\bis(?: called| named)?) {_NAME}\W*$",
    ),
)
