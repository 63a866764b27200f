import { availableParallelism } from "node:os";
import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";
import { withoutModule } from "./scripts/house/modules.ts";

/** Vitest leaves one core to itself, and on a machine of two all files would wait for each other. */
const MIN_WORKERS = 2;

/** Packages find each other's sources, so that no test needs a build. Node does not know "module", which is for bundlers. */
const conditions = ["@longhaul/source", ...defaultServerConditions.filter((name) => name !== "module")];

/** `npm run house -- --without NAME` */
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
