"""The statements that several transactions of the SQL store share, each over an open connection."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from webagent.core.effect import EffectChange, EffectRow
from webagent.core.errors import EffectConflict
from webagent.core.event import Event
from webagent.core.sighting import Sighting
from webagent.ports import Lease
from webagent.stores import bodies, rules
from webagent.stores.tables import EFFECTS, EVENTS, RUNS, SIGHTINGS

_LEASE = select(
    RUNS.c.epoch, RUNS.c.holder, RUNS.c.lease_until, RUNS.c.events, RUNS.c.stop_requested
).where(RUNS.c.run == bindparam("of"))
_LEASE_LOCKED = _LEASE.with_for_update()  # SQLite's writers are alone anyway and leave it out

# The append's own statement: it moves the journal's end only for the right lease and number.
_ADVANCE = (
    update(RUNS)
    .where(
        RUNS.c.run == bindparam("of"),
        RUNS.c.epoch == bindparam("by"),
        RUNS.c.events == bindparam("after"),
        RUNS.c.holder.is_not(None),
    )
    .values(
        events=bindparam("upto"),
        updated_at=bindparam("now"),
        status=func.coalesce(bindparam("new_status"), RUNS.c.status),
    )
)
_ADD_EVENTS = insert(EVENTS)
_EFFECT = select(EFFECTS.c.body).where(EFFECTS.c.key == bindparam("of"))
_EFFECT_LOCKED = _EFFECT.with_for_update()


def plain(text: str) -> str:
    """A text that every database takes: lone surrogates and NUL are written out."""
    return text.replace("\0", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


def lease_row(connection: Connection, run: str, *, lock: bool = False) -> Row[*tuple[Any, ...]]:
    """A run's lease and the number of its last event. Raises UnknownRun."""
    found = connection.execute(_LEASE_LOCKED if lock else _LEASE, {"of": plain(run)}).first()
    if found is None:
        raise rules.unknown_run(run)
    return found


def add_events(
    connection: Connection, lease: Lease, after: int, events: Sequence[Event], at: str
) -> None:
    """Move the journal's end and write the events. Raises LeaseLost or SequenceConflict."""
    advance = {
        "of": lease.run,
        "by": lease.epoch,
        "after": after,
        "upto": after + len(events),
        "now": at,
        "new_status": rules.status_after(events),
    }
    if connection.execute(_ADVANCE, advance).rowcount != 1:
        found = lease_row(connection, lease.run)
        rules.check_epoch(lease, found.epoch, held=found.holder is not None)
        raise rules.out_of_sequence(lease.run, found.events, after)
    if events:
        connection.execute(
            _ADD_EVENTS,
            [
                {
                    "run": lease.run,
                    "seq": seq,
                    "epoch": lease.epoch,
                    "at": at,
                    "type": event.type,
                    "step": plain(event.step),
                    "body": bodies.dump(event),
                }
                for seq, event in enumerate(events, after + 1)
            ],
        )


def effect_row(connection: Connection, key: str, *, lock: bool = False) -> EffectRow | None:
    """The row of a key."""
    statement = _EFFECT_LOCKED if lock else _EFFECT
    body = connection.execute(statement, {"of": plain(key)}).scalar()
    return None if body is None else bodies.load_row(body, key)


def change_effect(
    connection: Connection,
    change: EffectChange,
    lease: Lease,
    now: datetime,
    is_held: rules.IsHeld,
) -> None:
    """Make one change of an effect's row. Raises EffectConflict."""
    old = effect_row(connection, change.row.key, lock=True)
    row = rules.next_row(old, change, lease, now, is_held)
    if old is not None:
        replace_effect(connection, row)
        return
    try:
        connection.execute(insert(EFFECTS).values(key=plain(row.key), **_columns(row)))
    except IntegrityError:  # Postgres: two transactions saw no row; the other was first
        raise EffectConflict(
            f"Effect {row.key!r} was claimed by another run at this very moment.",
            hint=f"See: webagent effects {row.key!r}",
        ) from None


def replace_effect(connection: Connection, row: EffectRow) -> None:
    """Write a row over the one of its key."""
    connection.execute(
        update(EFFECTS).where(EFFECTS.c.key == plain(row.key)).values(**_columns(row))
    )


def _columns(row: EffectRow) -> dict[str, str]:
    return {
        "state": row.state,
        "run": row.run,
        "changed_at": row.changed_at,
        "body": bodies.dump(row),
    }


def sightings_of(connection: Connection, recipe_id: str) -> tuple[Sighting, ...]:
    """All sightings of a recipe by step and target, an accepted one before the other."""
    columns = SIGHTINGS.c
    found = connection.execute(
        select(columns.body).where(columns.recipe_id == plain(recipe_id))
    ).scalars()
    # Sorted here: databases differ in how they order texts.
    return tuple(
        sorted((bodies.load_sighting(body, recipe_id) for body in found), key=rules.sighting_order)
    )


def keep_sightings(connection: Connection, sightings: Sequence[Sighting]) -> None:
    """Write each over the one of its recipe, step, target and ``accepted``."""
    for one in sightings:
        drop_sightings(
            connection, one.recipe_id, one.step, accepted=one.accepted, target=one.target
        )
        connection.execute(
            insert(SIGHTINGS).values(
                recipe_id=plain(one.recipe_id),
                step=plain(one.step),
                target=plain(one.target),
                accepted=int(one.accepted),
                at=one.at,
                body=bodies.dump(one),
            )
        )


def drop_sightings(
    connection: Connection, recipe_id: str, step: str, *, accepted: bool, target: str | None
) -> None:
    """Delete a step's sightings of one kind, of one target or of all."""
    columns = SIGHTINGS.c
    which = delete(SIGHTINGS).where(
        columns.recipe_id == plain(recipe_id),
        columns.step == plain(step),
        columns.accepted == int(accepted),
    )
    if target is not None:
        which = which.where(columns.target == plain(target))
    connection.execute(which)
