// Operands of an instruction, part by part (profiler.md §2.4):
// `$S[45]>=16 $S[8]++@complete src=fp16@0x5600[1,0,0][3,1,1] 3*128`.

export interface Part {
  text: string;
  /** What it means; empty where it is not known. */
  tip: string;
}

const KEYS: Record<string, string> = {
  acc_flags: "How the result joins the accumulator",
  psum_zero: "Starts a fresh accumulator",
  fp32_mode: "How 32-bit floats are split over two passes",
};

function tipOf(part: string): string {
  const wait = /^\$S\[(\d+)\](>=|<=|==|>|<)(\d+)$/.exec(part);
  if (wait) return `Waits until semaphore ${wait[1]} is ${wait[2]} ${wait[3]}`;
  const step = /^\$S\[(\d+)\](\+\+|--|\+=\d+|-=\d+|=\d+)(?:@(\w+))?$/.exec(part);
  if (step) return `Changes semaphore ${step[1]} (${step[2]})${step[3] ? ` at ${step[3]}` : ""}`;
  const place = /^(\w+)=(\w+)?@?(0x[0-9a-f]+)((?:\[[^\]]*\])*)$/i.exec(part);
  if (place) {
    const [strides, sizes] = [...(place[4] ?? "").matchAll(/\[([^\]]*)\]/g)].map((one) => one[1]);
    const pattern = sizes ? `, steps ${strides}, sizes ${sizes}` : "";
    return `${place[1] === "dst" ? "Writes" : place[1] === "src" ? "Reads" : place[1]} ${place[2] ?? ""} at ${place[3]}${pattern}`.replace("  ", " ");
  }
  const shape = /^(\d+)\*(\d+)$/.exec(part);
  if (shape) return `${shape[1]} by ${shape[2]} elements`;
  const pair = /^(\w+)=(.*)$/.exec(part);
  return pair ? (KEYS[pair[1] ?? ""] ?? "") : "";
}

/** The parts of a text of operands, in order. */
export function explainOperands(text: string): Part[] {
  return text
    .split(/\s+/)
    .filter((part) => part !== "")
    .slice(0, 200)
    .map((part) => ({ text: part, tip: tipOf(part) }));
}
