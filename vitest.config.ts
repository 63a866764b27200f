import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { withoutModule } from "./scripts/house/modules.ts";

/** Vitest leaves one core to itself, and on a machine of two all files would wait for each other. */
const LEAST_WORKERS = 2;

/** `npm run house -- --without NAME` */
const { LONGHAUL_WITHOUT: left } = process.env;

export default defineConfig({
  plugins: left ? [withoutModule(left)] : [],
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts"],
    setupFiles: ["test/support/property-seed.ts"],
    maxWorkers: Math.max(LEAST_WORKERS, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
