// Keeps a report of every published entry in `packages/NAME/api/ENTRY.api.md`, so that a review shows each
// change of the public API. `npm run api` writes the reports. Without `--write`, the program compares the
// reports with the built types and exits with 1 if a report differs.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  type IExtractorMessagesConfig,
} from "@microsoft/api-extractor";

const PACKAGES = fileURLToPath(new URL("../packages", import.meta.url));
const ENDING = ".api.md";
/** Packages whose types refer to types of Node. */
const NEED_NODE = ["agent"];

interface Manifest {
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, string | { readonly types?: string; readonly default?: string }>>;
}

interface Entry {
  /** Name of the report: `index`, or the subpath. */
  readonly name: string;
  readonly types: string;
}

/**
 * Returns the published entries of a package. Internal entries have no report, because only our own packages
 * use them.
 */
function entriesOf(folder: string): readonly Entry[] {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  if (manifest.private) return [];
  return Object.entries(manifest.exports).flatMap(([path, entry]) => {
    if (typeof entry === "string" || entry.default === undefined || path.startsWith("./internal")) return [];
    if (entry.types === undefined) throw new Error(`${path} of ${folder} has no types`);
    return [{ name: path === "." ? "index" : path.slice("./".length), types: join(folder, entry.types) }];
  });
}

const SILENT = { default: { logLevel: "none" } } as NonNullable<
  IExtractorMessagesConfig["tsdocMessageReporting"]
>;

/**
 * Returns the settings of API Extractor for an entry. The extractor has its own compiler, because TypeScript
 * 7 has no API.
 */
function configOf(name: string, entry: Entry, output: string): ExtractorConfig {
  const folder = join(PACKAGES, name);
  const compilerOptions = {
    target: "es2023",
    lib: ["es2023", "dom"],
    module: "nodenext",
    types: NEED_NODE.includes(name) ? ["node"] : [],
    skipLibCheck: true,
  };
  return ExtractorConfig.prepare({
    packageJsonFullPath: join(folder, "package.json"),
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: entry.types,
      newlineKind: "lf",
      compiler: { overrideTsconfig: { compilerOptions, files: [entry.types] } },
      apiReport: {
        enabled: true,
        reportFileName: entry.name,
        reportFolder: output,
        reportTempFolder: output,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: SILENT,
        extractorMessageReporting: SILENT,
        tsdocMessageReporting: SILENT,
      },
    },
  });
}

/**
 * Returns the reports of a package. The key is the file name, the value is the report. One compiler program
 * serves all entries.
 */
function reportsOf(name: string): ReadonlyMap<string, string> {
  const entries = entriesOf(join(PACKAGES, name));
  const missing = entries.find(({ types }) => !existsSync(types));
  if (missing) throw new Error(`${missing.types} does not exist. Run npm run build.`);
  const output = mkdtempSync(join(tmpdir(), "longhaul-api-"));
  try {
    const configs = entries.map((entry) => configOf(name, entry, output));
    const [first] = configs;
    if (first === undefined) return new Map();
    const additionalEntryPoints = entries.map(({ types }) => types);
    const compilerState = CompilerState.create(first, { additionalEntryPoints });
    for (const config of configs) {
      const { succeeded } = Extractor.invoke(config, {
        localBuild: true,
        compilerState,
        messageCallback: (message) => {
          message.handled = true;
        },
      });
      if (!succeeded) throw new Error(`No report can be made of ${config.mainEntryPointFilePath}.`);
    }
    return new Map(readdirSync(output).map((file) => [file, readFileSync(join(output, file), "utf8")]));
  } finally {
    rmSync(output, { recursive: true, force: true });
  }
}

function committedOf(folder: string): ReadonlyMap<string, string> {
  if (!existsSync(folder)) return new Map();
  const files = readdirSync(folder).filter((file) => file.endsWith(ENDING));
  return new Map(
    files.map((file) => [file, readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n")]),
  );
}

/** Returns the lines that only one of the two reports has. They are enough to see which name changed. */
function changedLines(before: string, after: string): readonly string[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const [inOld, inNow] = [new Set(old), new Set(now)];
  const removed = old.filter((line) => !inNow.has(line)).map((line) => `  - ${line}`);
  const added = now.filter((line) => !inOld.has(line)).map((line) => `  + ${line}`);
  return [...removed, ...added];
}

const shouldWrite = process.argv.includes("--write");
const differences: string[] = [];
for (const name of readdirSync(PACKAGES)) {
  const folder = join(PACKAGES, name, "api");
  const [committed, reports] = [committedOf(folder), reportsOf(name)];
  for (const file of new Set([...committed.keys(), ...reports.keys()])) {
    const [before, after] = [committed.get(file), reports.get(file)];
    if (before === after) continue;
    const lines = changedLines(before ?? "", after ?? "");
    differences.push(`packages/${name}/api/${file}`, ...(shouldWrite ? [] : lines));
    if (!shouldWrite) continue;
    mkdirSync(folder, { recursive: true });
    if (after === undefined) rmSync(join(folder, file));
    else writeFileSync(join(folder, file), after);
  }
}
if (differences.length > 0) {
  const heading = shouldWrite ? "Written:" : "The built types differ from these reports:";
  process.stdout.write(`${heading}\n${differences.join("\n")}\n`);
  if (!shouldWrite) {
    process.stdout.write("Run npm run api and commit the change.\n");
    process.exitCode = 1;
  }
}
