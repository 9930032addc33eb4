"""Kill a process at every call with which it changes a file."""

import io
import os
import shutil
import signal
import sys
import warnings

HIDDEN = ".evenhand.part"
_AUDITED = {
    "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.link", "os.symlink", "os.truncate",
    "os.chown", "os.utime",
}  # fmt: skip
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_SECONDS = 60


class Changes:
    """Counts the changes of files in this process, and kills it before the one with number `last`."""

    def __init__(self, last):
        self.count = 0
        self._last = last

    def seen(self):
        if self.count == self._last:
            os.kill(os.getpid(), signal.SIGKILL)
        self.count += 1

    def watch(self):
        """Count from now on, until the process ends: a hook like this one cannot be taken away."""
        changes = self

        class Watched(io.FileIO):
            def write(self, data):
                half = memoryview(data).cast("B")[: len(data) // 2]
                if changes.count == changes._last and half:
                    super().write(half)  # what is cut off in the middle of a write
                changes.seen()
                return super().write(data)

        def fdopen(descriptor, *_, **__):
            changes.seen()
            return io.BufferedRandom(Watched(descriptor, "r+b"))

        def hook(event, arguments):
            opened = event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITING
            if event in _AUDITED or opened:
                changes.seen()

        for name in ("fsync", "fchmod"):
            real = getattr(os, name)
            setattr(os, name, lambda *given, real=real: (changes.seen(), real(*given))[1])
        os.fdopen = fdopen
        sys.addaudithook(hook)


def in_child(work, last=-1):
    """Run `work` in a process of its own, killed before change number `last`; return how it went.

    That is the number of changes if it came to its end, and None if it was killed.
    """
    from posix import _exit  # with coverage, os._exit would write a file, which is a change like any other

    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of Arrow; they start anew in the child
        child = os.fork()
    if child == 0:
        code = 70
        try:
            signal.alarm(_SECONDS)
            changes = Changes(last)
            changes.watch()
            work()
            os.write(writing, b"%d" % changes.count)
            code = 0
        finally:
            _exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return None
    if status:
        raise AssertionError(f"the child ended with the status {status}")
    return int(told)


def files(folder):
    """Return the text of every file of a folder that is not hidden, by its name."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.endswith(HIDDEN)
    }


def hidden(folder):
    return [path for path in folder.rglob("*") if path.name.endswith(HIDDEN)]


def faults(folder, old, new, *, first):
    """Return what is wrong with a folder in which a writer was killed."""
    found = files(folder)
    wrong = []
    if not (found.items() <= old.items() or found.items() <= new.items()):
        names = {name: "old" if text == old.get(name) else "new" if text == new.get(name) else "neither"
                 for name, text in sorted(found.items())}  # fmt: skip
        wrong.append(f"old and new stand side by side: {names}")
    if first in old and first not in found:
        wrong.append(f"{first} is lost")
    readable = [path.name for path in hidden(folder) if path.stat().st_mode & 0o077 and path.stat().st_size]
    if readable:
        wrong.append(f"others may read {readable}")
    return wrong


def kill_everywhere(folder, write_old, write_new, *, first):
    """Kill `write_new` before each of its changes, over what `write_old` wrote; return all that is wrong.

    Each writer takes the folder. After every kill the writer is run again, and must leave the whole new set,
    no file that only the old set has, and no hidden file.
    """
    kept = folder / "kept"
    for name, writer in {"old": write_old, "new": write_new}.items():
        (kept / name).mkdir(parents=True)
        if writer is not None:
            writer(kept / name)
    old, new = files(kept / "old"), files(kept / "new")
    whole = shutil.copytree(kept / "old", folder / "whole")
    number = in_child(lambda: write_new(whole))
    wrong = {} if files(whole) == new and not hidden(whole) else {-1: ["the new set is not complete"]}
    for last in range(number):
        place = shutil.copytree(kept / "old", folder / f"{last:03d}")
        if in_child(lambda place=place: write_new(place), last) is not None:
            wrong[last] = ["it was not killed"]
        elif found := faults(place, old, new, first=first):
            wrong[last] = found
        write_new(place)
        if files(place) != new or hidden(place):
            wrong.setdefault(last, []).append("the next run does not put it in order")
        shutil.rmtree(place)
    return number, wrong
