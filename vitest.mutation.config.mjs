import { fileURLToPath } from "node:url";
import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";

const FEW_RUNS = fileURLToPath(new URL("scripts/fast-check-few-runs.mjs", import.meta.url));
const ALL_ROOMS = "packages/{core/src/{compaction,messages,modules,request},notes/src}/**/*.test.ts";

const conditions = ["@longhaul/source", ...defaultServerConditions.filter((name) => name !== "module")];

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration so.
export default defineConfig({
  plugins: [
    {
      name: "few-property-runs",
      enforce: "pre",
      resolveId: (id, importer) => (id === "fast-check" && importer !== FEW_RUNS ? FEW_RUNS : undefined),
    },
  ],
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: [process.env.MUTATION_TESTS ?? ALL_ROOMS],
    // Recordings are not in the repository. One property test needs more cases than run here.
    exclude: ["**/*-recorded.test.ts", "**/plan-from-notes.property.test.ts"],
    // A test that is only slow must not count as a test that noticed the mutation.
    testTimeout: 60_000,
  },
});
