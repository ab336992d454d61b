// Metrics of a region as a tree: group, core, metric.

import type { Metric } from "../api/trees";
import { GROUPS, metricInfo } from "../format/metrics";
import { type TimeUnit, quantity } from "../format/number";
import { words } from "../format/words";

export interface MetricLine {
  id: string;
  name: string;
  value: string;
  raw: number | null;
  unit: string;
  tip: string;
  below: MetricLine[];
}

const node = (id: string, name: string, below: MetricLine[]): MetricLine => ({ id, name, value: "", raw: null, unit: "", tip: "", below });

export function metricTree(metrics: readonly Metric[], timeUnit: TimeUnit): MetricLine[] {
  const groups = new Map<string, Map<number | null, MetricLine[]>>();
  for (const one of metrics) {
    const info = metricInfo(one.name);
    const unit = one.unit || info.unit;
    const cores = groups.get(info.group) ?? new Map<number | null, MetricLine[]>();
    groups.set(info.group, cores);
    const lines = cores.get(one.core) ?? [];
    cores.set(one.core, lines);
    lines.push({
      id: `${info.group}/${one.core}/${one.name}`,
      name: words(one.name),
      value: quantity(one.value, unit, timeUnit),
      raw: one.value,
      unit,
      tip: info.tip,
      below: [],
    });
  }
  return GROUPS.flatMap((group) => {
    const cores = groups.get(group);
    if (!cores) return [];
    const all = cores.get(null) ?? [];
    const each = [...cores].flatMap(([core, lines]) => (core === null ? [] : [node(`${group}/${core}`, `NeuronCore ${core}`, lines)]));
    return [node(group, group, each.length === 1 && all.length === 0 ? (each[0]?.below ?? []) : [...all, ...each])];
  });
}
