"""What a session leaves behind: a summary that later sessions find, kept when it ends and told anew when it changes."""

from __future__ import annotations

from recallens.engine.keeping import Keeping
from recallens.ingest.recaps import recap, recap_id
from recallens.model.memory import Memory, Session, Status, Usage


class Recapping(Keeping):
    def end_session(
        self, id: str, *, summary: str | None = None, ended: int | None = None, zone: str | None = None,
        namespace: str | None = None,
    ) -> Session:  # fmt: skip
        """End a session, and keep its recap as a memory. One that was kept before and says something else is
        superseded: a question about an earlier time still finds what was known then.
        """
        finished = super().end_session(id, summary=summary, ended=ended, namespace=namespace)
        said, known = self._told(finished)
        draft = recap(finished, said)
        if draft is None or (known is not None and _stands(known, draft.content)):
            return finished
        self.remember(
            draft, namespace=finished.namespace, dedupe=False, zone=zone,
            supersedes=known.id if known is not None else None,
        )  # fmt: skip
        return finished

    def _told(self, session: Session) -> tuple[list[Memory], Memory | None]:
        """What the session created, in order, and the recap that it has."""
        with self.store.read(session.namespace) as reader:
            self._state(reader)
            links = [num for num, usage, _ in reader.sessions.links(session.id) if usage is Usage.CREATED]
            found = reader.memories.by_source_id([recap_id(session.id)])
            memories = reader.memories.get([*links, *found.values()])
        ordered = sorted((memories[num] for num in links if num in memories), key=lambda one: (one.created, one.id))
        return ordered, next((memories[num] for num in found.values()), None)


def _stands(known: Memory, content: str) -> bool:
    """The same words; or taken away by a person, who is not overruled."""
    return known.content.strip() == content.strip() or known.status in (Status.FORGOTTEN, Status.REJECTED)
