"""Tasks: started, logged, ended with a reward; what was used in them; what repeated attempts become."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from msgspec import structs

from recallens.engine.core import Core
from recallens.engine.crafts import Crafts
from recallens.engine.encoder import StoreEncoder
from recallens.engine.ingest import Ingest
from recallens.errors import InvalidInput, NotFound, UnknownOption
from recallens.ingest.crafts import counted
from recallens.ingest.credit import evidence_of_use, work_log
from recallens.ingest.curation import strengthen
from recallens.ingest.draft import Draft
from recallens.ingest.prepare import kept_text
from recallens.ingest.promotion import Attempts, promotions, same_work, work_of
from recallens.ingest.validate import MAX_CONTENT_BYTES, label, reference, text_content, unit_interval
from recallens.model.citation import Citation, LogCitation, TerminalCitation
from recallens.model.craft import TITLE_CHARACTERS, Gotcha, Pattern, kind_of
from recallens.model.memory import (
    PROPOSED,
    RULE,
    TASK,
    Artifact,
    Event,
    EventKind,
    Kind,
    Memory,
    Origin,
    Relation,
    RelationType,
    Sector,
    Status,
    Zone,
)
from recallens.model.query import MAX_LIMIT
from recallens.model.salience import DAY_MS, RECALL_REINFORCEMENT, Uplift, uplift_of
from recallens.model.state import FAILURE, SUCCESS, not_held
from recallens.model.task import Credit, Promotion, Task, TaskOutcome
from recallens.model.times import When
from recallens.model.trust import (
    Actor,
    Change,
    Input,
    InputKind,
    ProposedChange,
    Word,
    lowest,
    rank,
    word_on,
)
from recallens.store.protocols import Reader, Writer
from recallens.text.content import content_words
from recallens.text.normalize import clean
from recallens.text.sentences import first_sentence

ARTIFACT_KINDS = ("log", "terminal_snapshot")
MAX_ARTIFACT_BYTES = MAX_CONTENT_BYTES
MAX_TASK_ID = 128
# Forty bits of chance: short enough to be read and typed.
TASK_ID_LENGTH = 8
# Running tasks that are named to who asks for one that is not there.
SHOWN_RUNNING = 3
# Ended tasks that one is compared with when it ends, the latest, and of those that share a word with it how many
# are read with their logs.
TASKS_COMPARED, TASKS_READ = 300, 50
# How much of a log is read for steps, errors and files: what it is about stands near its beginning.
LOG_READ = 20_000
LOGS_READ = 100


class Tasks:
    """Runs the tasks of a namespace, and learns from how they ended."""

    def __init__(self, core: Core, ingest: Ingest, crafts: Crafts, encoder: StoreEncoder) -> None:
        self._core = core
        self._ingest = ingest
        self._crafts = crafts
        self._encoder = encoder

    # ── the life of a task ──

    def start(
        self, text: str, *, id: str | None = None, session: str | None = None, project: str | None = None,
        worktree: str | None = None, started: When | None = None, namespace: str | None = None,
    ) -> Task:  # fmt: skip
        words = kept_text(text_content(text), self._core.actor.zone) or ""
        name, at = self._core.namespace(namespace), self._core.moment("started", started)
        task = Task(
            _task_id(id) if id is not None else self._short_id(),
            name,
            words,
            at,
            wording="",
            session=label("session", session) or self._core.settings.session,
            project=label("project", project) or self._core.settings.project,
            worktree=label("worktree", worktree),
            zone=self._core.actor.zone,
            owner=self._core.actor.owner,
        )
        with self._core.making(name) as tx:
            while id is None and tx.tasks.get(task.id) is not None:
                task = structs.replace(task, id=self._short_id())
            if tx.tasks.get(task.id) is not None:
                raise InvalidInput(
                    f"there is a task {task.id!r} already", hint="Leave the id out to get one, or give another."
                )
            self._core.ensure_session(tx, task.session, at=task.started, project=task.project)
            task = structs.replace(task, wording=task.id)
            tx.tasks.put(task)
        return task

    def _short_id(self) -> str:
        return f"t-{self._core.new_id()[-TASK_ID_LENGTH:].lower()}"

    def log(
        self, task: str, content: str, *, kind: str = "log", created: int | None = None, namespace: str | None = None
    ) -> Artifact:
        """Keep a full log or terminal snapshot (layer 3), without secrets."""
        from recallens.ingest.redact import redact  # late: only a write needs its rules

        if kind not in ARTIFACT_KINDS:
            raise UnknownOption("kind of log", kind, ARTIFACT_KINDS)
        text = redact(_log_text(content))[0]
        form: Literal["log", "terminal_snapshot"] = "log" if kind == "log" else "terminal_snapshot"
        at = self._core.moment("created", created)
        with self._core.changing(namespace) as tx:
            running = self._own(tx, task, "log to it")
            artifact = Artifact(self._core.new_id(), tx.name, running.id, form, text, at, self._core.actor.zone)
            tx.tasks.put_artifact(artifact)
        return artifact

    def end(
        self, task: str, *, reward: float, summary: str | None = None, ended: When | None = None,
        namespace: str | None = None,
    ) -> TaskOutcome:  # fmt: skip
        """One transaction: the outcome, the task's episode, each memory's counts, and what it all adds up to."""
        worth, words, at = (
            unit_interval("reward", reward),
            kept_text(summary, self._core.actor.zone),
            self._core.moment("ended", ended),
        )
        with self._core.changing(namespace) as tx:
            self._core.settle_encoding(tx)
            running = self._own(tx, task, "end it again")
            if at < running.started:
                raise InvalidInput("a task cannot end before it started", hint="Give a later time, or none.")
            zone = lowest((running.zone, self._core.actor.zone))
            done = structs.replace(running, ended=at, reward=worth, summary=words, zone=zone)
            logs = tx.tasks.artifacts([done.id], chars=LOG_READ, limit=LOGS_READ)
            done = structs.replace(done, wording=_attempt_of(tx, done, logs))
            credited = self._credit(tx, done, logs)
            episode = _episode(done, tx.tasks.artifact_kinds(done.id), _restricted(tx, done))
            (row,) = self._ingest.prepared([episode], tx.name, tx)
            ((num, _),) = self._ingest.write(tx, [row])
            tx.tasks.end(done, num)
            outcome = Event(tx.name, EventKind.OUTCOME, at, session=done.session, task=done.id, amount=worth)
            tx.trail.record([outcome], [None])
            waiting = self._count(tx, done)
            tx.tasks.recount(done.id)
            promoted = self._promote(tx, done.wording)
            done = structs.replace(done, episode=row.memory.id)
        self._encoder.drain_quietly()
        return TaskOutcome(done, row.memory.id, promoted, credited, waiting)

    def _credit(self, tx: Writer, task: Task, logs: Sequence[Artifact]) -> tuple[Credit, ...]:
        """What the task's log and summary show to have been of use, beside what was marked: a memory that was merely
        returned gets no credit, and none that the task made itself.
        """
        by = self._core.actor
        words = [(by.zone, task.summary or ""), *((each.zone, each.content) for each in logs)]
        # What somebody less trusted has logged shows nothing of what is more trusted.
        shown = {zone: work_log(task.text, [said for of, said in words if rank(of) >= rank(zone)]) for zone in Zone}
        marked = tx.tasks.uses(task.id)
        credited = []
        for num, memory in tx.memories.get([num for num in tx.tasks.recalled(task) if num not in marked]).items():
            log = shown[memory.zone if by.decides else lowest((memory.zone, by.zone))]
            evidence = evidence_of_use(memory, log) if memory.task != task.id else None
            if evidence is not None:
                strengthen(tx, num, EventKind.USED, by=RECALL_REINFORCEMENT, now=task.ended or 0,
                           session=task.session, task=task.id, owner=by.called or None)  # fmt: skip
                credited.append(Credit(memory.id, memory.handle, evidence))
        return tuple(credited)

    def _count(self, tx: Writer, task: Task) -> tuple[str, ...]:
        """What the outcome counts for, by `word_on`; what only waits is proposed. Gives the handles of these."""
        lowers, at, waiting = (task.reward or 0.0) < SUCCESS, task.ended or 0, []
        uses = tx.tasks.uses(task.id)
        writers, memories = tx.tasks.writers(list(uses)), tx.memories.get(list(uses))
        for num, owner in uses.items():
            by = self._core.actor
            if by.decides and (owner or task.zone is not Zone.TRUSTED):
                by = Actor(owner=owner or None)  # an agent's word stays one, whoever ends the task that it was said in
            memory, said = memories[num], tx.tasks.tried(num, by.called)
            match word_on(by, memory, lowers=lowers, writer=writers.get(num), said=said):
                case Word.COUNTS:
                    tried = Event(tx.name, EventKind.TRIED, at, task=task.id, session=task.session,
                                  owner=by.called or None)  # fmt: skip
                    tx.trail.record([tried], [num])
                case Word.WAITS if (task.reward or 0.0) <= FAILURE:
                    why = {"why": f"the task {task.id}, in which it was used, failed"}
                    proposed = ProposedChange(Change.DEEMPHASISE, num=num, zone=by.zone, owner=by.called, at=at,
                                              details=why)  # fmt: skip
                    tx.proposals.put(proposed)
                    waiting.append(memory.handle)
                case _:
                    pass
        return tuple(waiting)

    def recent(
        self, *, running: bool | None = None, project: str | None = None, session: str | None = None, limit: int = 20,
        offset: int = 0, namespace: str | None = None,
    ) -> list[Task]:  # fmt: skip
        """The latest first."""
        if not 1 <= limit <= MAX_LIMIT or offset < 0:
            raise InvalidInput(f"a page has 1 to {MAX_LIMIT:,} tasks and starts at 0 or later")
        with self._core.read(namespace) as reader:
            return reader.tasks.latest(running=running, project=project, session=session, limit=limit, offset=offset)

    def get(self, task: str, *, namespace: str | None = None) -> Task:
        with self._core.reading(namespace) as reader:
            return _task(reader, task, self._core.actor)

    def refuse_anothers(self, task: str, *, namespace: str | None = None) -> None:
        """Who acts as a token writes in no task that another started; a name that no task has yet is nobody's."""
        with self._core.store.read(self._core.namespace(namespace)) as reader:
            known = reader.tasks.get(clean(task).strip())
        if known is not None and not known.is_of(self._core.actor.owner):
            raise NotFound(f"no task {task!r} of yours", hint="Name one of your own, or none.")

    def running(self, task: str, purpose: str, *, namespace: str | None = None) -> Task:
        with self._core.reading(namespace) as reader:
            return self._own(reader, task, purpose)

    def _own(self, reader: Reader, id: str, purpose: str) -> Task:
        """A running task that whoever acts may change."""
        task = _task(reader, id, self._core.actor)
        if not task.running:
            raise InvalidInput(
                f"the task {task.id!r} has ended with reward {task.reward:g}: you cannot {purpose}",
                hint="Nothing was changed. `recallens task start` starts another.",
            )
        return task

    def restricted(self, task: Task) -> tuple[Input, ...]:
        """What a running task was given or used so far that is meant for some contexts only."""
        with self._core.reading(task.namespace) as reader:
            return _restricted(reader, structs.replace(task, ended=self._core.clock()))

    # ── what was used, and what it was worth ──

    def used(
        self, memories: Iterable[str], *, task: str | None = None, session: str | None = None, at: int | None = None,
        namespace: str | None = None,
    ) -> list[str]:  # fmt: skip
        """Say which memories were of use; gives those that count. What was merely returned in a task was not with it,
        and an agent can have used in a task only what it was given for it."""
        ids = list(dict.fromkeys([memories] if isinstance(memories, str) else memories))
        if not ids:
            raise InvalidInput("name at least one memory that was used", hint="A search shows ids.")
        now = self._core.moment("at", at)
        with self._core.changing(namespace) as tx:
            running = self._own(tx, task, "mark what was used in it") if task is not None else None
            asking = label("session", session) or (running.session if running else None) or self._core.settings.session
            nums, actor = list(dict.fromkeys(self._core.seen_memory(tx, id)[0] for id in ids)), self._core.actor
            if running is not None and not actor.decides:
                given = tx.tasks.given(nums, running, actor.owner, now)
                nums = [num for num in nums if num in given]
            self._core.ensure_session(tx, asking, at=now)
            into, known = running.id if running else None, tx.memories.get(nums)
            for num in nums:
                # As with recalls: however often an agent says so, it counts once a day.
                due = actor.decides or now - (known[num].reinforced_at or 0) >= DAY_MS
                by = RECALL_REINFORCEMENT if due else 0.0
                strengthen(tx, num, EventKind.USED, by=by, now=now, session=asking, task=into,
                           owner=actor.called or None)  # fmt: skip
            names = tx.memories.ids(nums)
        return [names[num] for num in nums]

    def not_given(self, memories: Sequence[Memory], task: Task, *, namespace: str | None = None) -> list[Memory]:
        """Those that a running task was never given: not recalled for it, nor written in it."""
        with self._core.reading(namespace) as reader:
            nums = reader.memories.find([memory.id for memory in memories])
            given = reader.tasks.given(list(nums.values()), task, self._core.actor.owner, self._core.clock())
        return [memory for memory in memories if nums.get(memory.id) not in given]

    def uplift_of(self, ids: Iterable[str], *, namespace: str | None = None) -> dict[str, Uplift]:
        """By memory id; a memory that has been in no ended task is left out, for its uplift is unknown."""
        with self._core.reading(namespace) as reader:
            state = self._core.state(reader)
            nums = [self._core.num(reader, id) for id in ids]
            memories, trials = reader.memories.get(nums), reader.tasks.trials(nums)
        known = {
            memory.id: uplift_of(*trials[num], state.tasks_ended, state.reward_total,
                                 trusted=memory.zone is Zone.TRUSTED)
            for num, memory in memories.items()
        }  # fmt: skip
        return {id: uplift for id, uplift in known.items() if uplift is not None}

    # ── what repeated attempts become ──

    def _promote(self, tx: Writer, wording: str) -> tuple[Promotion, ...]:
        attempts, now = _gathered(tx, tx.tasks.attempts(wording)), self._core.clock()
        if not attempts.tasks:
            return ()
        where: dict[str, Any] = {"project": attempts.tasks[0].project, "source": RULE, "inputs": attempts.inputs()}
        episodes = [task.episode for task in attempts.tasks if task.episode is not None]
        promoted = []
        for craft in promotions(attempts):
            # A pattern and the skill that it may become are one thing; a gotcha is another.
            name = f"task-{'failures' if isinstance(craft, Gotcha) else 'successes'}:{wording}"
            # What this wording became before, as it is now: an edit of it has taken its place.
            old = tx.memories.by_source_id([name]).get(name)
            while old is not None and (after := tx.relations.successors([old], now).get(old)) is not None:
                old = tx.memories.find([after.id])[after.id]
            if old is not None and tx.memories.get([old])[old].status not in (Status.ACTIVE, Status.PENDING_REVIEW):
                continue  # somebody rejected or forgot it: the next success does not bring it back
            # That something failed is plain; that something is the way to do it is for somebody to say.
            review = None if isinstance(craft, Gotcha) else PROPOSED
            zone = None if review is None else Zone.WORKING
            attributes = {**where, "source_id": name, "review": review, "zone": zone}
            num, created = self._crafts.put(tx, craft, old, attributes, by_rule=True)
            id = tx.memories.ids([num])[num]
            known = {tie.target for tie in tx.relations.of(num) if tie.type is RelationType.BUILDS_ON}
            for other, episode in tx.memories.find([episode for episode in episodes if episode not in known]).items():
                relation = Relation(id, other, RelationType.BUILDS_ON, origin=Origin.RULE, created=now)
                tx.relations.put(num, episode, relation)
            count = counted(craft) if isinstance(craft, Pattern | Gotcha) else len(attempts.successes)
            promoted.append(Promotion(kind_of(craft), id, created, count))
        return tuple(promoted)


