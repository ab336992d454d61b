// Metrics of the summary: which group each stands in; units and sentences are
// those of the server (store/src/schema/metrics.txt).

export interface MetricInfo {
  group: string;
  unit: string;
  tip: string;
}

/** Groups in the order of the summary. */
export const GROUPS = [
  "Overall",
  "Tensor engine",
  "Vector engine",
  "Scalar engine",
  "GpSimd engine",
  "Sync engine",
  "Data movement",
  "Collectives",
  "Throttling",
  "System",
] as const;

const ENGINES = ["tensor", "vector", "scalar", "gpsimd", "sync"] as const;

/** The group of a metric by its name. */
export function groupOf(name: string): string {
  const engine = ENGINES.find((one) => name.startsWith(`${one}_engine_`));
  if (engine) return `${engine === "gpsimd" ? "GpSimd" : engine.charAt(0).toUpperCase() + engine.slice(1)} engine`;
  if (/^(matmul|mfu|hfu)_/.test(name)) return "Tensor engine";
  if (name.startsWith("activate_")) return "Scalar engine";
  if (name.startsWith("cc_")) return "Collectives";
  if (name.startsWith("throttle")) return "Throttling";
  if (/_version$|^(instance_type|nc_idx|nd_idx|node_id|display_name|neff_name)$/.test(name)) return "System";
  if (/^(dma|static|dynamic|software|hardware_dynamic|hbm|sbuf|spill|psum|input|output|inputs|weight|mbu)_/.test(name)) return "Data movement";
  return "Overall";
}

/** The unit of a metric by its name, as the schema writes units. */
export function unitOf(name: string): string {
  if (/_ns$/.test(name)) return "ns";
  if (/percent|^avg_util|repeat_factor_percent/.test(name)) return "%";
  if (/_time$|^total_time$/.test(name)) return "s";
  if (/flops$/.test(name)) return "flop";
  if (/intensity$|bandwidth_ratio$/.test(name)) return "flop/B";
  if (/_bytes$|_size$/.test(name)) return "B";
  if (/cycle/.test(name)) return "cyc";
  return "";
}

/** Metrics that regions alone have. */
const OF_REGIONS: readonly (readonly [string, string, string])[] = [
  ["dma_packet_count", "", "Packets that begin in the region."],
  ["dma_packet_bytes", "B", "Bytes of the packets that begin in the region."],
  ["average_utilization_limit_percent", "%", "The part of the cycles that the activity manager let be used, over the time of the region; all of them without a limit."],
];

/** What the server says of metrics: columns of Summary, by name. */
const told = new Map(OF_REGIONS.map(([name, unit, description]) => [name, { unit, description }]));

/** Takes what a profile's tables tell of its metrics. */
export function learnMetrics(columns: readonly { name: string; unit: string | null; description: string }[]) {
  for (const { name, unit, description } of columns) told.set(name, { unit: unit ?? "", description });
}

export function metricInfo(name: string): MetricInfo {
  const known = told.get(name);
  return { group: groupOf(name), unit: known?.unit || unitOf(name), tip: known?.description ?? "" };
}
