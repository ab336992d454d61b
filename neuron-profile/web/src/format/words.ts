// Names of fields as words, and short forms of long names.

const FIXED: Record<string, string> = {
  hbm: "HBM", sbuf: "SBUF", psum: "PSUM", dma: "DMA", mfu: "MFU", hfu: "HFU", mbu: "MBU", cc: "CC", hlo: "HLO",
  nki: "NKI", bir: "BIR", pc: "PC", id: "ID", flops: "FLOPs", gpsimd: "GpSimd", ts: "timestamp", ns: "(ns)",
  neff: "NEFF", crc: "CRC", nc: "NC", io: "IO", mm: "matmul", inst: "instruction", pcore: "core", idx: "index",
};

/** `hbm_read_bytes` as `HBM read bytes`. */
export function words(name: string): string {
  const text = name
    .split("_")
    .map((word) => FIXED[word] ?? word)
    .join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** At most so many letters, the middle left out: both ends of a layer's name tell it from others. */
export function short(text: string, letters = 80): string {
  if (text.length <= letters) return text;
  const head = Math.ceil((letters - 1) * 0.6);
  return `${text.slice(0, head)}…${text.slice(text.length - (letters - 1 - head))}`;
}
