// All output of a run is under `coverage/`, which git and all other tools ignore.
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
  // Names a file that does not exist, so that Stryker does not rewrite a tsconfig file. For that, Stryker
  // would need the compiler's API, which TypeScript 7 does not have.
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
  // Time limit, because a mutant may cause an endless loop. No test in these folders comes close to this
  // limit.
  timeoutMS: 20_000,
  incremental: true,
  incrementalFile: `${FOLDER}/incremental.json`,
  reporters: ["clear-text", "json", "html"],
  jsonReporter: { fileName: `${FOLDER}/report.json` },
  htmlReporter: { fileName: `${FOLDER}/report.html` },
  clearTextReporter: { allowColor: false, reportTests: false },
};