def _attempt_of(tx: Reader, task: Task, logs: Sequence[Artifact]) -> str:
    """The first of the attempts that this task belongs to, most of which did the same; itself, if there are none."""
    earlier = tx.tasks.ended(task.project, TASKS_COMPARED)
    own = content_words(f"{task.text}\n{task.summary or ''}")
    near = [each for each in earlier if own & content_words(f"{each.text}\n{each.summary or ''}")][:TASKS_READ]
    read: dict[str, list[Artifact]] = {}
    for artifact in tx.tasks.artifacts([each.id for each in near], chars=LOG_READ, limit=LOGS_READ) if near else ():
        read.setdefault(artifact.task, []).append(artifact)
    work = work_of(task, logs)
    groups: dict[str, list[bool]] = {}
    for each in near:
        groups.setdefault(each.wording, []).append(same_work(work, work_of(each, read.get(each.id, ()))))
    agreed = {wording: sum(same) for wording, same in groups.items() if 2 * sum(same) >= len(same) and any(same)}
    return max(agreed, key=lambda wording: agreed[wording], default=task.id)


def _task(reader: Reader, id: str, actor: Actor) -> Task:
    """A task of whoever acts: to a token another's is not there, also within a write, which sees all of them."""
    task = reader.tasks.get(clean(id).strip())
    if task is None or not task.is_of(actor.owner):
        latest = reader.tasks.latest(
            running=True, project=None, session=None, limit=SHOWN_RUNNING, offset=0, owner=actor.owner
        )
        at_work = ", ".join(each.id for each in latest)
        raise NotFound(
            f"no task {id!r} in this namespace",
            hint=f"Running, the latest first: {at_work}." if at_work else "No task is running: start one first.",
        )
    return task


