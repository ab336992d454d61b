"""Asks DuckDB what `neuron-profile query` was asked, over the same files.

usage: query_equal.py CASES
CASES is a list of {folders, sql, rows}. The tables of the first folder are
plain names; with several they are p1.NAME, p2.NAME. Prints a line for each
case; ends with code 1 at the first one that differs.
"""

import json
import math
import os
import re
import sys

import duckdb


def connect(folders):
    con = duckdb.connect()
    tables = set()
    for at, folder in enumerate(folders, 1):
        con.execute(f"create schema p{at}")
        for name in os.listdir(folder):
            table, end = os.path.splitext(name)
            if end == ".parquet":
                source = f"read_parquet('{folder}/{name}', file_row_number=true)"
                con.execute(f"create view p{at}.{table} as select * from {source}")
                if at == 1:
                    con.execute(f"create view {table} as select * from {source}")
                tables.add(table.lower())
    return con, tables


def same(ours, theirs, exact):
    if ours is None or theirs is None:
        return ours is None and theirs is None
    if isinstance(ours, (int, float)) and not isinstance(ours, bool):
        # Rounded to two or four digits on two ways.
        slack = 0 if exact else 0.0100001
        return math.isclose(ours, float(theirs), rel_tol=1e-12, abs_tol=slack)
    return ours == theirs


sessions = {}
for case in json.load(open(sys.argv[1])):
    key = tuple(case["folders"])
    if key not in sessions:
        sessions[key] = connect(key)
    con, tables = sessions[key]
    sql = case["sql"].replace("file_row_index()", "file_row_number")
    asked = re.findall(r"(?:FROM|JOIN) (?:p\d\.)?([A-Z]\w+)", sql)
    missing = [name for name in asked if name.lower() not in tables and name.lower() != "big"]
    if missing:
        assert not case["rows"], (sql, missing, case["rows"][:2])
        print("absent", missing, sql[:60])
        continue
    result = con.execute(sql)
    names = [column[0] for column in result.description]
    theirs = result.fetchall()
    ours = case["rows"]
    if len(ours) != len(theirs):
        print("differs:", sql, len(ours), len(theirs), ours[:3], theirs[:3])
        sys.exit(1)
    for row, other in zip(ours, theirs):
        if sorted(row) != sorted(names):
            print("columns differ:", sql, list(row), names)
            sys.exit(1)
        for name, theirs_value in zip(names, other):
            value = row[name]
            rounded = "round(" in sql and isinstance(value, float)
            if not same(value, theirs_value, not rounded):
                print("differs:", sql, name, value, theirs_value, row, other)
                sys.exit(1)
    print("equal", len(ours), sql[:60])
