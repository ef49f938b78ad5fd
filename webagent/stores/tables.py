"""The tables of the database, and the number of their shape.

Bodies are JSON text (`stores.bodies`); the columns beside them are what is searched and compared.
A change here that an older program could not live with raises SCHEMA_VERSION.
"""

from __future__ import annotations

from sqlalchemy import Column, Double, Index, Integer, MetaData, String, Table, Text

SCHEMA_VERSION = 1

METADATA = MetaData()

# One row: which program's shape this database has.
SCHEMA = Table("webagent_schema", METADATA, Column("version", Integer, nullable=False))

RUNS = Table(
    "runs",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=True),  # the order of creation
    Column("run", String, nullable=False, unique=True),
    Column("recipe_id", String, nullable=False),
    Column("errand", Text, nullable=False),
    Column("recipe_file", Text, nullable=False),
    Column("status", String, nullable=False),
    Column("started_at", String, nullable=False),
    Column("updated_at", String, nullable=False),
    Column("events", Integer, nullable=False),  # the number of the last event
    # The lease: who may append, until when (seconds since 1970), and whether they should park.
    Column("epoch", Integer, nullable=False),
    Column("holder", Text),
    Column("lease_until", Double, nullable=False),
    Column("stop_requested", Integer, nullable=False),
    Column("session", Text),  # the storage state's file, relative to the run's folder
    Index("runs_by_recipe", "recipe_id", "number"),
)

EVENTS = Table(
    "events",
    METADATA,
    Column("run", String, primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("epoch", Integer, nullable=False),
    Column("at", String, nullable=False),
    Column("type", String, nullable=False),
    Column("step", Text, nullable=False),
    Column("body", Text, nullable=False),
)

EFFECTS = Table(
    "effects",
    METADATA,
    Column("key", Text, primary_key=True),
    Column("state", String, nullable=False),
    Column("run", String, nullable=False),
    Column("changed_at", String, nullable=False),
    Column("body", Text, nullable=False),
)

# The newest look of a target, and beside it the one that healed and that nobody accepted yet.
SIGHTINGS = Table(
    "sightings",
    METADATA,
    Column("recipe_id", String, primary_key=True),
    Column("step", Text, primary_key=True),
    Column("target", Text, primary_key=True),
    Column("accepted", Integer, primary_key=True, autoincrement=False),  # 0 or 1
    Column("at", String, nullable=False),
    Column("body", Text, nullable=False),
)
