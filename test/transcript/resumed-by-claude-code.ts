/**
 * Reads a session file back like Claude Code 2.1.325, reimplemented from its requests. It checks our own
 * reader, so it shares no code with that reader. It supports only valid files, in which every parent exists.
 */

/** A line of a session file. */
export interface Line {
  readonly type: string;
  readonly uuid?: string;
  readonly parentUuid?: string | null;
  readonly subtype?: string;
  readonly isSidechain?: boolean;
  readonly message?: { readonly id?: string; readonly content: unknown };
  readonly compactMetadata?: {
    readonly preservedSegment?: { headUuid: string; anchorUuid: string; tailUuid: string };
    readonly preservedMessages?: { anchorUuid: string; uuids: readonly string[] };
  };
}

export interface Resumed {
  /** Uuids of messages and attachments from the leaf's chain, oldest first. */
  readonly chain: readonly string[];
  /** Uuids of the chain, plus parallel calls and results that are restored beside it. */
  readonly all: ReadonlySet<string>;
  readonly leaf: Line | undefined;
  /** Ids of calls without a result, and of results without a call. */
  readonly unpaired: readonly string[];
}

export function resumedByClaudeCode(file: string): Resumed {
  const lines = file
    .split("\n")
    .filter((text) => text !== "")
    .map((text) => JSON.parse(text) as Line)
    .filter((line) => line.uuid !== undefined);
  const map = new Map(lines.map((line) => [line.uuid as string, line]));
  const kept = relink(map);
  const newest = [...map.values()].findLast((line) => line.isSidechain !== true);
  const tail = newest?.uuid === kept?.anchorUuid ? map.get(kept?.uuids.at(-1) ?? "") : undefined;
  const leaf = tail ?? newest;
  const chain = walk(map, leaf);
  const all = new Set(chain);
  for (const line of besideTheChain(map, chain)) all.add(line.uuid as string);
  const isSent = (uuid: string): boolean => /^(user|assistant|attachment)$/.test(map.get(uuid)?.type ?? "");
  const sent = [...all].filter(isSent);
  return { chain: chain.filter(isSent), all: new Set(sent), leaf, unpaired: unpaired(sent, map) };
}

const isBoundary = (line: Line): boolean => line.type === "system" && line.subtype === "compact_boundary";

/** Links the kept lines to the last boundary. Drops all other lines above that boundary. */
function relink(map: Map<string, Line>): Kept | undefined {
  const order = [...map.keys()];
  const boundary = [...map.values()].findLast(isBoundary);
  const kept = boundary && keptBy(boundary, map);
  if (boundary === undefined || kept === undefined) return undefined;
  let above = kept.anchorUuid;
  for (const uuid of kept.uuids) {
    map.set(uuid, { ...(map.get(uuid) as Line), parentUuid: above });
    above = uuid;
  }
  const [first, last] = [kept.uuids[0], kept.uuids.at(-1)];
  if (last !== undefined) {
    for (const [uuid, line] of map)
      if (line.parentUuid === kept.anchorUuid && uuid !== first) map.set(uuid, { ...line, parentUuid: last });
  }
  const dropped = new Set(order.slice(0, order.indexOf(boundary.uuid as string)));
  for (const uuid of kept.uuids) dropped.delete(uuid);
  for (const uuid of dropped) map.delete(uuid);
  for (const [uuid, line] of map) {
    const isMessage = line.type === "user" || line.type === "assistant";
    if (isMessage && last !== undefined && dropped.has(line.parentUuid ?? ""))
      map.set(uuid, { ...line, parentUuid: last });
  }
  return kept;
}

interface Kept {
  readonly anchorUuid: string;
  readonly uuids: readonly string[];
}

/** Returns undefined if a kept line is missing. Then nothing is relinked or dropped. */
function keptBy({ compactMetadata }: Line, map: ReadonlyMap<string, Line>): Kept | undefined {
  const list = compactMetadata?.preservedMessages;
  if (list !== undefined) return list.uuids.every((uuid) => map.has(uuid)) ? list : undefined;
  const segment = compactMetadata?.preservedSegment;
  if (segment === undefined) return { anchorUuid: "", uuids: [] };
  const uuids: string[] = [];
  let line = map.get(segment.tailUuid);
  while (line?.uuid !== undefined && !uuids.includes(line.uuid)) {
    uuids.unshift(line.uuid);
    if (line.uuid === segment.headUuid) return { anchorUuid: segment.anchorUuid, uuids };
    line = map.get(line.parentUuid ?? "");
  }
  return undefined;
}

function walk(map: ReadonlyMap<string, Line>, leaf: Line | undefined): readonly string[] {
  const chain: string[] = [];
  let line = leaf;
  while (line?.uuid !== undefined && !chain.includes(line.uuid)) {
    chain.unshift(line.uuid);
    line = map.get(line.parentUuid ?? "");
  }
  return chain;
}

/** Returns the other lines of the same responses, and the results of their calls. */
function besideTheChain(map: ReadonlyMap<string, Line>, chain: readonly string[]): readonly Line[] {
  const lines = [...map.values()].filter((line) => line.isSidechain !== true);
  const ids = new Set(chain.flatMap((uuid) => map.get(uuid)?.message?.id ?? []));
  const siblings = lines.filter((line) => ids.has(line.message?.id ?? ""));
  const calls = new Set(siblings.flatMap((line) => idsIn(line, "tool_use", "id")));
  const results = lines.filter((line) =>
    idsIn(line, "tool_result", "tool_use_id").some((id) => calls.has(id)),
  );
  return [...siblings, ...results];
}

function unpaired(uuids: readonly string[], map: ReadonlyMap<string, Line>): readonly string[] {
  const lines = uuids.flatMap((uuid) => map.get(uuid) ?? []);
  const calls = lines.flatMap((line) => idsIn(line, "tool_use", "id"));
  const results = lines.flatMap((line) => idsIn(line, "tool_result", "tool_use_id"));
  return [
    ...calls.filter((id) => results.filter((result) => result === id).length !== 1),
    ...results.filter((id) => calls.filter((call) => call === id).length !== 1),
  ];
}

function idsIn(line: Line, type: string, field: string): readonly string[] {
  const content = line.message?.content;
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: Record<string, unknown>) =>
    block.type === type ? String(block[field]) : [],
  );
}
