import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const FEW_RUNS = fileURLToPath(new URL("scripts/fast-check-few-runs.mjs", import.meta.url));

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration so.
export default defineConfig({
  plugins: [
    {
      name: "few-property-runs",
      enforce: "pre",
      resolveId: (id, importer) => (id === "fast-check" && importer !== FEW_RUNS ? FEW_RUNS : undefined),
    },
  ],
  test: {
    include: ["src/{clear,compact,conversation}/**/*.test.ts"],
    // They need recordings that are not in the repository.
    exclude: ["**/*-recorded.test.ts"],
  },
});
