import { join, relative } from "node:path";
import type { JsonRecord } from "../../../conversation/untrusted.ts";
import type { Behaviour } from "../../../testing/simulator/exchange.ts";

const PATH_FIELDS: readonly string[] = ["file_path", "path"];

/**
 * The same behaviour, whose calls stay in the folder: it makes up paths, and the person would be asked about each that
 * leads out of it.
 */
export function insideOf(folder: string, behaviour: Behaviour): Behaviour {
  return (request) => {
    const turn = behaviour(request);
    if (turn === undefined) return undefined;
    const blocks = turn.blocks.map((block) =>
      block.type === "tool_use" ? { ...block, input: withPathsIn(folder, block.input) } : block,
    );
    return { ...turn, blocks };
  };
}

function withPathsIn(folder: string, input: JsonRecord): JsonRecord {
  const entries = Object.entries(input).map(([name, value]) =>
    PATH_FIELDS.includes(name) && typeof value === "string" ? [name, inside(folder, value)] : [name, value],
  );
  return Object.fromEntries(entries);
}

/** What leads out is taken for a path from the folder on. */
const inside = (folder: string, path: string): string =>
  path.startsWith(folder) && !relative(folder, path).startsWith("..")
    ? path
    : join(folder, join("/", path).slice(1));
