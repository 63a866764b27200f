import { fitText, oneLine, textWidth } from "./text-width.ts";

/** Name of an MCP tool, as agents write it. */
const MCP_NAME = /^mcp__(.+?)__(.+)$/;
/** Minimum columns of a server name. */
const MIN_SERVER_WIDTH = 6;
const SEPARATOR = "__";

/**
 * Cuts a tool name in the middle. The name of an MCP tool first loses its prefix `mcp__`. Its server and its
 * tool are cut separately, so that both stay recognizable.
 */
export function fitToolName(name: string, width: number): string {
  const line = oneLine(name);
  if (textWidth(line) <= width) return line;
  const [, server = "", tool = ""] = MCP_NAME.exec(line) ?? [];
  const room = width - SEPARATOR.length;
  if (tool === "" || room < 2 * MIN_SERVER_WIDTH) return fitText(line, width, "middle");
  const serverRoom = Math.max(MIN_SERVER_WIDTH, Math.floor(room / 3), room - textWidth(tool));
  const shownServer = fitText(server, serverRoom, "middle");
  return `${shownServer}${SEPARATOR}${fitText(tool, room - textWidth(shownServer), "middle")}`;
}

/** Cuts the tool names of one list. Different names stay different. */
export function fitToolNames(names: Iterable<string>, width: number): ReadonlyMap<string, string> {
  const fitted = new Map([...names].map((name) => [name, fitToolName(name, width)]));
  const taken = new Set<string>();
  for (const same of groups([...fitted.keys()], (name) => fitted.get(name) ?? "")) {
    const labels = same.length === 1 ? [fitted.get(same[0] ?? "") ?? ""] : labelsOf(same, width);
    for (const [index, name] of same.entries()) fitted.set(name, unused(labels[index] ?? "", width, taken));
  }
  return fitted;
}

function groups(names: readonly string[], labelOf: (name: string) => string): readonly (readonly string[])[] {
  const found = new Map<string, string[]>();
  for (const name of names) {
    const group = found.get(labelOf(name));
    if (group === undefined) found.set(labelOf(name), [name]);
    else group.push(name);
  }
  return [...found.values()];
}

/**
 * Returns a label for each name. The label contains the start of the name and the part where the names begin
 * to differ.
 */
function labelsOf(names: readonly string[], width: number): readonly string[] {
  const plain = names.map((name) => oneLine(name).replace(MCP_NAME, `$1${SEPARATOR}$2`));
  const [first = ""] = plain;
  let shared = 0;
  while (shared < first.length && plain.every((name) => name[shared] === first[shared])) shared++;
  const start = fitText(first, Math.floor(width / 2));
  const room = width - textWidth(start);
  // If the end of the names includes the difference, shows the end of each name. Otherwise shows the part
  // where the names begin to differ.
  return plain.map((name) =>
    textWidth(name.slice(shared)) < room
      ? `${start.slice(0, -1)}${fitText(name, room + 1, "front")}`
      : `${start}${fitText(name.slice(shared), room)}`,
  );
}

/** Returns the label. Adds a number at its end if another name already has the same label. */
function unused(label: string, width: number, taken: Set<string>): string {
  let free = label;
  for (let number = 2; taken.has(free); number++) {
    const end = `…${number}`;
    free = `${fitText(label, width - end.length).replace(/…$/, "")}${end}`;
  }
  taken.add(free);
  return free;
}
