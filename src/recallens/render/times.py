"""The time that a question asks about, in a sentence: which days, which event dates it, whether anything is of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, Final

from recallens.model.ledger import Ledger
from recallens.render.formats import first_line

TITLE_CHARACTERS: Final = 80
_EARLIEST, _LATEST = "1970-01-01", "9999-12-30"


def time_of(ledger: Ledger, *, unshown: int = 0) -> dict[str, Any] | None:
    """The windows of a recall, how many memories they hold and, where none, the nearest day that has one; of a question
    that is only a time, how many `more` are of it than are shown, of which `unshown` for want of room.
    """
    plan = next(iter(ledger.notes("plan")), {})
    windows, undated, held = plan.get("windows"), plan.get("undated"), ledger.notes("time")
    listed = next((note["listed"] for note in ledger.notes("timeReasons")[-1:] if "listed" in note), None)
    told = {"undated": undated} if undated else {}
    told |= {name: plan[name] for name in ("perhaps", "place") if name in plan}
    if held and listed and (more := held[-1]["held"] - listed + unshown) > 0:
        told["more"] = more
    return {"windows": windows or [], **told, **(held[-1] if held else {})} if windows or told else None


def _undated(time: Mapping[str, Any]) -> str:
    if "undated" not in time:
        return ""
    if "perhaps" not in time:
        return f"No memory tells of “{time['undated']}”: it dates nothing."
    perhaps = time["perhaps"]
    called = f"{perhaps['handle']} {perhaps['title'] or '(withheld)'} ({perhaps['day']})"
    return f"No memory surely tells of “{time['undated']}”, so it dates nothing; perhaps {called} does."


def time_line(time: Mapping[str, Any] | None) -> str:
    """Empty where a question speaks of no time."""
    if not time:
        return ""
    undated = _undated(time)
    if not time["windows"]:
        return undated
    place = f"“{time['place']['text']}” is the project {time['place']['project']}." if "place" in time else ""
    line = " ".join(filter(None, (f"Time: {'; '.join(map(_window, time['windows']))}.", place, undated)))
    if time.get("held") != 0:
        return " ".join(filter(None, (line, more_line(time))))
    nearest = f" The nearest day that has something is {time['nearest']}." if "nearest" in time else ""
    return f"{line} Nothing is of that time.{nearest}"


def more_line(time: Mapping[str, Any] | None) -> str:
    return f"{time['more']} more of that time." if time and "more" in time else ""


def _window(window: Mapping[str, Any]) -> str:
    first, last = window["from"], (date.fromisoformat(window["to"]) - timedelta(days=1)).isoformat()
    span = first if first == last else f"{first} to {last}"
    if first == _EARLIEST:
        span = f"up to {last}"
    elif last >= _LATEST:
        span = f"from {first} on"
    if "asOf" in window:
        span = f"what held on {window['asOf']}"
    event = window.get("event")
    if event is None:
        return f"“{window['text']}”, {span}"
    name = f" “{first_line(event['title'], TITLE_CHARACTERS)}”" if event["title"] else ""
    return f"“{window['text']}”, {span}; the event is {event['handle']} of {event['day']} (by {event['datedBy']}){name}"
