import { availableParallelism } from "node:os";
import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";
import { withoutModule } from "./scripts/house/modules.ts";

/**
 * Vitest keeps one core for itself. On a machine with two cores, all test files would then wait for each
 * other.
 */
const MIN_WORKERS = 2;

/**
 * Packages import each other's sources, so that no test needs a build. The condition "module" is removed. It
 * is for bundlers, and Node does not know it.
 */
const conditions = ["@longhaul/source", ...defaultServerConditions.filter((name) => name !== "module")];

/**
 * Name of the optional module that is missing in this test run. `npm run house -- --without NAME` sets it.
 */
const { LONGHAUL_WITHOUT: left } = process.env;

export default defineConfig({
  plugins: left ? [withoutModule(left)] : [],
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    reporters: ["default", "./scripts/slow-reporter.ts"],
    setupFiles: ["test/support/property-seed.ts"],
    maxWorkers: Math.max(MIN_WORKERS, availableParallelism() - 1),
    coverage: {
      include: ["packages/*/src/**/*.ts"],
      exclude: ["**/*.test.ts", "**/*.case.ts"],
      reporter: ["text-summary", "json-summary", "html"],
    },
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
