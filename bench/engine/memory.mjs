// Checks for memory leaks: the heap of a conversation that is compacted repeatedly.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const child = fileURLToPath(new URL("memory-child.mjs", import.meta.url));

/**
 * Runs a conversation in a separate process.
 * @returns `{ bytes, compactions }`. `bytes` has the heap size at the end of each part of the run.
 */
export function measureMemory({ turns, parts, form }) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [child, form, String(turns), String(parts)],
    {
      encoding: "utf8",
    },
  );
  if (status !== 0) throw new Error(`${child} failed: ${stderr}`);
  return JSON.parse(stdout);
}
