"""The child that answers: ``neuron-profile tensorboard`` on a Unix socket.

It is started by the first request that needs it, and ends when its stdin is
closed, so it never outlives TensorBoard.
"""

import http.client
import os
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading

PROGRAM = "neuron-profile"
VARIABLE = "NEURON_PROFILE_BINARY"
START_SECONDS = 30.0
ANSWER_SECONDS = 120.0
LINES = 20


class Missing(Exception):
    """The child cannot be had; the text says why and what to do."""


def find():
    """Where the program is: the variable, the environment's scripts, the path."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    places = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    for place in places:
        path = os.path.join(place or "", PROGRAM)
        if os.access(path, os.X_OK):
            return path
    found = shutil.which(PROGRAM)
    if found:
        return found
    raise Missing(
        "the program neuron-profile is not in this environment: install the wheel of "
        "tensorboard-plugin-neuronx for this platform, or name it in " + VARIABLE
    )


class _Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=ANSWER_SECONDS)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Server:
    """Starts the child when it is needed, and again when it has ended."""

    def __init__(self, logdir):
        self._logdir = logdir
        self._lock = threading.Lock()
        self._child = None
        self._directory = None
        self._said = []

    def connection(self):
        """A new connection to a child that runs."""
        with self._lock:
            if self._child is None or self._child.poll() is not None:
                self._start()
            return _Connection(self._socket())

    def ended(self):
        """Whether the child that was started has ended."""
        with self._lock:
            return self._child is not None and self._child.poll() is not None

    def reason(self):
        """What the child said last."""
        return " ".join(self._said[-3:])

    def _socket(self):
        return os.path.join(self._directory.name, "socket")

    def _start(self):
        program = find()
        self._said = []
        # For its owner alone, with a short name: a path of a socket has 107 bytes.
        self._directory = tempfile.TemporaryDirectory(prefix="neuron-", dir=_short())
        command = [program, "tensorboard", "--logdir", self._logdir]
        command += ["--socket", self._socket(), "--until-stdin-closes"]
        try:
            child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                # Ctrl-C is TensorBoard's; the end of stdin is the child's.
                start_new_session=True,
            )
        except OSError as error:
            raise Missing("{} cannot be started: {}".format(program, error)) from error
        threading.Thread(target=self._listen, args=(child,), daemon=True).start()
        ready = []
        reader = threading.Thread(target=_first, args=(child, ready), daemon=True)
        reader.start()
        reader.join(START_SECONDS)
        if not ready or not ready[0].startswith("Listening"):
            child.kill()
            child.wait()
            reason = self.reason() or "it said nothing"
            raise Missing("{} does not serve: {}".format(program, reason))
        self._child = child

    def _listen(self, child):
        """Keeps what the child says, so that its pipe never fills."""
        for line in child.stderr:
            self._said.append(line.strip())
            del self._said[:-LINES]


def _first(child, ready):
    ready.append(child.stdout.readline())


def _short():
    """A directory whose name leaves room for that of a socket."""
    usual = tempfile.gettempdir()
    return usual if len(os.fsencode(usual)) < 60 else "/tmp"
