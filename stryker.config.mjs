// All that a run leaves behind is under `coverage/`, which no other tool looks into and git ignores.
const FOLDER = "coverage/mutation";

// biome-ignore lint/style/noDefaultExport: Stryker reads its configuration so.
export default {
  testRunner: "vitest",
  plugins: ["@stryker-mutator/vitest-runner"],
  vitest: { configFile: "vitest.mutation.config.mjs" },
  coverageAnalysis: "perTest",
  mutate: [
    "packages/{core/src/{compaction,messages,modules,request},notes/src}/**/*.ts",
    "!packages/**/*.test.ts",
  ],
  // Stryker rewrites tsconfig files through the compiler's API, which TypeScript 7 does not have: none is named.
  tsconfigFile: "no-tsconfig.json",
  ignorePatterns: [
    "/bench",
    "/coverage",
    "/packages/*/dist",
    "/packages/longhaul/docs",
    "/docs",
    "/examples",
  ],
  tempDirName: `${FOLDER}/sandbox`,
  concurrency: 2,
  // A mutant may make a loop endless; no test of these rooms comes near this.
  timeoutMS: 20_000,
  incremental: true,
  incrementalFile: `${FOLDER}/incremental.json`,
  reporters: ["clear-text", "json", "html"],
  jsonReporter: { fileName: `${FOLDER}/report.json` },
  htmlReporter: { fileName: `${FOLDER}/report.html` },
  clearTextReporter: { allowColor: false, reportTests: false },
};
