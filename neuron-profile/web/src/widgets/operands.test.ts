import { expect, it } from "vitest";
import { explainOperands } from "./operands";

it("operands are explained part by part", () => {
  const parts = explainOperands("$S[45]>=16 $S[8]++@complete acc_flags=0 src=fp16@0x5600[1,0,0][3,1,1] dst=0x2000000[1,0,0][512,1,1] 3*128 x");
  expect(parts.map((part) => part.tip)).toEqual([
    "Waits until semaphore 45 is >= 16",
    "Changes semaphore 8 (++) at complete",
    "How the result joins the accumulator",
    "Reads fp16 at 0x5600, steps 1,0,0, sizes 3,1,1",
    "Writes at 0x2000000, steps 1,0,0, sizes 512,1,1",
    "3 by 128 elements",
    "",
  ]);
  expect(explainOperands("")).toEqual([]);
});
