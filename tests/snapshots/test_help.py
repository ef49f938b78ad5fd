"""The help of each command is a promise: a change of it is seen and meant."""

import subprocess
import sys

import pytest
from syrupy.assertion import SnapshotAssertion

import webagent.cli

COMMANDS = [
    command.callback.__name__
    for command in webagent.cli.app.registered_commands
    if command.callback
]


def helped(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "webagent", *arguments, "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return "\n".join(line.rstrip() for line in done.stdout.splitlines())


def test_the_help_names_every_command(snapshot: SnapshotAssertion):
    assert helped() == snapshot


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_each_command(command: str, snapshot: SnapshotAssertion):
    assert helped(command) == snapshot
