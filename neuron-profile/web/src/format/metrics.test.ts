import { describe, expect, it } from "vitest";
import { GROUPS, metricInfo } from "./metrics";

describe("metrics", () => {
  it("stand in the groups of the summary, with their unit", () => {
    const of = (name: string) => [metricInfo(name).group, metricInfo(name).unit];
    expect(of("total_time")).toEqual(["Overall", "s"]);
    expect(of("hardware_flops")).toEqual(["Overall", "flop"]);
    expect(of("hardware_dynamic_dma_size")).toEqual(["Data movement", "B"]);
    expect(of("tensor_engine_active_time_percent")).toEqual(["Tensor engine", "%"]);
    expect(of("gpsimd_engine_instruction_time")).toEqual(["GpSimd engine", "s"]);
    expect(of("mfu_max_achievable_estimated_percent")).toEqual(["Tensor engine", "%"]);
    expect(of("peak_flops_bandwidth_ratio")).toEqual(["Overall", "flop/B"]);
    expect(of("dma_active_cycles")).toEqual(["Data movement", "cyc"]);
    expect(of("throttle_active_nc0_time_ns")).toEqual(["Throttling", "ns"]);
    expect(of("compiler_version")).toEqual(["System", ""]);
    for (const name of ["cc_op_count", "sync_engine_instruction_count", "matmul_instruction_count"])
      expect(GROUPS).toContain(metricInfo(name).group);
  });
});
