import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { compress } from "./compress.ts";

// The viewer in one script and one style, for pages with a profile inside
// (`export --format html`). Nothing can be loaded from beside such a page.
export default defineConfig({
  plugins: [react(), compress()],
  publicDir: false,
  build: {
    target: "es2022",
    outDir: "dist/share",
    assetsInlineLimit: Number.POSITIVE_INFINITY,
    cssCodeSplit: false,
    modulePreload: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 3000,
    rolldownOptions: {
      input: "src/share/main.ts",
      output: { codeSplitting: false, entryFileNames: "viewer.js", assetFileNames: "viewer.[ext]" },
    },
  },
});
