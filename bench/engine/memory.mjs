// Whether a long run holds on to what is gone: the heap of a conversation that is compacted again and again.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const child = fileURLToPath(new URL("memory-child.mjs", import.meta.url));

/** @returns `{ bytes, compactions }`, the heap at the end of each part of the run: in a process of its own */
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
