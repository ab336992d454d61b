// Two profiles as one table of differences, pure.

import type { Metric, TreeNode } from "../api/trees";
import { GROUPS, metricInfo } from "../format/metrics";
import { change, count, quantity, time } from "../format/number";
import { short, words } from "../format/words";
import type { Col } from "../parts/rows";
import { type Branch, branches } from "../parts/tree";

export interface DiffLine {
  id: string;
  name: string;
  unit: string;
  first: number | null;
  second: number | null;
  /** Second less first. */
  delta: number | null;
  ratio: number | null;
  counts?: [number, number];
  below: DiffLine[];
}

function line(id: string, name: string, unit: string, first: number | null, second: number | null, below: DiffLine[] = []): DiffLine {
  const both = first !== null && second !== null;
  return { id, name, unit, first, second, delta: both ? second - first : null, ratio: both && first !== 0 ? second / first : null, below };
}

/** Metrics by group, those that either has. */
export function diffMetrics(a: readonly Metric[], b: readonly Metric[]): DiffLine[] {
  const key = (one: Metric) => `${one.core ?? ""}/${one.name}`;
  const [first, second] = [new Map(a.map((one) => [key(one), one])), new Map(b.map((one) => [key(one), one]))];
  const lines = [...new Set([...first.keys(), ...second.keys()])].map((id) => {
    const one = first.get(id) ?? second.get(id);
    const name = one?.name ?? id;
    const label = words(name) + (one?.core === null || one?.core === undefined ? "" : ` (nc${one.core})`);
    return { group: metricInfo(name).group, line: line(id, label, one?.unit || metricInfo(name).unit, first.get(id)?.value ?? null, second.get(id)?.value ?? null) };
  });
  return GROUPS.flatMap((group) => {
    const below = lines.filter((one) => one.group === group).map((one) => one.line);
    return below.length > 0 ? [line(`group/${group}`, group, "", null, null, below)] : [];
  });
}

/** Nodes of two trees under each other by name: busy time and events. */
export function diffTrees(a: readonly TreeNode[], b: readonly TreeNode[]): DiffLine[] {
  const pair = (first: readonly Branch[], second: readonly Branch[], path: string): DiffLine[] => {
    const seconds = new Map(second.map((one) => [one.name, one]));
    const names = [...new Set([...first.map((one) => one.name), ...seconds.keys()])];
    const firsts = new Map(first.map((one) => [one.name, one]));
    return names.map((name) => {
      const [one, two] = [firsts.get(name), seconds.get(name)];
      const id = `${path}/${name}`;
      const made = line(id, name === "" ? "(none)" : name, "ns", one?.busy_ns ?? 0, two?.busy_ns ?? 0, pair(one?.below ?? [], two?.below ?? [], id));
      made.counts = [one?.count ?? 0, two?.count ?? 0];
      return made;
    });
  };
  return pair(branches(a), branches(b), "");
}

export function diffColumns(names: readonly [string, string], metrics: boolean): Col<DiffLine>[] {
  const show = (value: number, one: DiffLine) => quantity(value, one.unit);
  const what = metrics ? "" : ", busy";
  return [
    { id: "name", title: "Name", value: (one) => one.name, width: 400 },
    { id: "first", title: short(names[0], 30) + what, tip: names[0], value: (one) => one.first, text: show, right: true, width: 150, sum: !metrics },
    { id: "second", title: short(names[1], 30) + what, tip: names[1], value: (one) => one.second, text: show, right: true, width: 150, sum: !metrics },
    { id: "delta", title: "Difference", value: (one) => one.delta, text: (v, one) => (v > 0 ? "+" : "") + show(v, one), right: true, width: 120, sum: !metrics },
    { id: "change", title: "Change", value: (one) => one.ratio, text: (_v, one) => (one.first === null || one.second === null ? "–" : one.first === 0 && one.second > 0 ? "new" : change(one.first, one.second)), right: true, width: 90 },
    { id: "size", title: "Size", tip: "Size of the difference", value: (one) => (one.delta === null ? null : Math.abs(one.delta)), text: (v) => (metrics ? count(v) : time(v)), right: true, hidden: true },
    ...(metrics
      ? []
      : [
          { id: "count_first", title: "Events, first", value: (one: DiffLine) => one.counts?.[0] ?? null, text: count, right: true, width: 96 },
          { id: "count_second", title: "Events, second", value: (one: DiffLine) => one.counts?.[1] ?? null, text: count, right: true, width: 104 },
        ]),
  ];
}
