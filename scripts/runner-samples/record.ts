// Runs the runners that are installed on invented projects, and stores commands, exit codes and outputs as test data.
//   node --import tsx scripts/runner-samples/record.ts [RUNNER…]
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { SAMPLE_PROJECTS, type SampleProject } from "./projects.ts";

const SAMPLES = join(
  import.meta.dirname,
  "../../packages/core/src/compaction/summary/readers/runners/samples",
);
const NPM_PACKAGES = [
  "vitest",
  "jest",
  "mocha",
  "@playwright/test",
  "typescript",
  "eslint",
  "@biomejs/biome",
];
/** Runs that take longer are not recorded. The first run of cargo or gradle is the slowest. */
const TIMEOUT_MS = 240_000;
/** A longer output is not a small sample. */
const MAX_OUTPUT_CHARS = 6_000;

interface Sample {
  readonly name: string;
  readonly command: string;
  readonly exitCode: number;
  readonly output: string;
}

/** Commands that hide the exit code, cut the output or surround the run. */
function variantsOf({ command, colored, also = [] }: SampleProject): readonly (readonly [string, string])[] {
  return [
    ["plain", command],
    ...(colored === undefined ? [] : ([["color", colored]] as const)),
    ["tail", `${command} 2>&1 | tail -4`],
    ["head", `${command} 2>&1 | head -3`],
    ["grep", `${command} 2>&1 | grep -iE 'pass|fail|error'`],
    ["chain", `cd . && ${command} && echo done`],
    ["or-true", `${command} || true`],
    ...also.map((other, index) => [`also-${index + 1}`, other] as const),
  ];
}

/** Installs the packages of npm once, and returns their folder. */
function npmFolder(): string {
  const folder = process.env.RUNNER_SAMPLES_NPM ?? join(tmpdir(), "runner-samples-npm");
  if (!existsSync(join(folder, "node_modules"))) {
    mkdirSync(folder, { recursive: true });
    const done = spawnSync("npm", ["install", "--prefix", folder, ...NPM_PACKAGES], { stdio: "inherit" });
    if (done.status !== 0) throw new Error("npm could not install the runners.");
  }
  return join(folder, "node_modules");
}

function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Environment without settings of this machine that change what the runners print. */
function environmentFor(variant: string): NodeJS.ProcessEnv {
  const kept = ["HOME", "LANG", "PATH", "JAVA_HOME", "CARGO_HOME", "RUSTUP_HOME"];
  const entries = kept.map((name) => [name, process.env[name]] as const);
  const colors = variant === "color" ? {} : { NO_COLOR: "1" };
  return {
    ...Object.fromEntries(entries.filter(([, value]) => value !== undefined)),
    ...colors,
    GOFLAGS: "-mod=mod",
  };
}

function withoutPaths(output: string, folder: string): string {
  const home = process.env.HOME ?? "/root";
  return output
    .replaceAll(folder, "/project")
    .replaceAll(home, "/home/user")
    .replace(/\/home\/user\/[^\s"']+/g, "/home/user/bin")
    .split("\n")
    .filter((line) => !/^npm (?:warn|notice)|registry|https?:\/\/\S*(?:proxy|artifactory)/.test(line))
    .join("\n");
}

function recordOne(project: SampleProject, kind: "good" | "bad"): Sample[] {
  const samples: Sample[] = [];
  for (const [variant, command] of variantsOf(project)) {
    // A fresh folder for each command, so that no runner says "up to date".
    const folder = mkdtempSync(join(tmpdir(), "sample-"));
    writeFiles(folder, { ...project.files, ...project[kind] });
    symlinkSync(npmFolder(), join(folder, "node_modules"));
    const run = spawnSync("bash", ["-c", `{ ${command}\n} 2>&1`], {
      cwd: folder,
      env: environmentFor(variant),
      encoding: "utf8",
      timeout: TIMEOUT_MS,
    });
    rmSync(folder, { recursive: true, force: true });
    const output = withoutPaths(run.stdout, folder);
    console.log(`${project.runner} ${kind} ${variant}: exit ${run.status}, ${output.length} characters`);
    if (run.status === null || output.length > MAX_OUTPUT_CHARS) continue;
    samples.push({ name: `${kind} ${variant}`, command, exitCode: run.status, output });
  }
  return samples;
}

const wanted = process.argv.slice(2);
mkdirSync(SAMPLES, { recursive: true });
for (const project of SAMPLE_PROJECTS) {
  if (wanted.length > 0 && !wanted.includes(project.runner)) continue;
  const samples = [...recordOne(project, "good"), ...recordOne(project, "bad")];
  writeFileSync(join(SAMPLES, `${project.runner}.samples.json`), `${JSON.stringify(samples, null, 2)}\n`);
}
