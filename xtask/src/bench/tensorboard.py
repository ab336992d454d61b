"""Times TensorBoard plug-ins until the first operator table: ours, or xprof.

  tensorboard.py make EVENTS LOGDIR          an XSpace with so many events, for xprof
  tensorboard.py neuronx TENSORBOARD LOGDIR  starts TensorBoard, asks, prints an object
  tensorboard.py xprof TENSORBOARD LOGDIR

Times are from the start of TensorBoard, and from the first request for data.
"""

import gzip
import json
import os
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request

RUN = "plugins/profile/2026_01_01_00_00_00"
OPERATORS = 1000
PATIENCE = 1800


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def make(events, logdir):
    """An XSpace (tsl's xplane.proto): a TPU plane with the lines that op tables are made of."""
    # Stats of a kind: name of the metadata, and its number.
    stats = {"program_id": 1, "symbol_id": 2, "hlo_category": 3, "flops": 4, "bytes_accessed": 5, "tf_op": 6}

    def stat(name, value):
        kind = message(5, value) if isinstance(value, str) else number(3, value)
        return number(1, stats[name]) + kind

    plane = message(2, "/device:TPU:0")
    for name, key in stats.items():
        entry = number(1, key) + message(2, number(1, key) + message(2, name))
        plane += message(5, entry)
    for key in range(1, OPERATORS + 1):
        word = ("dot", "add", "copy", "fusion", "reduce")[key % 5]
        about = number(1, key) + message(2, "%{0}.{1} = f32[8] {0}()".format(word, key))
        about += message(4, "{}.{}".format(word, key))
        for name, value in (
            ("program_id", 1),
            ("symbol_id", key),
            ("hlo_category", word),
            ("flops", 1000),
            ("bytes_accessed", 4096),
            ("tf_op", "model/layer{}/{}:".format(key % 40, word)),
        ):
            about += message(5, stat(name, value))
        plane += message(4, number(1, key) + message(2, about))
    module = OPERATORS + 1
    plane += message(4, number(1, module) + message(2, number(1, module) + message(2, "jit_step(1)")))
    length = 1_000_000  # ps

    def line(key, name, events):
        return message(3, number(1, key) + message(2, name) + message(11, name) + events)

    plane += line(1, "XLA Modules", message(4, number(1, module) + number(2, 0) + number(3, events * length)))
    body = bytearray()
    for at in range(events):
        one = number(1, at % OPERATORS + 1) + number(2, at * length) + number(3, length * 9 // 10)
        body += message(4, one)
    plane += line(2, "XLA Ops", bytes(body))
    folder = os.path.join(logdir, RUN)
    os.makedirs(folder)
    with open(os.path.join(folder, "host.xplane.pb"), "wb") as out:
        out.write(message(1, plane))


def free():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Board:
    def __init__(self, program, logdir, data):
        self.start = time.monotonic()
        self.port = free()
        command = [program, "--logdir", logdir, "--host", "127.0.0.1", "--port", str(self.port)]
        quiet = subprocess.DEVNULL
        self.child = subprocess.Popen(command, stdout=quiet, stderr=quiet)
        self.data = data
        while True:
            try:
                self.get("data/plugins_listing")
                break
            except OSError:
                if self.child.poll() is not None or time.monotonic() - self.start > 120:
                    raise SystemExit("TensorBoard does not answer")
                time.sleep(0.02)
        self.up = time.monotonic()

    def get(self, path):
        url = "http://127.0.0.1:{}/{}".format(self.port, path)
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            body = answer.read()
            packed = answer.headers.get("Content-Encoding") == "gzip"
            return gzip.decompress(body) if packed else body

    def json(self, path):
        return json.loads(self.get(self.data + path))

    def end(self, rows):
        now = time.monotonic()
        self.child.terminate()
        self.child.wait()
        print(json.dumps({"from_start_s": now - self.start, "from_request_s": now - self.up, "rows": rows}))


def neuronx(program, logdir):
    board = Board(program, logdir, "data/plugin/neuronx/app/api/v1/")
    run = board.json("runs")["runs"][0]["run"]
    while True:
        made = board.json("runs/{}?tool=operator-hlo".format(run))
        if made["state"] == "ready":
            break
        if made["state"] != "working":
            raise SystemExit(made["error"])
        time.sleep(0.02)
    board.end(len(board.json("runs/{}/operators?of=hlo".format(run))["ops"]))


def xprof(program, logdir):
    board = Board(program, logdir, "data/plugin/profile/")
    run = board.json("runs")[0]
    about = urllib.parse.urlencode({"run": run})
    board.get(board.data + "run_tools?" + about)
    hosts = json.loads(board.get(board.data + "hosts?" + about + "&tag=hlo_stats"))
    host = hosts[0]["hostname"] if hosts and isinstance(hosts[0], dict) else (hosts or [""])[0]
    ask = urllib.parse.urlencode({"run": run, "tag": "hlo_stats", "host": host})
    table = board.json("data?" + ask)
    table = table[0] if isinstance(table, list) else table
    board.end(len(table.get("rows", [])))


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "make":
        make(int(rest[0]), rest[1])
    else:
        {"neuronx": neuronx, "xprof": xprof}[what](*rest)
