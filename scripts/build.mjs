// Builds the packages that changed since their last build: `npm run build`. Bundles JavaScript and types into
// a few files per entry, because loading hundreds of small files takes longer than all their work. With
// `isolatedDeclarations`, a parser can write the types. No compiler is needed, so no package waits for
// another.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { dts } from "rolldown-plugin-dts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PACKAGES = join(ROOT, "packages");
const SOURCE = "@longhaul/source";
const CLI = "longhaul";

/**
 * Programs. They bundle our packages, so their users install none of our other packages. A bundle also starts
 * faster, because it has only the code that the program uses.
 */
const PROGRAMS = [CLI, "simulator"];

/**
 * Files that the code reads at run time. The key is the package. The files are copied from `src` to `dist`.
 */
const ASSETS = { simulator: ["demo/harbour.json.gz", "demo/tour-project.txt"] };
ASSETS[CLI] = ASSETS.simulator;

/**
 * Packages that use modules of Node: see MAY_IMPORT_NODE in test/boundaries.test.ts. All others are built for
 * no platform. For Node, the bundler may add an import of `node:module`, which breaks bundles for browsers.
 */
const FOR_NODE = ["sessions", "agent", "simulator", CLI];

const isOurs = (id) => id.startsWith("@longhaul/");
const isPackage = (id) => !id.startsWith(".") && !id.startsWith("/") && !/^[a-z]:/i.test(id);

/**
 * Returns the path of the file with the time of the last build. It is outside dist, because all of dist is
 * published.
 */
const stampOf = (name) => join(PACKAGES, name, ".built");

const manifestOf = (name) => JSON.parse(readFileSync(join(PACKAGES, name, "package.json"), "utf8"));

/**
 * Returns the published entries. The key is the name in `dist`, the value is the source file. Entries without
 * a built file exist only for our programs.
 */
function entriesOf(name) {
  if (name === CLI) return { main: join(PACKAGES, name, "src", "main.ts") };
  const sources = Object.values(manifestOf(name).exports)
    .filter((entry) => entry.default !== undefined)
    .map((entry) => entry[SOURCE]);
  return Object.fromEntries(
    sources.map((path) => [path.replace("./src/", "").replace(".ts", ""), join(PACKAGES, name, path)]),
  );
}

/**
 * Chunks of core that consist of these files and everything that they import statically. A file belongs to
 * the first chunk that has it, and those of the last row to the chunk of their folder.
 */
const CLOSURES = [
  ["estimator", ["measure/tokens/estimate/o200k"]],
  ["counting", ["measure/tokens/measure", "measure/tokens/context-meter"]],
  // Loaded by `createCompactor` at first.
  ["first", ["engine/create-compactor"]],
  ["recovery", ["engine/recover"]],
  ["undo", ["engine/undo"]],
];

/**
 * Chunks of single files. The main entry exports the vocabularies, the built-in model, `failureOf` and
 * `withRetries`. If one of them shared a chunk with heavy code that loads later, esbuild would load all of
 * that chunk at first: it places a file by all imports of the main entry, used or not.
 */
const SEPARATE = new Map([
  ...["claude", "packed-claude", "estimate", "estimators"].map((file) => [file, "vocabularies"]),
  // Loaded on first use by the module `spanCollapse`.
  ["summarize-span", "collapse-later"],
  ["failure-of", "failure-of"],
  ["builtin-model", "builtin-model"],
  ...["retry", "sanitize-error-text"].map((file) => [file, "later"]),
]);

/**
 * Creates the function that chooses the chunk of a core file. There is one chunk per folder, because a chunk
 * for every combination of entries would create a hundred tiny files. Files that `createCompactor` does not
 * load at first have chunks of their own, because a chunk is loaded completely. Small ones share the chunk
 * `later`, because Node needs a third of a millisecond for each file.
 */
function coreChunks() {
  let closures;
  return (id, context) => {
    const [, folder, inner] = /[\\/]core[\\/]src[\\/](\w+)[\\/]([\w-]+)/.exec(id) ?? [];
    if (folder === undefined || folder === "internal") return null;
    closures ??= CLOSURES.map(([name, files]) => {
      const paths = files.map((file) => join(PACKAGES, "core", "src", `${file}.ts`));
      return [name, filesBehind(paths, context)];
    });
    const file = basename(id, ".ts");
    if (SEPARATE.has(file)) return SEPARATE.get(file);
    const [closure] = closures.find(([, files]) => files.has(id)) ?? [];
    if (closure !== undefined) return closure === "first" ? folder : closure;
    if (folder === "modules" || /^(?:clear|restore|summary)$/.test(inner)) return inner;
    return folder === "compaction" ? "compaction-later" : "later";
  };
}

