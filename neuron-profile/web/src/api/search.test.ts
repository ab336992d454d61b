import { describe, expect, it } from "vitest";
import { conditionText, queryText, quoted } from "./search";

describe("queries", () => {
  it("quote what the grammar reads otherwise", () => {
    expect(quoted("MATMUL")).toBe("MATMUL");
    expect(quoted("S[5]")).toBe("S[5]");
    expect(quoted("S[5] (Tensor)")).toBe('"S[5] (Tensor)"');
    expect(quoted('a"b\\c')).toBe('"a\\"b\\\\c"');
    expect(quoted("model/layer")).toBe('"model/layer"');
  });

  it("are made of conditions", () => {
    expect(conditionText({ field: "opcode", operator: "=", value: "MATMUL" })).toBe("opcode=MATMUL");
    expect(conditionText({ field: "operands", operator: "regex", value: "a/b" })).toBe("operands=/a\\/b/");
    expect(conditionText({ field: "duration_ns", operator: "range", value: "100 .. 200" })).toBe("duration_ns=100..200");
    expect(conditionText({ field: "duration_ns", operator: ">=", value: " 7 " })).toBe("duration_ns>=7");
    expect(conditionText({ field: "", operator: "~", value: "two words" })).toBe('"two words"');
    expect(
      queryText(
        [
          { field: "opcode", operator: "!=", value: "NOP" },
          { field: "layer", operator: "~", value: "" },
          { field: "layer", operator: "!~", value: "a b" },
        ],
        "OR",
      ),
    ).toBe('opcode!=NOP OR layer!~"a b"');
  });
});
