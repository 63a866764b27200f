import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Vitest leaves one core to itself, and on a machine of two all files would wait for each other. */
const LEAST_WORKERS = 2;

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    setupFiles: ["test/support/property-seed.ts"],
    maxWorkers: Math.max(LEAST_WORKERS, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
