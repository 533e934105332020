"""Drafts prepared many at a time: preparing is most of what a bulk write costs, and needs nothing but the text.

Where many are written, processes beside this one take a share of every batch. They are programs of our own that read
drafts from a pipe and write rows to another, not copies of this one: the calling program is never run a second time.
Whatever a process cannot do, because it is gone or the draft is refused, is done here, with the same outcome.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from recallens.ingest.draft import Draft
from recallens.ingest.prepare import Prepare, prepare
from recallens.store.records import Prepared

if TYPE_CHECKING:
    import subprocess

# A process takes half a second to start, in which this one prepares as many.
WORTH_A_PROCESS: Final = 1_024
MOST_PROCESSES: Final = 3
# What writing a text takes of the time that preparing one does.
WRITING: Final = 0.5
_LENGTH_BYTES: Final = 4


class Unprepared(Struct, frozen=True, array_like=True):
    """A draft, and what the row that is made of it is called."""

    draft: Draft
    id: str
    namespace: str
    now: int


_encoder: Final = msgspec.msgpack.Encoder()
_works: Final = msgspec.msgpack.Decoder(list[Unprepared])
_rows: Final = msgspec.msgpack.Decoder(list[Prepared])


class Preparation:
    """Prepares drafts, in batches. Within `bulk` other processes help."""

    def __init__(self, prepare: Prepare = prepare) -> None:
        self._prepare = prepare
        self._counting = threading.Lock()
        self._bulks = self._seen = 0
        self._helping = threading.Lock()  # held by the batch that the processes work on; another one does without them
        self._processes: list[_Process] = []

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """Many are to come. The processes end with the last of these."""
        with self._counting:
            self._bulks += 1
        try:
            yield
        finally:
            with self._counting:
                self._bulks -= 1
                if not self._bulks:
                    self._seen = 0
                    for process in self._processes:
                        process.end()
                    self._processes = []

    def stream(self, batches: Iterator[Sequence[Unprepared]]) -> Iterator[tuple[Sequence[Unprepared], list[Prepared]]]:
        """Each batch with its rows. The next one is prepared while the caller deals with these."""
        with self.bulk():
            begun = self._begin_next(batches)
            try:
                while begun is not None:
                    made, begun = (begun.works, begun.rows()), None
                    try:
                        begun = self._begin_next(batches, ahead=True)
                    except Exception:  # whoever gives the drafts has failed: those before are wanted all the same
                        yield made
                        raise
                    yield made
            finally:
                if begun is not None:
                    begun.drop()

    def rows(self, works: Sequence[Unprepared]) -> list[Prepared]:
        return self._begin(works).rows()

    def _begin_next(self, batches: Iterator[Sequence[Unprepared]], *, ahead: bool = False) -> _Batch | None:
        works = next(batches, None)
        return None if works is None else self._begin(works, ahead=ahead)

    def _begin(self, works: Sequence[Unprepared], *, ahead: bool = False) -> _Batch:
        """The processes have their share when this returns. `ahead`: this one does something else meanwhile."""
        if not self._helping.acquire(blocking=False):
            return _Batch(self._prepare, works)
        processes = self._helpers(len(works))
        if not processes:
            self._helping.release()
            return _Batch(self._prepare, works)
        # Of a batch that is prepared while another is written this one takes less: all are to be done at once.
        writing = WRITING * len(processes) if ahead else 0.0
        own = round(len(works) * max(0.0, 1.0 - writing) / (1 + len(processes)))
        return _Batch(self._prepare, works, own, processes, self._helping.release)

    def _helpers(self, count: int) -> list[_Process]:
        with self._counting:
            self._seen += count if self._bulks else 0
            if self._prepare is not prepare or self._seen < WORTH_A_PROCESS:
                return []
            if not self._processes:
                self._processes = [_Process() for _ in range(min(_processors() - 1, MOST_PROCESSES))]
            return [process for process in self._processes if process.alive]


def _nothing() -> None:
    pass


class _Batch:
    """Drafts that are being prepared: the first of them by this process, the others by those that help."""

    def __init__(
        self, prepare: Prepare, works: Sequence[Unprepared], own: int = 0, processes: Sequence[_Process] = (),
        done: Callable[[], None] = _nothing,
    ) -> None:  # fmt: skip
        self.works = works
        self._prepare = prepare
        self._done = done
        self._own = works[:own] if processes else works
        rest, count = works[len(self._own) :], len(processes)
        self._shares = [
            (process, rest[len(rest) * at // count : len(rest) * (at + 1) // count])
            for at, process in enumerate(processes)
        ]
        for process, share in self._shares:
            process.send(share)

    def rows(self) -> list[Prepared]:
        """Of all, in the order of the drafts. To be asked for once."""
        try:
            made = [self._one(work) for work in self._own]
            for process, share in self._shares:
                made += process.receive(len(share)) or [self._one(work) for work in share]
            return made
        finally:
            self.drop()

    def drop(self) -> None:
        """No later batch may be given rows of this one. Once is enough."""
        for process, _ in self._shares:
            process.settle()
        done, self._done = self._done, _nothing
        done()

    def _one(self, work: Unprepared) -> Prepared:
        return self._prepare(work.draft, id=work.id, namespace=work.namespace, now=work.now)


class _Process:
    """One of the helping processes. It is given one share at a time; what goes wrong ends it."""

    def __init__(self) -> None:
        import subprocess  # only a bulk write needs it

        self._running: subprocess.Popen[bytes] | None = None
        self._owes = False
        with suppress(OSError):  # -P: a folder that somebody works in is no place to import from
            self._running = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )  # fmt: skip

    @property
    def alive(self) -> bool:
        return self._running is not None

    def send(self, works: Sequence[Unprepared]) -> None:
        if self._running is None or self._running.stdin is None:
            return
        try:
            _write(self._running.stdin, _encoder.encode(works))
            self._owes = True
        except (OSError, ValueError, TypeError, OverflowError):  # gone, or a draft that no process can be given
            self.end()

    def receive(self, count: int) -> list[Prepared] | None:
        if self._running is None or self._running.stdout is None or not self._owes:
            return None
        self._owes = False
        try:
            rows = _rows.decode(_read(self._running.stdout))
        except (OSError, EOFError, msgspec.MsgspecError):
            self.end()
            return None
        return rows if len(rows) == count else None

    def settle(self) -> None:
        if self._owes:
            self.end()

    def end(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.kill()
            for pipe in (running.stdin, running.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            running.wait()


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _write(pipe: IO[bytes], message: bytes) -> None:
    pipe.write(len(message).to_bytes(_LENGTH_BYTES, "big") + message)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes:
    """One message; EOFError where there is none any more."""
    head = pipe.read(_LENGTH_BYTES)
    message = pipe.read(int.from_bytes(head, "big"))
    if len(head) < _LENGTH_BYTES or len(message) < int.from_bytes(head, "big"):
        raise EOFError
    return message


def _prepared(message: bytes) -> list[Prepared]:
    """Nothing where one is refused: whoever gave them says so in its own words."""
    with suppress(Exception):
        return [
            prepare(work.draft, id=work.id, namespace=work.namespace, now=work.now) for work in _works.decode(message)
        ]
    return []


def main() -> None:
    """A helping process: it ends with its pipe, and an interrupt is for whoever started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, BrokenPipeError):
        while True:
            _write(sys.stdout.buffer, _encoder.encode(_prepared(_read(sys.stdin.buffer))))


if __name__ == "__main__":
    main()
