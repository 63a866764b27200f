// npm run bench [-- --only counting|engine|memory|recall|opening|inspect|summary|startup|simulator|fidelity] [-- --quick]
// npm run bench -- --against FOLDER [--rounds N]: compares with another built checkout
import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const SECTIONS = {
  counting: () => import("./counting.mjs"),
  engine: () => import("./engine.mjs"),
  memory: () => import("./memory.mjs"),
  recall: () => import("./recall.mjs"),
  opening: () => import("./opening.mjs"),
  inspect: () => import("./inspect.mjs"),
  summary: () => import("./summary.mjs"),
  startup: () => import("./startup.mjs"),
  simulator: () => import("./simulator.mjs"),
  fidelity: () => import("./fidelity.mjs"),
};

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    quick: { type: "boolean", default: false },
    against: { type: "string" },
    rounds: { type: "string", default: "5" },
  },
});
/** Sections without times. `--against` compares times. */
const WITHOUT_TIMES = ["fidelity"];
const wanted =
  values.only ??
  Object.keys(SECTIONS).filter((name) => values.against === undefined || !WITHOUT_TIMES.includes(name));
const unknown = wanted.find((name) => !Object.hasOwn(SECTIONS, name));
if (unknown !== undefined) {
  process.stderr.write(`bench: Unknown section '${unknown}'. Use ${Object.keys(SECTIONS).join(", ")}\n`);
  process.exit(2);
}

if (!installPeers(".")) {
  process.stderr.write(
    "bench: the peers could not be installed (see above), and nothing is measured without them\n",
  );
  process.exit(1);
}
if (wanted.includes("fidelity") && !installPeers("fidelity")) {
  process.stderr.write("bench: some peers could not be installed (see above), and are left out\n");
}
if (values.against !== undefined) {
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || !isBuilt(values.against)) {
    process.stderr.write(
      "bench: Pass a built checkout to --against, and a number of at least 1 to --rounds.\n",
    );
    process.exit(2);
  }
  const { compareWith } = await import("./against.mjs");
  compareWith(values.against, { sections: wanted, rounds, isQuick: values.quick });
  process.exit(0);
}
const startedAt = performance.now();
process.stdout.write(`${machine()}\n`);
const claims = [];
for (const name of wanted) {
  process.stderr.write(`bench: ${name} …\n`);
  const { run } = await SECTIONS[name]();
  const result = await run({ isQuick: values.quick });
  process.stdout.write(`${result.text}\n`);
  claims.push(...result.claims);
}
const { claimsTable } = await import("./claims.mjs");
const allClaims = claims.length === 0 ? "" : claimsTable(claims);
process.stdout.write(`${allClaims}\n\n${Math.round((performance.now() - startedAt) / 1000)} s in all\n`);

/** Supports checkouts with packages, and older checkouts without packages. */
function isBuilt(checkout) {
  return ["packages/core/dist", "dist"].some((path) => existsSync(join(checkout, path)));
}

/**
 * Installs the compared libraries of a folder, and returns true on success. They are large and needed only
 * here, so the project's own install omits them.
 */
function installPeers(folder) {
  const at = (path) => fileURLToPath(new URL(`${folder}/${path}`, import.meta.url));
  const marker = at("node_modules/.package-lock.json");
  if (existsSync(marker) && statSync(marker).mtimeMs >= statSync(at("package-lock.json")).mtimeMs)
    return true;
  process.stderr.write("bench: installing the peers (once, more than half a gigabyte)\n");
  // `npm run` passes the project's own settings down, so this setting must be explicit. See .npmrc.
  const { status } = spawnSync("npm", ["ci", "--engine-strict=false"], {
    cwd: at("."),
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  return status === 0;
}

function machine() {
  const [first] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  const date = new Date().toISOString().slice(0, 10);
  return `longhaul benchmarks, ${date}: Node ${process.version}, ${type()} ${release()}, ${cpus().length} × ${first?.model.trim()}, ${memory}${values.quick ? ", quick" : ""}`;
}
