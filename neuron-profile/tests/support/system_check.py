"""Reads traces with Perfetto's own classes and holds them against the rows of
the tables that they were made of.

usage: system_check.py EVENTS.json FLOWS.json SYSTEM.pftrace DEVICE.pftrace PROCESS ROW
"""

import json
import sys
from collections import Counter, defaultdict

from perfetto.protos.perfetto.trace import perfetto_trace_pb2


def read(path):
    trace = perfetto_trace_pb2.Trace()
    trace.ParseFromString(open(path, "rb").read())
    names, tracks, events = {}, {}, []
    for packet in trace.packet:
        for name in packet.interned_data.event_names:
            names[name.iid] = name.name
        if packet.HasField("track_descriptor"):
            tracks[packet.track_descriptor.uuid] = packet.track_descriptor
        if packet.HasField("track_event"):
            events.append((packet.timestamp, packet.track_event))
    # As Perfetto does, which keeps the order of those of one time.
    events.sort(key=lambda event: event[0])
    return names, tracks, events


def fields_of(event):
    return {
        field.name: field.string_value if field.HasField("string_value") else field.int_value
        for field in event.debug_annotations
    }


rows = json.load(open(sys.argv[1]))
names, tracks, events = read(sys.argv[3])
wanted = Counter((row["start_ts"], row["end_ts"], row["name"]) for row in rows)
extra = {row["id"]: json.loads(row["extra_attributes_json"] or "{}") for row in rows}
seen, counts, open_slices = Counter(), 0, defaultdict(list)
for time, event in events:
    if event.type == event.TYPE_SLICE_BEGIN:
        open_slices[event.track_uuid].append((time, names[event.name_iid]))
    elif event.type == event.TYPE_SLICE_END:
        # Slices of a track are within each other, or the end is of another one.
        begin, name = open_slices[event.track_uuid].pop()
        seen[(begin, time, name)] += 1
    elif event.type == event.TYPE_INSTANT:
        seen[(time, time, names[event.name_iid])] += 1
    elif event.type == event.TYPE_COUNTER:
        counts += 1
        continue
    if event.type != event.TYPE_SLICE_END:
        fields = fields_of(event)
        assert fields["timestamp"] == time and fields["timestamp_unit"] == "ns"
        assert all(fields[name] == text for name, text in extra[fields["id"]].items())
        track = tracks[event.track_uuid]
        process = tracks[track.parent_uuid].process.process_name
        known = {name: fields.get(name) for name in ("instance_id", "process_id", "thread_id")}
        known |= {"nc": fields.get("lnc_idx"), "gid": fields.get("worker_gid")}
        known["source"] = fields["trace_event_source"]
        assert process == sys.argv[5].format(**known), (process, known)
        row = sys.argv[6].format(**known).replace("gidNone-", "").replace("ncNone-", "")
        assert track.name.split(" - Row ")[0] == row, (track.name, row)
assert not any(open_slices.values())
assert seen == wanted, (seen - wanted, wanted - seen)
assert counts > 0
print(f"system: {sum(seen.values())} events, {counts} values of counters")

flows = json.load(open(sys.argv[2]))
wanted = Counter((flow["in_id"], flow["out_id"]) for flow in flows)
names, tracks, events = read(sys.argv[4])
leave, arrive = {}, {}
for _, event in events:
    for flow in event.flow_ids:
        assert flow not in leave
        leave[flow] = fields_of(event)["id"]
    for flow in event.terminating_flow_ids:
        assert flow not in arrive
        arrive[flow] = fields_of(event)["id"]
assert leave.keys() == arrive.keys() and wanted
assert Counter((leave[flow], arrive[flow]) for flow in leave) == wanted
print(f"flows: {len(leave)}")
