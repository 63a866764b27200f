import type { Attachment } from "../conversation/entry.ts";
import { announcedIn, isAnnouncedIn } from "./announced.ts";
import type { Happening } from "./happenings.ts";
import { type Fit, firstOfEach, fitEach, type Gathering, readList, restoredItem, skipping } from "./kind.ts";
import type { RestoredItem } from "./restored.ts";

const TOOLS_DELTA = "deferred_tools_delta";
const AGENTS_DELTA = "agent_listing_delta";

/**
 * The whole tool set, announced again. Where the host says nothing it is read from the agent's own
 * announcements, and the kinds of agents it may start likewise. Where the lines do not fit, the names go in.
 */
export async function gatherTools({ input, state, ask, happenings }: Gathering): Promise<Fit> {
  const answer = await ask(state, "tools");
  if (answer.state === "unanswered") return () => skipping("tools", answer.reason);
  const lost = (type: string): boolean => isAnnouncedIn(input.summarised, type);
  const item =
    (name: string, attachment: Attachment, isTruncated = false): (() => RestoredItem) =>
    () =>
      restoredItem("tools", name, attachment, input.countTokens, isTruncated);
  const forms = (
    name: string,
    announced: ReadonlyMap<string, string>,
    attach: (names: string[], lines: string[]) => Attachment,
  ) => {
    const names = [...announced.keys()];
    const lines = [...announced.values()];
    if (names.length === 0) return [];
    return [item(name, attach(names, lines)), item(name, attach(names, names), true)];
  };
  if (answer.state === "answered") {
    const { values, skipped } = readList("tools", answer.value, readLine);
    const lines = new Map(firstOfEach(values, nameIn).map((line) => [nameIn(line), line]));
    return (budgetTokens) => fitEach([forms("tools", lines, toolsDelta)], budgetTokens, skipped);
  }
  const tools = lost(TOOLS_DELTA) ? toolsIn(happenings) : new Map<string, string>();
  const agents = lost(AGENTS_DELTA) ? agentTypesIn(happenings) : new Map<string, string>();
  return (budgetTokens) =>
    fitEach([forms("tools", tools, toolsDelta), forms("agent types", agents, agentsDelta)], budgetTokens);
}

const toolsDelta = (addedNames: string[], addedLines: string[]): Attachment => ({
  type: TOOLS_DELTA,
  addedNames,
  addedLines,
  removedNames: [],
  readdedNames: [],
});

const agentsDelta = (addedTypes: string[], addedLines: string[]): Attachment => ({
  type: AGENTS_DELTA,
  addedTypes,
  addedLines,
  removedTypes: [],
  isInitial: true,
  showConcurrencyNote: false,
});

const readLine = (item: unknown): string | undefined =>
  typeof item === "string" && item.trim() !== "" ? item.trim() : undefined;

/** A line may be a bare name, `name: what it does` or an item of a list. */
const nameIn = (line: string): string => /^(?:[-*]\s+)?(\S+?):?(?=\s|$)/.exec(line)?.[1] ?? line;

function toolsIn(happenings: Iterable<Happening>): ReadonlyMap<string, string> {
  return announcedIn(happenings, TOOLS_DELTA, {
    added: "addedNames",
    words: "addedLines",
    removed: "removedNames",
    readded: "readdedNames",
  });
}

function agentTypesIn(happenings: Iterable<Happening>): ReadonlyMap<string, string> {
  return announcedIn(happenings, AGENTS_DELTA, {
    added: "addedTypes",
    words: "addedLines",
    removed: "removedTypes",
  });
}
