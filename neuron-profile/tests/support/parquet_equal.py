"""Compares the tables of a stored profile, read by pyarrow and by DuckDB, with
the JSON of `view --output-format json` for the same pair of files.

usage: parquet_equal.py DIR JSON
Prints one line for each table with the fields and values compared; ends with
code 1 at the first table that is not equal.
"""

import json
import os
import sys
from collections import Counter

import duckdb
import pyarrow.parquet as pq

directory, export = sys.argv[1], json.load(open(sys.argv[2]))
cores = {row["sg_name"]: at for at, row in enumerate(export["model_info"])}
queues = {}


def single(value):
    """The shortest digits of a number of single precision."""
    import struct

    return struct.unpack("f", struct.pack("f", value))[0]


def pcore(row):
    return cores[row["subgraph"]]


def optional(name, empty=""):
    return lambda row: None if row.get(name, empty) in (empty, None) else row[name]


def number(name):
    return lambda row: row.get(name, 0)


PLAIN = "crc_in crc_out pc opcode operands bir_id".split()
TABLES = {
    "Instruction": (
        "instruction",
        {
            "id": lambda r: r["id"],
            "start_ts": lambda r: r["timestamp"],
            "duration_ns": lambda r: r["duration"],
            "engine": lambda r: r["subgroup"],
            "timeline_track": lambda r: r["label"],
            "evt_wait_time_ns": lambda r: r["evt_wait_time"],
            "pcore_idx": pcore,
            **{name: (lambda r, n=name: r[n]) for name in PLAIN},
            "compiler_pc": optional("compiler_pc", None),
            "compiler_opcode": optional("compiler_opcode", None),
            "compiler_operands": optional("compiler_operands", None),
            "scalar_activation_fn": optional("activation_fn"),
            "tensor_instruction_type": optional("instruction_type"),
            "hlo_name": optional("hlo_name"),
            "nki_source_location": optional("nki_source_location"),
            **{
                name: number(name)
                for name in (
                    "hbm_read_bytes hbm_write_bytes sbuf_read_bytes sbuf_write_bytes "
                    "psum_read_bytes psum_write_bytes psum_read_sbuf_write_bytes"
                ).split()
            },
            "tensor_elements": lambda r: r.get("elements"),
        },
    ),
    "DmaPacket": (
        "dma",
        {
            "id": lambda r: r["id"],
            "start_ts": lambda r: r["timestamp"],
            "duration_ns": lambda r: r["duration"],
            "pcore_idx": pcore,
            "packet_idx": lambda r: r["packet_idx"],
            "packet_aggregation_id": lambda r: r["packet_aggregation_id"],
            "engine_idx": lambda r: int(r["dma_engine"]),
            "queue_idx": lambda r: int(r["dma_queue"]),
            "read_bytes": lambda r: r["read_size"],
            "write_bytes": lambda r: r["write_size"],
            "transfer_bytes": lambda r: r["transfer_size"],
            "throughput": lambda r: single(r["transfer_rate"]),
            "queue_type": lambda r: r["queue_type"],
            "variable": lambda r: r["variable"],
            "crc": lambda r: r["crc"],
        },
    ),
    "SemaphoreUpdate": (
        "semaphore_update",
        {
            "timestamp": lambda r: r["timestamp"],
            "id": lambda r: r["id"],
            "value": lambda r: r["value"],
            "pcore_idx": pcore,
        },
    ),
    "ActiveTime": (
        "active_time",
        {
            name: (lambda r, n=name: r[n])
            for name in "start_ts end_ts duration_ns engine pcore_idx".split()
        },
    ),
    "DmaUsage": (
        "dma_throughput",
        {
            "timestamp": lambda r: r["timestamp"],
            "current_throughput": lambda r: single(r["transfer_rate"]),
            "total_transfer_bytes": lambda r: r["total_transfer_bytes"],
            "pcore_idx": pcore,
        },
    ),
    "PendingDma": (
        "pending_dma",
        {
            "timestamp": lambda r: r["timestamp"],
            "value": lambda r: r["value"],
            "pcore_idx": pcore,
        },
    ),
    "Throttle": (
        "ham",
        {
            "timestamp": lambda r: r["timestamp"],
            "duration": lambda r: r["duration"],
            "k": lambda r: r["k"],
            "n": lambda r: r["n"],
            "type": lambda r: str(r["type"]),
            "pcore_idx": pcore,
        },
    ),
    "Warning": (
        "warnings",
        {"message": lambda r: r["message"], "category": lambda r: r["category"]},
    ),
}


