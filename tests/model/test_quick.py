"""Records that are filled in a quicker way are frozen dataclasses in every other."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace

import pytest

from recallens.model.quick import quick


@quick
@dataclass(frozen=True, slots=True)
class Note:
    name: str
    count: int = 3
    words: list[str] = field(default_factory=list)


def test_it_is_made_as_its_dataclass_is() -> None:
    assert Note("a") == Note(name="a", count=3, words=[])
    assert Note("a", 4, ["b"]) == Note("a", words=["b"], count=4)
    assert repr(Note("a")) == "Note(name='a', count=3, words=[])"
    assert [one.name for one in fields(Note)] == ["name", "count", "words"]
    assert replace(Note("a"), count=5) == Note("a", 5)


def test_a_default_is_made_anew_for_each() -> None:
    assert Note("a").words is not Note("a").words


def test_it_cannot_be_changed() -> None:
    note = Note("a")
    with pytest.raises(FrozenInstanceError):
        note.count = 4  # type: ignore[misc]
    assert note.count == 3


def test_what_is_missing_is_an_error_that_names_it() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        Note()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        Note("a", other=1)  # type: ignore[call-arg]


def test_a_record_with_a_filling_of_its_own_is_refused() -> None:
    @dataclass(frozen=True, slots=True)
    class Counted:
        words: list[str]
        count: int = field(init=False, default=0)

    with pytest.raises(TypeError, match="Counted"):
        quick(Counted)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda record: pickle.loads(pickle.dumps(record))])
def test_a_copy_is_as_whole_and_as_frozen(again: Callable[[Note], Note]) -> None:
    copied = again(Note("a", words=["b"]))
    assert copied == Note("a", words=["b"])
    with pytest.raises(FrozenInstanceError):
        copied.count = 4  # type: ignore[misc]
