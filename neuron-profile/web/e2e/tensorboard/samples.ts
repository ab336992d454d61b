// Runs as the original wrote them, with the figures of its pictures.

import type { Lab } from "./board";

export const OPERATORS = "2022_09_28_23_01_01_01_1664406072";
export const TRACE = "2022_10_14_19_22_22_16";

const op = (name: string, occurrences: number, time_ns: number, fused?: string[]) => ({ name, occurrences, neuron_device: 0, neuron_core: 0, time_ns, ...(fused && { fused }) });
const slice = (pid: string, tid: string, name: string, ts: number, dur: number, args?: object) => ({ ph: "X", pid, tid, name, ts, dur, ...(args && { args }) });

export const FUSED = ["NN[model]/Linear[layer1]/aten__addmm_add", "NN[model]/input", "NN[model]/Linear[layer1]/aten__addmm_dot"];

export function originals(lab: Lab): void {
  const ops = [op("aten__addmm_dot", 2, 279, FUSED), op("aten__relu_maximum", 1, 276), op("aten__tanh_tanh", 1, 159)];
  const run = `plugins/neuron/${OPERATORS}`;
  lab.write(`${run}/neuron_framework_op.json`, JSON.stringify({ ops, total_time: 714 }));
  lab.write(`${run}/neuron_hlo_op.json`, JSON.stringify({ ops: ops.map((one) => ({ ...one, name: one.name.split("_").pop() })), total_time: 714 }));
  const timeline = {
    displayTimeUnit: "ns",
    traceEvents: [
      slice("Overview", "Neuron Runtime Setup", "Neuron Runtime Setup", 0, 4.6),
      slice("Overview", "Compute Busy", "Compute Busy", 4.7, 2.4),
      slice("Overview", "DMA Busy", "DMA Busy", 4.8, 4),
      slice("Control", " ", "NN[model]", 4.7, 2.3),
      slice("Execution", " ", "NN[model]", 10.976, 1.3),
      slice("Execution", "  ", "Linear[layer1]", 10.976, 0.6),
      slice("Execution", "Framework Ops", "fused_16", 11.452, 0.153, { fused: FUSED.join(",\n") }),
      slice("Execution", "HLO Ops", "%add = add(%dot, %broadcast.1)", 11.452, 0.153),
      slice("Data Transfer", " ", "NN[model]", 4.6, 4.2),
    ],
  };
  lab.write(`${run}/neuron_op_timeline.json`, JSON.stringify(timeline));
  lab.write(`${run}/neuron_op_timeline_split.json`, JSON.stringify(timeline));
  const host = "/host:CPU";
  const trace = [
    slice("4736", "IO Data Transfer", "TransferToServerInternal", 1000, 200),
    slice("4736", "NeuronDevice Execution", "SyncTensorsGraph.53", 5_100_000, 2000),
    slice("4736", "CC Synchronization", "all-reduce", 5_100_500, 300),
    slice(host, "python#24", "StepMarker", 0, 5_100_000),
    slice(host, "python#24", "SyncLiveTensorsGraph", 10, 5_000_000),
    slice(host, "python#24", "SyncTensorsGraph", 20, 4_900_000),
    slice(host, "tf_Compute/-106433425#25", "ExecutorState::Process", 30, 900),
  ];
  lab.write(`plugins/neuron/${TRACE}/neuron_trace.json`, JSON.stringify({ displayTimeUnit: "ns", neuronStartTimestampNs: 0, traceEvents: trace }));
}
