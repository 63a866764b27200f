// The published JavaScript: each entry with what it needs in a few files, because loading two hundred small
// ones takes longer than everything they do. Types come from tsc, file by file.
import { copyFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

const ENTRIES = {
  index: "src/index.ts",
  node: "src/node.ts",
  "agent/index": "src/agent/index.ts",
  "evaluate/index": "src/evaluate/index.ts",
  "testing/index": "src/testing/index.ts",
  "cli/main": "src/cli/main.ts",
};

// Packages of others are the user's to install, once.
const isPackage = (id) => !id.startsWith(".") && !id.startsWith("/") && !/^[a-z]:/i.test(id);

rmSync(at("dist/chunks"), { recursive: true, force: true });
const bundle = await rolldown({
  input: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, at(path)])),
  external: isPackage,
  platform: "node",
  tsconfig: false,
});
await bundle.write({
  dir: at("dist"),
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "chunks/[name]-[hash].js",
});

// The recorded session of the demonstration and the project of the tour, where the built code looks for them.
for (const name of ["harbour.json.gz", "tour-project.txt"])
  copyFileSync(at(`src/demo/${name}`), at(`dist/demo/${name}`));