/** Returns these files and all files that they import statically, directly or indirectly. */
function filesBehind(files, context, seen = new Set()) {
  for (const file of files) {
    if (seen.has(file)) continue;
    seen.add(file);
    filesBehind(context.getModuleInfo(file)?.importedIds ?? [], context, seen);
  }
  return seen;
}

const coreSplitting = () => ({
  groups: [{ name: coreChunks(), debugName: "folders of core" }],
  includeDependenciesRecursively: false,
});

/** Puts the types that several entries share into one file. */
const TYPES = { groups: [{ name: "types.d", minShareCount: 2 }] };

async function build(name) {
  const startedAt = new Date();
  const dist = join(PACKAGES, name, "dist");
  rmSync(dist, { recursive: true, force: true }); // A file that was deleted from src must not stay published.
  const options = {
    input: entriesOf(name),
    external: (id) => isPackage(id) && !(PROGRAMS.includes(name) && isOurs(id)),
    platform: FOR_NODE.includes(name) ? "node" : "neutral",
    resolve: { conditionNames: [SOURCE, "node", "import", "default"] },
    tsconfig: false,
    ...(name === "core" ? { preserveEntrySignatures: "allow-extension" } : {}),
  };
  const output = {
    dir: dist,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
  };
  const javascript = {
    codeSplitting: name === "core" ? coreSplitting() : true,
    // Editors show the comments of the type files. In JavaScript they are a sixth of what a program loads.
    comments: { jsdoc: false },
  };
  await (await rolldown(options)).write({ ...output, ...javascript });
  if (name !== CLI) {
    const types = await rolldown({
      ...options,
      plugins: [dts({ oxc: true, emitDtsOnly: true, tsconfig: false })],
    });
    await types.write({ ...output, codeSplitting: TYPES });
  }
  for (const path of ASSETS[name] ?? []) {
    mkdirSync(join(dist, path, ".."), { recursive: true });
    copyFileSync(join(PACKAGES, "simulator", "src", path), join(dist, path));
  }
  if (name === CLI) {
    rmSync(join(PACKAGES, name, "docs"), { recursive: true, force: true });
    cpSync(join(ROOT, "docs"), join(PACKAGES, name, "docs"), { recursive: true });
  }
  writeFileSync(stampOf(name), "");
  utimesSync(stampOf(name), startedAt, startedAt); // The stamp has the start time. If a file changes during the build, the next build includes it.
}

const modifiedAt = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

function newestIn(path) {
  if (!statSync(path).isDirectory()) return modifiedAt(path);
  const items = readdirSync(path).filter((name) => !name.endsWith(".test.ts"));
  return Math.max(modifiedAt(path), ...items.map((name) => newestIn(join(path, name))));
}

const sources = readdirSync(PACKAGES).filter((name) => existsSync(join(PACKAGES, name, "package.json")));
/**
 * Names of the packages to build. Private packages are not built, because they are only bundled into
 * programs.
 */
const names = sources.filter((name) => manifestOf(name).private !== true);
const common = Math.max(
  modifiedAt(fileURLToPath(import.meta.url)),
  modifiedAt(join(ROOT, "node_modules", ".package-lock.json")),
);
const changedAt = Object.fromEntries(
  sources.map((name) => [
    name,
    Math.max(common, newestIn(join(PACKAGES, name, "src")), modifiedAt(join(PACKAGES, name, "package.json"))),
  ]),
);
for (const name of PROGRAMS) {
  const carried = Object.keys(manifestOf(name).devDependencies).filter(isOurs);
  const inside = carried.map((each) => each.replace("@longhaul/", ""));
  changedAt[name] = Math.max(changedAt[name], ...inside.map((each) => changedAt[each]));
}
changedAt[CLI] = Math.max(changedAt[CLI], newestIn(join(ROOT, "docs")));

const builtAt = (name) => (existsSync(join(PACKAGES, name, "dist")) ? modifiedAt(stampOf(name)) : 0);
const stale = names.filter((name) => builtAt(name) < changedAt[name]);
if (stale.length > 0) process.stderr.write(`longhaul: building ${stale.join(", ")}\n`);
await Promise.all(stale.map(build));
