"""The same events as an XSpace through xprof's streaming trace viewer: one call
converts the file to its own store and answers the whole range, later ones read
that store. Prints one line a figure."""

import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq
from xprof.convert import raw_to_tool_data

folder = Path(sys.argv[1])
index = json.load(open(folder / "lanes.json"))


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, body):
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(body)) + body


# XSpace { planes = 1 }, XPlane { id = 1, name = 2, lines = 3, event_metadata = 4 },
# XLine { id = 1, name = 2, timestamp_ns = 3, events = 4 },
# XEvent { metadata_id = 1, offset_ps = 2, duration_ps = 3 }.
names = {}


def line(number, lane):
    engine = lane["kind"] == "engine"
    table, label = ("Instruction", "opcode") if engine else ("DmaPacket", "queue_name")
    rows = lane["rows"]
    data = tables[table].slice(lane["first_row"], rows)
    starts, ends = data["start_ts"].to_pylist(), data["end_ts"].to_pylist()
    labels = data[label].to_pylist()
    body = [b"\x08" + varint(number), field(2, f"{table} {lane['name']} {number}".encode()), b"\x18\x00"]
    for start, end, name in zip(starts, ends, labels):
        known = names.get(name)
        if known is None:
            known = names[name] = b"\x08" + varint(len(names) + 1)
        event = known + b"\x10" + varint(start * 1000) + b"\x18" + varint((end - start) * 1000)
        body.append(b"\x22" + varint(len(event)) + event)
    return field(3, b"".join(body)), rows


columns = {"Instruction": "opcode", "DmaPacket": "queue_name"}
tables = {name: pq.read_table(folder / f"{name}.parquet", columns=["start_ts", "end_ts", label]) for name, label in columns.items()}
with tempfile.TemporaryDirectory(dir=sys.argv[2]) as session:
    path = os.path.join(session, "host.xplane.pb")
    events = 0
    parts = [b"\x08\x01", field(2, b"/device:TPU:0")]
    for number, lane in enumerate(index["lanes"], 1):
        if lane["kind"] not in ("engine", "dma"):
            continue
        part, rows = line(number, lane)
        parts.append(part)
        events += rows
    for name, known in names.items():
        number = known[1:]
        metadata = b"\x08" + number + field(2, str(name).encode())
        parts.append(field(4, b"\x08" + number + field(2, metadata)))
    del tables
    plane = b"".join(parts)
    with open(path, "wb") as file:
        file.write(b"\x0a" + varint(len(plane)))
        file.write(plane)
    del plane, parts
    total_ms = max(lane["end"] for lane in index["lanes"]) / 1e6

    def ask(start, end):
        options = {"resolution": "8000", "full_dma": True}
        if end is not None:
            options |= {"start_time_ms": str(start), "end_time_ms": str(end)}
        begin, cpu = time.perf_counter(), time.process_time()
        data, _ = raw_to_tool_data.xspace_to_tool_data([path], "trace_viewer@", {"trace_viewer_options": options})
        return time.perf_counter() - begin, time.process_time() - cpu, len(data or b"")

    took, cpu, size = ask(0, None)
    if size < 1000:
        sys.exit("xprof answered nothing")
    store = sum(os.path.getsize(os.path.join(session, name)) for name in os.listdir(session) if not name.endswith(".pb"))
    print(f"xprof: {events} events of {os.path.getsize(path)} bytes, first answer {took:.2f} s ({cpu:.2f} s of CPU), {size} bytes")
    print(f"xprof: ingest {events / took:.0f} events/s, {events / cpu:.0f} events/s of CPU, store {store / events:.2f} bytes/event")
    print(f"xprof: peak RSS {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")
    for share, word in ((1, "all"), (100, "1 %"), (10_000, "0.01 %")):
        middle, half = total_ms / 2, total_ms / share / 2
        times = sorted(ask(middle - half, middle + half)[0] for _ in range(5))
        print(f"{'xprof, viewport of ' + word:44} p50 {times[2] * 1e3:9.1f} ms  p99 {times[4] * 1e3:9.1f} ms")
