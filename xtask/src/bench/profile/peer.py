"""Viewports and selections over the same rows with polars in memory and with
DuckDB on the Parquet files, true overlap of each event with each column."""

import json
import sys
import time
from pathlib import Path

import duckdb
import polars as pl

folder = Path(sys.argv[1])
index = json.load(open(folder / "lanes.json"))
lanes = sorted(index["lanes"], key=lambda lane: -lane["rows"])[:12]
total = max(lane["end"] for lane in index["lanes"])
COLUMNS = 1000


def p(times, share):
    times = sorted(times)
    return times[round((len(times) - 1) * share)] * 1e3


def measured(name, act, times):
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        act()
        taken.append(time.perf_counter() - begin)
    print(f"{name:44} p50 {p(taken, 0.5):9.1f} ms  p99 {p(taken, 0.99):9.1f} ms")


# One frame of all rows of the lanes, with the number of the lane.
parts = []
for number, lane in enumerate(lanes):
    engine = lane["kind"] == "engine"
    table = "Instruction" if engine else "DmaPacket"
    frame = pl.scan_parquet(folder / f"{table}.parquet").slice(lane["first_row"], lane["rows"])
    name = "opcode" if engine else "queue_name"
    frame = frame.select("start_ts", "end_ts", pl.col(name).cast(pl.String).alias("name"))
    parts.append(frame.with_columns(pl.lit(number).alias("lane")))
rows = pl.concat(parts).collect()
print(f"{rows.height} rows of {len(lanes)} lanes in memory")


def polars_view(start, span):
    width = max(span // COLUMNS, 1)
    seen = rows.lazy().filter((pl.col("end_ts") > start) & (pl.col("start_ts") < start + span))
    seen = seen.with_columns(
        s=pl.max_horizontal(pl.col("start_ts") - start, 0),
        e=pl.min_horizontal(pl.col("end_ts") - start, span),
    ).with_columns(a=pl.col("s") // width, b=(pl.col("e") - 1) // width)
    one = seen.filter(pl.col("a") >= pl.col("b")).select("lane", bin="a", busy=pl.col("e") - pl.col("s"))
    more = seen.filter(pl.col("a") < pl.col("b")).with_columns(bin=pl.int_ranges("a", pl.col("b") + 1))
    more = more.explode("bin").select(
        "lane",
        "bin",
        busy=pl.min_horizontal("e", (pl.col("bin") + 1) * width) - pl.max_horizontal("s", pl.col("bin") * width),
    )
    return pl.concat([one, more]).group_by("lane", "bin").agg(pl.col("busy").sum(), pl.len()).collect()


def duck_view(start, span):
    width = max(span // COLUMNS, 1)
    return duckdb.sql(f"""
        with seen as (
          select lane, greatest(start_ts - {start}, 0) s, least(end_ts - {start}, {span}) e
          from wanted where end_ts > {start} and start_ts < {start + span}
        ), bins as (
          select lane, s, e, unnest(range(s // {width}, greatest((e - 1) // {width}, s // {width}) + 1)) bin
          from seen
        )
        select lane, bin, sum(least(e, (bin + 1) * {width}) - greatest(s, bin * {width})) busy, count(*)
        from bins group by all""").fetchall()


unions = []
for number, lane in enumerate(lanes):
    if lane["kind"] == "engine":
        where = f"timeline_track = '{lane['name']}' and pcore_idx = {lane['core']}"
        unions.append(
            f"select {number} lane, start_ts, end_ts, opcode as name from '{folder}/Instruction.parquet' where {where}"
        )
    else:
        where = f"engine_idx = {lane['name'].split('E')[1]} and pcore_idx = {lane['core']}"
        unions.append(
            f"select {number} lane, start_ts, end_ts, queue_name as name from '{folder}/DmaPacket.parquet' where {where}"
        )
duckdb.sql("create view wanted as " + " union all ".join(unions))

for share, word in ((1, "all"), (100, "1 %"), (10_000, "0.01 %")):
    span = max(total // share, 1)
    start = (total - span) // 2
    measured(f"polars in memory, viewport of {word}", lambda: polars_view(start, span), 7)
    measured(f"DuckDB on Parquet, viewport of {word}", lambda: duck_view(start, span), 3)
span = total // 2
half = (pl.col("start_ts") >= span // 2) & (pl.col("start_ts") < span + span // 2)
measured(
    "polars in memory, selection of a half",
    lambda: rows.lazy().filter(half).group_by("lane", "name").agg(pl.len(), (pl.col("end_ts") - pl.col("start_ts")).sum()).collect(),
    7,
)
measured(
    "DuckDB on Parquet, selection of a half",
    lambda: duckdb.sql(
        f"select lane, name, count(*), sum(end_ts - start_ts) from wanted "
        f"where start_ts >= {span // 2} and start_ts < {span + span // 2} group by all"
    ).fetchall(),
    3,
)
for table in ("Instruction", "DmaPacket"):
    out = folder / f"{table}.duckdb.parquet"
    duckdb.sql(f"copy (select * from '{folder}/{table}.parquet') to '{out}' (format parquet, compression zstd)")
    ours, theirs = (folder / f"{table}.parquet").stat().st_size, out.stat().st_size
    print(f"{table}: {ours} bytes, written by DuckDB with zstd {theirs}")
    out.unlink()
