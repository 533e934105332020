"""Nothing outside a vault's root is ever read, and a bad file harms only itself."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from notes import Notes, sections, synced
from recallens.engine import Engine
from recallens.errors import InvalidInput, NotFound
from recallens.ingest.vault import files
from recallens.ingest.vault.files import LARGEST_FILE, Root

SECRET = "The launch code is mercury."


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    """A vault `notes` beside a folder `notes-secret`, whose name begins alike."""
    Notes(tmp_path / "notes-secret").write("code.md", SECRET)
    own = Notes(tmp_path / "notes")
    own.write("good.md", "# Good\n\nThe tide table is public.\n")
    return own


def reasons(engine: Engine, notes: Notes) -> dict[str, str]:
    engine.vaults.add(notes.root)
    report = synced(engine)
    assert report.added == ("good.md",)
    assert all("mercury" not in memory.content for memory in sections(engine))
    return {problem.path: problem.reason for problem in (*report.errors, *report.skipped)}


def outside(notes: Notes) -> Path:
    return notes.root.parent / "notes-secret"


def test_a_link_to_a_file_outside_is_not_read(engine: Engine, notes: Notes) -> None:
    (notes.root / "code.md").symlink_to(outside(notes) / "code.md")
    assert reasons(engine, notes) == {"code.md": "a link that leads out of the vault"}


def test_a_link_to_a_folder_outside_is_not_entered(engine: Engine, notes: Notes) -> None:
    (notes.root / "linked").symlink_to(outside(notes), target_is_directory=True)
    assert reasons(engine, notes) == {"linked": "a link that leads out of the vault"}
    assert engine.vaults.sync("notes", ["linked/code.md"]).vaults[0].added == ()


def test_a_link_inside_is_not_read_twice(engine: Engine, notes: Notes) -> None:
    (notes.root / "also.md").symlink_to("good.md")
    assert reasons(engine, notes) == {"also.md": "a link; its target is read in its own place"}


@pytest.mark.parametrize("path", ["../notes-secret/code.md", "sub/../../notes-secret/code.md", "/etc/hostname"])
def test_paths_that_lead_out_are_told_and_not_read(engine: Engine, notes: Notes, path: str) -> None:
    engine.vaults.add(notes.root)
    (report,) = engine.vaults.sync("notes", [path]).vaults
    assert [problem.reason for problem in report.errors] == ["it is not in the vault"]
    assert report.added == ()
    assert sections(engine) == []


def test_a_sibling_whose_name_begins_alike_is_outside(engine: Engine, notes: Notes) -> None:
    engine.vaults.add(notes.root)
    (report,) = engine.vaults.sync("notes", [str(outside(notes) / "code.md")]).vaults
    assert [problem.reason for problem in report.errors] == ["it is not in the vault"]
    with pytest.raises(InvalidInput, match="leads out of the vault"):
        engine.vaults.add(notes.root, scopes=[str(outside(notes))])


def test_reading_by_a_path_with_dots_is_refused(notes: Notes) -> None:
    with Root(str(notes.root)) as root:
        assert root.read("good.md")[0].startswith(b"# Good")
        for path in ("../notes-secret/code.md", "./good.md", "a//b.md"):
            with pytest.raises((InvalidInput, NotFound)):
                root.read(path)


def swap_file(notes: Notes) -> None:
    (notes.root / "sub" / "late.md").unlink()
    (notes.root / "sub" / "late.md").symlink_to(outside(notes) / "code.md")


def swap_folder(notes: Notes) -> None:
    (notes.root / "sub").rename(notes.root.parent / "moved")
    (notes.root / "sub").symlink_to(outside(notes), target_is_directory=True)
    Notes(outside(notes)).write("late.md", SECRET)


def swap_pipe(notes: Notes) -> None:
    (notes.root / "sub" / "late.md").unlink()
    os.mkfifo(notes.root / "sub" / "late.md")


@pytest.mark.parametrize("swap", [swap_file, swap_folder, swap_pipe])
def test_what_is_swapped_in_between_the_look_and_the_read_is_not_read(
    engine: Engine, notes: Notes, monkeypatch: pytest.MonkeyPatch, swap: Callable[[Notes], None]
) -> None:
    notes.write("sub/late.md", "innocent")
    read, swapped = files.Root.read, []

    def swapping(self: Root, path: str) -> object:
        if not swapped:
            swapped.append(path)
            swap(notes)
        return read(self, path)

    monkeypatch.setattr(files.Root, "read", swapping)
    problems = reasons(engine, notes)
    assert swapped
    assert problems["sub/late.md"] in ("a link stands where a file or folder was", "it is not a regular file")


def test_pipes_and_sockets_are_not_opened(engine: Engine, notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(notes.root / "pipe.md")
    monkeypatch.chdir(notes.root)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.md")
        opened: list[str] = []
        real = os.open

        def noting(path: str, *rest: object, **more: object) -> int:
            opened.append(str(path))
            return real(path, *rest, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(os, "open", noting)
        problems = reasons(engine, notes)
    assert problems == {"pipe.md": "it is not a regular file", "socket.md": "it is not a regular file"}
    assert "good.md" in opened
    assert not {"pipe.md", "socket.md"} & set(opened)


def test_bad_files_are_told_and_the_others_go_on(engine: Engine, notes: Notes) -> None:
    notes.write("bomb.md", "---\na: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
                "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n---\nx")  # fmt: skip
    notes.write("latin.md", "caf\xe9".encode("latin-1"))
    notes.write("binary.md", b"PK\x03\x04\x00\x00")
    with (notes.root / "huge.md").open("wb") as stream:
        stream.truncate(LARGEST_FILE + 1)
    notes.write("empty.md", "")
    engine.vaults.add(notes.root)
    report = synced(engine)
    assert report.added == ("bomb.md", "empty.md", "good.md")
    told = {problem.path: problem.reason for problem in report.errors}
    assert sorted(told) == ["binary.md", "huge.md", "latin.md"]
    assert [problem.path for problem in report.warnings] == ["bomb.md"]
    assert "limit is 4,194,304" in told["huge.md"]
    again = synced(engine)  # nothing is read again, and nothing is forgotten
    assert {problem.path: problem.reason for problem in again.errors} == told
    notes.write("latin.md", "café")
    assert synced(engine).added == ("latin.md",)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_an_error_and_not_a_removal(engine: Engine, notes: Notes) -> None:
    notes.write("sub/a.md", "hidden harbour")
    engine.vaults.add(notes.root)
    synced(engine)
    (notes.root / "sub").chmod(0)
    try:
        report = synced(engine)
    finally:
        (notes.root / "sub").chmod(stat.S_IRWXU)
    assert report.removed == ()
    assert [problem.path for problem in report.errors] == ["sub"]


def test_a_folder_that_cannot_be_entered_keeps_what_was_known_of_it(
    engine: Engine, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes.write("sub/a.md", "hidden harbour")
    engine.vaults.add(notes.root)
    synced(engine)
    real = os.open

    def refusing(path: object, flags: int, *rest: object, **more: object) -> int:
        if path == "sub":
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refusing)
    report = synced(engine)
    assert report.removed == ()
    assert [(problem.path, problem.reason) for problem in report.errors] == [("sub", "permission denied")]
    assert [memory.content for memory in sections(engine, "sub/a.md")] == ["hidden harbour"]


def test_a_root_that_is_gone_changes_nothing(engine: Engine, notes: Notes) -> None:
    engine.vaults.add(notes.root)
    synced(engine)
    notes.root.rename(notes.root.parent / "elsewhere")
    with pytest.raises(NotFound, match="cannot be opened"):
        synced(engine)
    assert len(sections(engine)) == 1


def test_a_name_that_is_no_utf8_is_told(engine: Engine, notes: Notes) -> None:
    with open(os.fsencode(notes.root) + b"/bad\xff.md", "wb") as stream:
        stream.write(b"x")
    assert list(reasons(engine, notes).values()) == ["its name is not UTF-8"]
