// Metrics of the summary: which group each stands in, its unit, and what it
// means in a sentence (profiler.md §2.6).

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

const TIPS: Record<string, string> = {
  total_time: "From the start to the end of the execution on the device; idle time counts, the host does not.",
  total_exec_time: "From the first to the last instruction or packet that is not set-up.",
  total_active_time: "Time in which an engine, a DMA or a collective is active.",
  neuroncore_cycle_count: "Total time in cycles of the base clock.",
  model_flops: "Operations of the model's graph: two for each multiply and add. 0 for kernels without statistics.",
  hardware_flops: "Operations of all matrix multiplications as they ran on the array.",
  transpose_flops: "The part of the hardware's operations that only transposes.",
  adjusted_hardware_flops: "Hardware operations, weighed by data type against BF16.",
  adjusted_transpose_flops: "Transposing operations, weighed by data type against BF16.",
  mm_arithmetic_intensity: "Operations of matrix multiplications, without transposes, for each byte moved to or from device memory.",
  peak_flops_bandwidth_ratio: "Peak operations over peak bytes. An intensity below it cannot reach the compute peak.",
  trace_count: "Records in the trace.",
  event_count: "Notifications in the trace.",
  total_row_count: "Rows that were written of this profile.",
  mfu_estimated_percent: "Operations of the model by those that the array could do in the total time.",
  mfu_hlo_estimated_percent: "The same, from the statistics of the graph.",
  mfu_inst_estimated_percent: "The same, from the instructions, without transposes.",
  hfu_estimated_percent: "Operations of the hardware by those that the array could do in the total time.",
  mfu_max_achievable_estimated_percent: "The best that the arithmetic intensity allows.",
  mfu_hlo_max_achievable_estimated_percent: "The best that the intensity of the graph allows.",
  mfu_inst_max_achievable_estimated_percent: "The best that the intensity of the instructions allows.",
  mbu_estimated_percent: "Bytes to and from device memory by those that its bandwidth could move in the total time.",
  mbu_min_read_util_percent: "Bandwidth that is needed to read inputs and weights once.",
  dma_active_time: "Time in which at least one packet is under way.",
  dma_packet_time: "Sum of the times of all packets; those that overlap add up.",
  dma_transfer_time: "Sum of the times of all transfers.",
  dma_transfer_average_bytes: "Bytes of a transfer on average. 32 KiB or more use the engines well.",
  dma_queue_count: "Queues that the program has.",
  inputs_and_weights_size_bytes: "Size of inputs and weights of the program.",
  inputs_outputs_weights_size_bytes: "Size of inputs, outputs and weights of the program.",
  hbm_read_bytes: "Read from device memory by DMA.",
  hbm_write_bytes: "Written to device memory by DMA.",
  sbuf_read_bytes: "Read from the state buffer by DMA and instructions.",
  sbuf_write_bytes: "Written to the state buffer by DMA and instructions.",
  psum_read_bytes: "Read from the partial-sum buffer.",
  psum_write_bytes: "Written to the partial-sum buffer.",
  spill_save_bytes: "Put aside to device memory, since the state buffer was full.",
  spill_reload_bytes: "Read back after it was put aside; each time counts.",
  weight_queue_bytes: "Moved by the queues of weights. More than the size of weights means that some are loaded again.",
  matmul_instruction_count: "Matrix multiplications.",
  activate_instruction_count: "Activations.",
};

function tipOf(name: string): string {
  const known = TIPS[name];
  if (known) return known;
  if (/_engine_instruction_time$/.test(name)) return "Sum of the times of its instructions; those that overlap add up.";
  if (/_engine_active_time(_percent)?$/.test(name)) return "Time in which the engine works; waits for semaphores are left out.";
  if (/_engine_instruction_count$/.test(name)) return "Instructions that ran.";
  if (/^(software|hardware)_dynamic_dma/.test(name)) return "Of packets whose descriptors were made while the program ran.";
  if (/^static_dma/.test(name)) return "Of packets whose descriptors were in the program.";
  return "";
}

export const metricInfo = (name: string): MetricInfo => ({ group: groupOf(name), unit: unitOf(name), tip: tipOf(name) });
