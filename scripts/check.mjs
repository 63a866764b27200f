// Everything a machine can say about the code without running it: format and lint, types, dead code,
// the shape of the package. Prints one line a check; the output of a check only when it fails.
import { spawn } from "node:child_process";

const checks = [
  ["format and lint", "biome", ["check", "--error-on-warnings", "."]],
  ["types", "tsc", ["-p", "tsconfig.json"]],
  ["dead code", "knip", []],
  ["package", "publint", ["--strict"]],
  ["published types", "attw", ["--pack", ".", "--profile", "esm-only", "--quiet"]],
];

function run([name, command, args]) {
  const startedAt = Date.now();
  return new Promise((resolve) => {
    const child = spawn("npx", ["--no-install", command, ...args], { shell: process.platform === "win32" });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (output += text));
    child.on("close", (code) => {
      const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
      process.stdout.write(`${code === 0 ? "ok    " : "FAILED"} ${name} (${seconds} s)\n`);
      if (code !== 0) process.stdout.write(`${output}\n`);
      resolve(code === 0);
    });
  });
}

let hasFailed = false;
for (const check of checks) if (!(await run(check))) hasFailed = true;
process.exit(hasFailed ? 1 : 0);
