"""Who is still there: by process id and start time, on this host and in this boot."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from webagent.stores import processes
from webagent.stores.processes import end, is_alive, known_gone, start_time, this_runner


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as started:
        yield started
        started.kill()


def test_this_process_is_alive() -> None:
    me = this_runner()
    assert me.pid == os.getpid()
    assert is_alive(me) is True
    assert not known_gone(me)


def test_another_start_time_is_another_process() -> None:
    me = this_runner()
    assert known_gone(me.model_copy(update={"started": me.started - 60}))


def test_another_boot_is_gone_and_another_host_is_not_known() -> None:
    me = this_runner()
    assert known_gone(me.model_copy(update={"boot": "earlier"}))
    elsewhere = me.model_copy(update={"host": "elsewhere", "pid": 1, "started": 0.0})
    assert is_alive(elsewhere) is None
    assert not known_gone(elsewhere)


def test_a_killed_child_that_nobody_waited_for_is_gone(child: subprocess.Popen[bytes]) -> None:
    started = start_time(child.pid)
    assert started is not None
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE
    assert start_time(child.pid) is None
    assert known_gone(this_runner().model_copy(update={"pid": child.pid, "started": started}))


def test_only_the_recorded_process_is_ended(child: subprocess.Popen[bytes]) -> None:
    started = start_time(child.pid)
    assert started is not None
    assert end(child.pid, started - 60)  # that one is gone: nothing to do
    assert child.poll() is None
    assert end(child.pid, started)
    assert not psutil.pid_exists(child.pid)
    assert end(child.pid, started)


def test_this_very_process_is_never_ended() -> None:
    me = this_runner()
    assert not end(me.pid, me.started)


def test_a_name_in_a_container_tells_its_process_namespace() -> None:
    assert processes.host_name().split("/")[0]