def usage(kind, fields):
    rows = [r for r in export["instruction_usage"] if r["type"] == kind]
    out = {
        "timestamp": lambda r: r["timestamp"],
        "avg_util_percent": lambda r: single(r["usage_avg"]),
        "pcore_idx": pcore,
    }
    for theirs in fields:
        ours = theirs.replace("_usage", "_util_percent")
        out[ours] = lambda r, n=theirs: single(r[n])
    return rows, out


def both(table):
    """Rows by pyarrow, which must be those of DuckDB."""
    path = os.path.join(directory, table + ".parquet")
    arrow = pq.read_table(path)
    rows = arrow.to_pylist()
    # DuckDB renames nothing and gives the same values in the same order.
    result = duckdb.sql(f"select * from read_parquet('{path}')")
    names = result.columns
    assert names == arrow.column_names, (table, names)
    for ours, theirs in zip(rows, result.fetchall(), strict=True):
        assert tuple(ours.values()) == theirs, (table, ours, theirs)
    return rows


def compare(table, rows, fields):
    ours = both(table)
    columns = list(fields)
    mine = Counter(tuple(row[name] for name in columns) for row in ours)
    theirs = Counter(tuple(fields[name](row) for name in columns) for row in rows)
    if mine != theirs:
        print(table, "differs:", list((mine - theirs).items())[:2], list((theirs - mine).items())[:2])
        for name in columns:
            a = Counter(row[name] for row in ours)
            b = Counter(fields[name](row) for row in rows)
            if a != b:
                print("  column", name, list((a - b).items())[:3], list((b - a).items())[:3])
        sys.exit(1)
    print(f"{table} {len(ours)} rows x {len(columns)} fields equal")


for table, (key, fields) in TABLES.items():
    if export[key]:
        compare(table, export[key], fields)
partitions = [f"partition_{n}_usage" for n in (0, 32, 64, 96)]
compare("SbufUsage", *usage("sb", partitions))
compare("PsumUsage", *usage("psum", [f"bank_{n}_usage" for n in range(8)]))

# Flow has one row for each predecessor.
edges = Counter(
    (edge["id"], row["id"], edge["type"])
    for row in export["instruction"]
    for edge in row.get("predecessors", [])
)
flow = Counter((r["in_id"], r["out_id"], r["dependency_type"]) for r in both("Flow"))
assert edges == flow, list((edges - flow).items())[:3]
print(f"Flow {sum(flow.values())} rows equal")

(summary,) = both("Summary")
for name, value in export["summary"][0].items():
    assert summary[name] == value, (name, summary[name], value)
print(f"Summary {len(export['summary'][0])} metrics equal")

tensors = [
    (r["variable_name"], r["type"], r["format"], r["shape"], int(r["size"]))
    for r in export["neff_node"]
    if r["variable_name"]
]
mine = [tuple(r[n] for n in "variable_name type format shape size".split()) for r in both("TensorInfo")]
assert sorted(mine) == sorted(tensors)
print(f"TensorInfo {len(mine)} rows equal")

memory = Counter((r["nd"], r["nc"], r["usage_type"], r["amount_bytes"]) for r in export["nc_mem_usage"])
mine = Counter(tuple(r.values()) for r in both("HbmUsageSummaryByType"))
assert mine == memory
print(f"HbmUsageSummaryByType {sum(mine.values())} rows equal")

# Row groups hold one lane each, in order of time, with statistics that say so.
for table, lane in (("Instruction", ["pcore_idx", "timeline_track"]), ("DmaPacket", ["pcore_idx", "engine_idx"])):
    file = pq.ParquetFile(os.path.join(directory, table + ".parquet"))
    names = file.schema.names
    seen = []
    for at in range(file.num_row_groups):
        group = file.read_row_group(at, columns=[*lane, "start_ts"]).to_pylist()
        lanes = {tuple(row[name] for name in lane) for row in group}
        assert len(lanes) == 1, lanes
        starts = [row["start_ts"] for row in group]
        assert starts == sorted(starts)
        column = file.metadata.row_group(at).column(names.index("start_ts"))
        assert (column.statistics.min, column.statistics.max) == (starts[0], starts[-1])
        seen.append((lanes.pop(), starts[0]))
    field = file.schema_arrow.field("start_ts")
    assert field.metadata[b"unit"] == b"ns" and field.metadata[b"description"]
    assert file.metadata.metadata[b"profile_id"].startswith(b"n_")
    print(f"{table} {len(seen)} row groups, each one lane in order")
fields = {(r["table_name"], r["field_name"]) for r in both("SchemaFields")}
for name in os.listdir(directory):
    if name.endswith(".parquet"):
        table = name[: -len(".parquet")]
        for column in pq.read_schema(os.path.join(directory, name)).names:
            assert (table, column) in fields, (table, column)
print(f"SchemaFields describes all {len(fields)} columns")