def _task_id(id: str) -> str:
    name = reference("task id", id).strip() if isinstance(id, str) else ""
    if not name or len(name) > MAX_TASK_ID or any(character.isspace() for character in name):
        raise InvalidInput(f"{id!r} is no task id; use 1 to {MAX_TASK_ID} characters without blanks")
    return name


def _log_text(content: Any) -> str:
    """A log as it is, trailing blanks aside: leading blanks may be the layout of a screen."""
    if not isinstance(content, str):
        raise InvalidInput(f"a log must be text, not {type(content).__name__}")
    text = clean(content).rstrip()
    if not text.strip():
        raise InvalidInput("the log is empty; give at least one visible character")
    size = len(text.encode("utf-8"))
    if size > MAX_ARTIFACT_BYTES:
        raise InvalidInput(
            f"the log is {size:,} bytes; the limit is {MAX_ARTIFACT_BYTES:,}",
            hint="Nothing was stored. Log it in parts, or only the part that matters.",
        )
    return text


def _restricted(reader: Reader, task: Task) -> tuple[Input, ...]:
    """What a task was given or used that is meant for some contexts only: whatever it tells is made of that too."""
    nums = dict.fromkeys([*reader.tasks.recalled(task), *reader.tasks.uses(task.id)])
    return tuple(Input.of(each) for each in reader.memories.get(list(nums)).values() if not_held(each, ()))


