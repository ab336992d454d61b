// Writes every file of the build beside itself once as .br and once as .gz: the
// server has no work with that then, and the program carries only these.

import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";

function files(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? files(join(dir, entry.name)) : [join(dir, entry.name)],
  );
}

export function compress(): Plugin {
  let out = "";
  return {
    name: "compress",
    apply: "build",
    configResolved: (config) => {
      out = join(config.root, config.build.outDir);
    },
    closeBundle: () => {
      for (const file of files(out)) {
        const bytes = readFileSync(file);
        const settings = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
        writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: settings }));
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
      }
    },
  };
}
