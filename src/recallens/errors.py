"""Every error that Recallens raises on purpose.

RecallensError                 exit 1
├── InvalidInput               exit 2   what was given cannot be right; lists what would be
│   └── UnknownOption                   one value out of a closed set
├── NotFound                   exit 3   no such memory, session, namespace or store
│   └── StoreMissing
├── EditConflict               exit 7   another has changed it meanwhile; nothing was changed
├── ErasurePending             exit 8   it is deleted, but bytes of it still lie in a file; it says who holds them
├── StoreError                 exit 4   the store cannot be used as it is; nothing was changed
│   ├── StoreTooNew
│   ├── StoreReadOnly
│   ├── StoreDamaged
│   ├── StoreClosed                     by another thread, or before
│   ├── StoreBusy                       for now; nothing was changed, and the same may be tried again
│   │   └── StoreUnreachable            a server does not answer, or the connection to it was lost
│   └── AuditFailed                     what is done by a token cannot be written down, so it is not done
├── EncoderError               exit 5   text cannot be turned into vectors
│   ├── EncoderMissing
│   ├── EncoderMismatch
│   └── EncoderFailed
├── TooLate                             the time that was given for it is over; nothing was half done
├── AwaitsReview               exit 8   nothing was changed: it was proposed, and the person at the machine decides
└── AccessError                exit 6   a surface that asks for a token does not let this through
    ├── TokenRefused                    none was given, or one that is not known
    └── NotAllowed                      the token is known and does not grant this

An error says what was wrong, what would be right, and the next step. It loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable


class RecallensError(Exception):
    """The root; `exit_code` is what the command returns."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}" if self.hint else self.message


class InvalidInput(RecallensError):
    exit_code = 2


class UnknownOption(InvalidInput):
    """A value outside a closed set; the message lists the set."""

    def __init__(self, what: str, value: object, options: Iterable[str]) -> None:
        self.options = tuple(options)
        super().__init__(f"unknown {what} {value!r}; use one of: {', '.join(self.options)}")


class NotFound(RecallensError):
    exit_code = 3


class StoreMissing(NotFound):
    pass


class EditConflict(RecallensError):
    exit_code = 7


class ErasurePending(RecallensError):
    exit_code = 8


class StoreError(RecallensError):
    exit_code = 4


class StoreTooNew(StoreError):
    pass


class StoreReadOnly(StoreError):
    pass


class StoreDamaged(StoreError):
    pass


class StoreClosed(StoreError):
    pass


class StoreBusy(StoreError):
    pass


class StoreUnreachable(StoreBusy):
    pass


class AuditFailed(StoreError):
    pass


class EncoderError(RecallensError):
    exit_code = 5


class EncoderMissing(EncoderError):
    pass


class EncoderMismatch(EncoderError):
    pass


class EncoderFailed(EncoderError):
    pass


class TooLate(RecallensError):
    pass


class AwaitsReview(RecallensError):
    """What somebody less trusted wants done to what is more trusted. `proposal` is its handle in `recallens review`."""

    exit_code = 8

    def __init__(self, message: str, *, proposal: str, memory: str | None = None) -> None:
        super().__init__(message, hint=f"Nothing was changed. It waits as {proposal} for `recallens review`.")
        self.proposal = proposal
        self.memory = memory

    def __str__(self) -> str:
        return f"{self.message}. {self.hint}"


class AccessError(RecallensError):
    exit_code = 6


class TokenRefused(AccessError):
    pass


class NotAllowed(AccessError):
    pass
