"""Whether a log directory has something for the tab.

TensorBoard asks at every reload, so the answer is at hand: a thread looks, now
and then. It looks at names alone.
"""

import os
import threading
import time

# As neuron-profile knows them.
FILES = frozenset(
    name + end
    for name in (
        "neuron_framework_op.json",
        "neuron_hlo_op.json",
        "neuron_op_timeline.json",
        "neuron_trace.json",
        "ntrace.pb",
    )
    for end in ("", ".gz")
)
DEPTH = 12
ENTRIES = 200_000
SECONDS = 5.0


def has_data(logdir, entries=ENTRIES, depth=DEPTH):
    """Whether anything below ``logdir`` looks like Neuron data. Follows no link."""
    waiting = [(logdir, depth)]
    while waiting and entries > 0:
        directory, left = waiting.pop()
        try:
            with os.scandir(directory) as found:
                for entry in found:
                    entries -= 1
                    if entries <= 0:
                        return False
                    name = entry.name
                    if name.startswith("."):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        if name.startswith("n_") and len(name) == 42:
                            return True
                        if left > 0:
                            waiting.append((entry.path, left - 1))
                    elif name in FILES or name.endswith(".ntff"):
                        if entry.is_file(follow_symlinks=False):
                            return True
        except OSError:
            continue
    return False


class Activity:
    """Looks in the background while somebody asks."""

    def __init__(self, logdir):
        self._logdir = logdir
        self._lock = threading.Lock()
        self._active = False
        self._looked = None
        self._thread = None

    def is_active(self):
        """What the last look said; the first one is waited for, for a moment."""
        with self._lock:
            first = self._looked is None
            old = first or time.monotonic() - self._looked > SECONDS
            if old and self._thread is None:
                self._thread = threading.Thread(target=self._look, name="neuron-look", daemon=True)
                self._thread.start()
            thread = self._thread
        if first and thread is not None:
            thread.join(timeout=0.5)
        return self._active

    def _look(self):
        try:
            active = has_data(self._logdir)
        finally:
            with self._lock:
                self._looked = time.monotonic()
                self._thread = None
        # Data that was there once may be removed: the tab then says so itself.
        self._active = active
