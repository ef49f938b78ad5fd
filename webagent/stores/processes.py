"""Which process is who on this host: whether a run's former holder is gone, and ending it for good.

A process is known by its id *and* its start time, since ids are used again. What cannot be known (a
holder on another host, or in another process namespace) counts as "may be alive".
"""

from __future__ import annotations

import socket
from functools import cache
from pathlib import Path

import psutil

from webagent.ports import Runner

# psutil derives start times from the boot time in whole seconds, which two processes may read a
# second apart. Within this span no process id comes round again.
START_TOLERANCE = 1.5
END_SECONDS = 5.0

_INITIAL_PID_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO of Linux


@cache
def host_name() -> str:
    """This host's name; with the process namespace's number inside a container.

    Two containers may share name and kernel; a process id of one means nothing in the other.
    """
    name = socket.gethostname()
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:  # no Linux, or /proc is hidden
        return name
    return name if space == _INITIAL_PID_NAMESPACE else f"{name}/{space}"


@cache
def boot_id() -> str:
    """What is different after each start of this host's kernel."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return str(int(psutil.boot_time()))


def start_time(pid: int) -> float | None:
    """When a process started (seconds since 1970); None when there is none, or only a zombie."""
    try:
        process = psutil.Process(pid)
        if process.status() in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}:
            return None
        return process.create_time()
    except psutil.NoSuchProcess:
        return None
    except psutil.AccessDenied:  # it is there, and not ours to look at: never equal to a start time
        return float("inf")


def this_runner() -> Runner:
    """This very process as the holder of runs."""
    process = psutil.Process()
    return Runner(host=host_name(), boot=boot_id(), pid=process.pid, started=process.create_time())


def is_same(pid: int, started: float) -> bool:
    """Whether this process is still there (not: another one with its id)."""
    found = start_time(pid)
    return found is not None and abs(found - started) <= START_TOLERANCE


def is_alive(runner: Runner) -> bool | None:
    """Whether a runner's process is still there; None when that cannot be known from here."""
    if runner.host != host_name():
        return None
    if runner.boot != boot_id():
        return False
    return is_same(runner.pid, runner.started)


def known_gone(runner: Runner) -> bool:
    """Whether it is certain that a runner's process is no more."""
    return is_alive(runner) is False


def end(pid: int, started: float) -> bool:
    """SIGKILL a process of this host if id and start time both match; True when it is gone.

    The caller has made sure that the pair was recorded on this host. Never ends this very process.
    """
    if not is_same(pid, started):
        return True
    try:
        process = psutil.Process(pid)
        if process == psutil.Process() or abs(process.create_time() - started) > START_TOLERANCE:
            return False
        process.kill()  # psutil checks once more that the id was not used again
        process.wait(END_SECONDS)
    except psutil.NoSuchProcess:
        return True
    except (psutil.TimeoutExpired, psutil.AccessDenied):
        pass
    return not is_same(pid, started)
