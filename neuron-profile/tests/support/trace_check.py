"""Reads exports with other programs' own classes and holds them against the
tables of the JSON export.

usage: trace_check.py JSON PFTRACE CHROME FOLDED CSVDIR
"""

import csv
import json
import os
import sys
from collections import Counter, defaultdict

from perfetto.protos.perfetto.trace import perfetto_trace_pb2

tables = json.load(open(sys.argv[1]))
instructions, packets = tables["Instruction"], tables["DmaPacket"]


def slices_of(rows, name):
    return Counter((row["start_ts"], row["end_ts"], row.get(name, "")) for row in rows)


wanted = slices_of(instructions, "opcode") + slices_of(packets, "queue_name")

# Perfetto's own message classes.
trace = perfetto_trace_pb2.Trace()
trace.ParseFromString(open(sys.argv[2], "rb").read())
names, tracks, open_slices, seen = {}, {}, defaultdict(list), Counter()
last_end = defaultdict(int)
instants, counts = 0, 0
for packet in trace.packet:
    assert packet.trusted_packet_sequence_id == 1
    for name in packet.interned_data.event_names:
        names[name.iid] = name.name
    if packet.HasField("track_descriptor"):
        about = packet.track_descriptor
        assert about.uuid not in tracks
        assert about.HasField("process") or about.parent_uuid in tracks
        tracks[about.uuid] = about
    if not packet.HasField("track_event"):
        continue
    event = packet.track_event
    about = tracks[event.track_uuid]
    if event.type == event.TYPE_SLICE_BEGIN:
        # Slices of a track do not overlap.
        assert packet.timestamp >= last_end[event.track_uuid], about.name
        assert not open_slices[event.track_uuid]
        fields = {field.name for field in event.debug_annotations}
        assert "id" in fields
        open_slices[event.track_uuid].append((packet.timestamp, names[event.name_iid]))
    elif event.type == event.TYPE_SLICE_END:
        begin, name = open_slices[event.track_uuid].pop()
        seen[(begin, packet.timestamp, name)] += 1
        last_end[event.track_uuid] = packet.timestamp
    elif event.type == event.TYPE_INSTANT:
        instants += 1
    elif event.type == event.TYPE_COUNTER:
        assert about.HasField("counter")
        counts += 1
assert not any(open_slices.values())
assert seen == wanted, (len(seen), len(wanted))
assert instants == len(tables["SemaphoreUpdate"])
assert counts >= len(tables["DmaUsage"]) + len(tables["PendingDma"])
print(f"perfetto: {sum(seen.values())} slices on {len(tracks)} tracks")

chrome = json.load(open(sys.argv[3]))["traceEvents"]
threads = {(e["pid"], e["tid"]) for e in chrome if e["name"] == "thread_name"}
seen = Counter()
for event in chrome:
    if event["ph"] == "X":
        assert (event["pid"], event["tid"]) in threads
        start = round(event["ts"] * 1000)
        seen[(start, start + round(event["dur"] * 1000), event["name"])] += 1
assert seen == wanted
print(f"chrome: {sum(seen.values())} slices")

total = 0
for line in open(sys.argv[4]):
    stack, ns = line.rsplit(" ", 1)
    assert stack.count(";") >= 3
    total += int(ns)
assert total == sum(row["duration_ns"] for row in instructions)
print(f"folded: {total} ns")

for table, rows in tables.items():
    with open(os.path.join(sys.argv[5], table + ".csv"), newline="") as file:
        read = list(csv.DictReader(file))
    assert len(read) == len(rows), table
    for ours, theirs in zip(read, rows, strict=True):
        for name, text in ours.items():
            value = theirs.get(name)
            if value is None:
                assert text == "", (table, name, text)
            elif isinstance(value, str):
                assert text == value, (table, name)
            elif isinstance(value, bool):
                assert text == str(value).lower()
            else:
                assert float(text) == value, (table, name, text, value)
print(f"csv: {len(tables)} tables")
