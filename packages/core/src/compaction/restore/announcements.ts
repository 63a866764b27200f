import { type Attachment, isEntry } from "../../messages/entry.ts";
import { firstString, listField, stringField } from "../../messages/untrusted.ts";
import type { McpInstructions } from "./host-state.ts";
import {
  type Fit,
  firstOfEach,
  fitEach,
  type Gather,
  type Gathering,
  hostOr,
  type RestoredItem,
  readList,
  restoredItem,
  skipping,
} from "./restored.ts";

/**
 * Field names of an announcement. Agents announce how tools, agent types and servers changed since the
 * previous announcement.
 */
interface Delta {
  readonly type: string;
  readonly added: string;
  /**
   * Name of the field with the text for each added name. The text is a line, a text block or only the name.
   */
  readonly words: string;
  readonly removed: string;
  /**
   * Name of the field that lists names that were removed and are back. The field does not contain their text.
   */
  readonly readded?: string;
  /** Other fields of a full announcement. */
  readonly others?: Readonly<Record<string, unknown>>;
}

const TOOLS: Delta = {
  type: "deferred_tools_delta",
  added: "addedNames",
  words: "addedLines",
  removed: "removedNames",
  readded: "readdedNames",
  others: { readdedNames: [] },
};
const AGENT_TYPES: Delta = {
  type: "agent_listing_delta",
  added: "addedTypes",
  words: "addedLines",
  removed: "removedTypes",
  others: { isInitial: true, showConcurrencyNote: false },
};
const MCP: Delta = {
  type: "mcp_instructions_delta",
  added: "addedNames",
  words: "addedBlocks",
  removed: "removedNames",
};

type Announced = ReadonlyMap<string, string>;

/**
 * Announces the whole tool set again. If the host does not provide the tools, reads both tools and agent
 * types from the agent's own announcements. If the lines do not fit, announces only the names.
 */
export async function gatherTools(gathering: Gathering): Promise<Fit> {
  const { input, state, ask } = gathering;
  const answer = await ask(state, "tools");
  if (answer.state === "unanswered") return () => skipping("tools", answer.reason);
  const forms = (name: string, delta: Delta, announced: Announced): readonly (() => RestoredItem)[] => {
    const names = [...announced.keys()];
    if (names.length === 0) return [];
    return [[...announced.values()], names].map((lines, nth) => {
      const attachment = announcement(delta, names, lines);
      return () => restoredItem("tools", name, attachment, input.countTokens, nth > 0);
    });
  };
  if (answer.state === "answered") {
    const { values, skipped } = readList("tools", answer.value, readLine);
    const lines = new Map(firstOfEach(values, nameIn).map((line) => [nameIn(line), line]));
    return (budgetTokens) => fitEach([forms("tools", TOOLS, lines)], budgetTokens, skipped);
  }
  const tools = forms("tools", TOOLS, announcedIn(gathering, TOOLS));
  const agents = forms("agent types", AGENT_TYPES, announcedIn(gathering, AGENT_TYPES));
  return (budgetTokens) => fitEach([tools, agents], budgetTokens);
}

const announcement = (delta: Delta, names: readonly string[], words: readonly string[]): Attachment => ({
  type: delta.type,
  [delta.added]: names,
  [delta.words]: words,
  [delta.removed]: [],
  ...delta.others,
});

const readLine = (item: unknown): string | undefined =>
  typeof item === "string" && item.trim() !== "" ? item.trim() : undefined;

/** Returns the name in a line. The line may be a bare name, `name: description` or a list item. */
const nameIn = (line: string): string => /^(?:[-*]\s+)?(\S+?):?(?=\s|$)/.exec(line)?.[1] ?? line;

/**
 * Restores the instructions of MCP servers. Each server has a separate item, so that long instructions of one
 * server do not affect the others.
 */
export const gatherMcpInstructions: Gather = hostOr(
  "mcp-instructions",
  "mcpInstructions",
  (gathering) => [...announcedIn(gathering, MCP)].map(([server, text]) => ({ server, text })),
  (list, { input }) => {
    const { values, skipped } = readList("mcp-instructions", list, readInstructions);
    const forms = firstOfEach(values, ({ server }) => server).map(({ server, text }) => {
      const block = text.startsWith("## ") ? text : `## ${server}\n${text}`;
      const attachment = announcement(MCP, [server], [block]);
      return [() => restoredItem("mcp-instructions", server, attachment, input.countTokens)];
    });
    return (budgetTokens) => fitEach(forms, budgetTokens, skipped);
  },
);

function readInstructions(item: unknown): McpInstructions | undefined {
  const server = firstString(item, "server");
  const text = firstString(item, "text");
  return server === undefined || text === undefined || text.trim() === "" ? undefined : { server, text };
}

/**
 * Returns all names announced so far with their texts, in order. If kept messages contain all announcements,
 * returns nothing.
 */
function announcedIn({ input, events }: Gathering, { type, ...fields }: Delta): Announced {
  const announced = new Map<string, string>();
  const isLost = input.summarized.some(
    (entry) =>
      isEntry(entry) && entry.type === "attachment" && stringField(entry.attachment, "type") === type,
  );
  if (!isLost) return announced;
  for (const event of events) {
    if (event.what !== "attachment" || event.type !== type) continue;
    const names = (field: string): readonly unknown[] => listField(event.attachment, field);
    const words = names(fields.words);
    for (const [index, name] of names(fields.added).entries()) {
      const said = words[index];
      if (typeof name === "string") announced.set(name, typeof said === "string" ? said : name);
    }
    for (const name of names(fields.removed)) if (typeof name === "string") announced.delete(name);
    for (const name of fields.readded === undefined ? [] : names(fields.readded))
      if (typeof name === "string") announced.set(name, announced.get(name) ?? name);
  }
  return announced;
}