def _episode(task: Task, artifacts: Sequence[tuple[str, str]], restricted: tuple[Input, ...]) -> Draft:
    cited: list[Citation] = [LogCitation(id) if kind == "log" else TerminalCitation(id) for id, kind in artifacts]
    return Draft(
        task.summary or task.text, title=first_sentence(task.text, TITLE_CHARACTERS), kind=Kind.EPISODE,
        sector=Sector.EPISODIC, project=task.project, session=task.session, task=task.id, worktree=task.worktree,
        reward=task.reward, source=TASK, citations=tuple(cited), created=task.ended,
        inputs=(Input(InputKind.TASK, task.id, task.zone), *restricted),
    )  # fmt: skip


def _gathered(tx: Reader, tasks: Sequence[Task]) -> Attempts:
    """What may be read of them: an attempt whose episode was forgotten, or is in quarantine, teaches nothing."""
    nums = tx.tasks.memories([task.id for task in tasks])
    held = {num: each for num, each in tx.memories.get(nums).items() if each.zone is not Zone.QUARANTINE}
    known = {each.id for each in held.values()}
    tasks = [task for task in tasks if task.episode in known]
    logs: dict[str, list[Artifact]] = {}
    for artifact in tx.tasks.artifacts([task.id for task in tasks], chars=LOG_READ, limit=LOGS_READ):
        logs.setdefault(artifact.task, []).append(artifact)
    memories: dict[str, list[Memory]] = {}
    for num in nums:
        if num in held:
            memories.setdefault(held[num].task or "", []).append(held[num])
    return Attempts(tasks, logs, memories)
