import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { compress } from "./compress.ts";

// `npm run dev` beside a running `neuron-profile view`: NEURON_PROFILE_SERVER is its address.
const server = process.env.NEURON_PROFILE_SERVER ?? "http://localhost:3001";

export default defineConfig({
  plugins: [react(), compress()],
  build: {
    target: "es2022",
    // dist itself is in the repository, so that a build script can watch it.
    outDir: "dist/site",
    assetsDir: "assets",
    // A data: URL would have to be allowed by the policy for nothing.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: ["index.html", "tensorboard.html"] },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1500,
  },
  worker: { format: "es" },
  // The page for TensorBoard stands at any path: what it loads is beside it. So
  // is what scripts and styles load, everywhere.
  experimental: {
    renderBuiltUrl: (name, { hostId, hostType }) => {
      if (hostType !== "html") return { relative: true };
      return hostId.endsWith("tensorboard.html") ? `./${name}` : undefined;
    },
  },
  server: {
    // The server looks at Host and Origin, so both are its own.
    proxy: {
      "/api": {
        target: server,
        changeOrigin: true,
        configure: (proxy) => proxy.on("proxyReq", (request) => request.setHeader("origin", server)),
      },
    },
  },
  test: { include: ["src/**/*.test.ts", "src/**/*.test.tsx"], environment: "node" },
});
