import { defineConfig } from "vitest/config";

// The browser is driven by playwright-core; vitest runs and reports.
export default defineConfig({
  test: {
    include: ["e2e/**/*.e2e.ts"],
    environment: "node",
    testTimeout: 60_000,
    hookTimeout: 120_000,
    fileParallelism: false,
    // A browser that shares two cores with a server can be late once; the report tells each test that needed it.
    retry: 1,
    // A busy machine takes its time to draw.
    expect: { poll: { timeout: 15_000 } },
  },
});
