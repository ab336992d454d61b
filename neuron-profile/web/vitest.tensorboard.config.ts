import { defineConfig } from "vitest/config";

// The plug-in in a real TensorBoard: `cargo xtask test` prepares what these need.
export default defineConfig({
  test: {
    include: ["e2e/tensorboard/*.tb.ts"],
    environment: "node",
    testTimeout: 60_000,
    hookTimeout: 180_000,
    fileParallelism: false,
    // A browser that shares two cores with a server can be late once; the report tells each test that needed it.
    retry: 1,
    // A busy machine is slow, not wrong.
    expect: { poll: { timeout: 20_000, interval: 100 } },
  },
});
