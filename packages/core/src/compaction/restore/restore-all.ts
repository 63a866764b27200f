import { type Entry, isEntry } from "../../messages/entry.ts";
import { indexPairs } from "../../messages/pairs.ts";
import type { Todo } from "../../messages/todo-ledger.ts";
import { contentText } from "../../messages/untrusted.ts";
import { attachmentContent, sentContent } from "../../request/flatten/attachment-content.ts";
import { gatherMcpInstructions, gatherTools } from "./announcements.ts";
import { asker } from "./ask-host.ts";
import type { BackgroundAgent, HostState, UsedSkill } from "./host-state.ts";
import { sessionEvents, textOf } from "./read-state.ts";
import { gatherFiles, gatherMemoryFiles } from "./recent-files.ts";
import {
  type Fit,
  fitEach,
  type Gather,
  type Gathering,
  hostOr,
  NOTHING,
  type Restored,
  type RestoredItem,
  type RestoreInput,
  type RestoreKind,
  restoredItem,
  restoredTokens,
  type SkippedItem,
  skipping,
} from "./restored.ts";
import {
  agentsIn,
  gatherAgents,
  gatherPlan,
  gatherPlanMode,
  gatherSkills,
  gatherTodos,
  isPlanModeIn,
  skillsIn,
  todosIn,
} from "./work-state.ts";

/** Only where the notes are: the agent reads them when it needs more than the summary says. */
const gatherSessionMemory: Gather = hostOr(
  "session-memory",
  "sessionMemory",
  () => undefined,
  (path, { input }) => {
    if (path === undefined || path === null || path === "") return () => NOTHING;
    if (typeof path !== "string") return () => skipping("session-memory", "invalid");
    const pointer = { type: "session_memory", path };
    const form = () => restoredItem("session-memory", path, pointer, input.countTokens);
    return (budgetTokens) => fitEach([[form]], budgetTokens);
  },
);

/**
 * The first have the first claim to what room there is, and the order is that of the result. Where there is
 * little, files and skills give way: the agent can read them again, while nobody would tell it of the rest.
 */
const KINDS: readonly (readonly [RestoreKind, Gather])[] = [
  ["todos", gatherTodos],
  ["plan", gatherPlan],
  ["plan-mode", gatherPlanMode],
  ["agents", gatherAgents],
  ["tools", gatherTools],
  ["mcp-instructions", gatherMcpInstructions],
  ["session-memory", gatherSessionMemory],
  ["memory-files", gatherMemoryFiles],
  ["files", gatherFiles],
  ["skills", gatherSkills],
];

export interface RestoreOptions {
  /** How long the host may take for one answer; 10 seconds unless given. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Everything that is put back after a compaction, within one budget; a budget of 0 puts nothing back. Nothing is put
 * back that a kept message shows word for word, as after an earlier compaction. Never
 * rejects: what fails, hangs or makes no sense is skipped with its reason, and so is all that is not there
 * yet when the signal fires. Callers who stop at the signal look at it themselves.
 */
export async function restoreAll(
  input: RestoreInput,
  state: HostState,
  options: RestoreOptions = {},
): Promise<Restored> {
  // Also false for what is no number.
  if (!(input.budgetTokens > 0)) return NOTHING;
  const entries = input.conversation?.entries ?? inOrder(input);
  const pairs = input.conversation?.pairs ?? indexPairs(entries);
  const gathering: Gathering = {
    input,
    state,
    ask: asker({ timeoutMs: options.timeoutMs, signal: input.signal }),
    entries,
    pairs,
    events: sessionEvents(entries, pairs),
  };
  const fits = await Promise.all(KINDS.map(([kind, gather]) => gatherSafely(kind, gather, gathering)));

  const items: RestoredItem[] = [];
  const skipped: SkippedItem[] = [];
  const shown = textsShownIn(input.kept);
  let left = input.budgetTokens;
  for (const fitInto of fits) {
    const fitted = fitInto(left);
    const isShown = ({ attachment }: RestoredItem): boolean =>
      shown.has(contentText(attachmentContent(attachment)));
    const missing = fitted.items.filter((item) => !isShown(item));
    items.push(...missing);
    skipped.push(...fitted.skipped);
    left -= restoredTokens({ ...fitted, items: missing });
  }
  return { items, skipped };
}

/**
 * The texts that kept messages show besides what people and models wrote, such as what an earlier compaction put back.
 * Some agents read those as messages, not as attachments.
 */
function textsShownIn(kept: readonly Entry[]): ReadonlySet<string> {
  const texts = kept.filter(isEntry).map((entry) => {
    if (entry.type === "attachment") return contentText(sentContent(entry));
    return entry.type === "user" && entry.isMeta === true ? textOf(entry) : "";
  });
  return new Set(texts.filter((text) => text !== ""));
}

/** As it happened: what is true of a session is what was said last. */
function inOrder({ summarized, kept, keptPlace }: RestoreInput): readonly Entry[] {
  const parts = keptPlace === "before" ? [kept, summarized] : [summarized, kept];
  return parts.flat().filter(isEntry);
}

/** One kind's failure is its own: neither its asking nor its fitting can stop the others. */
async function gatherSafely(kind: RestoreKind, gather: Gather, gathering: Gathering): Promise<Fit> {
  const failed: Fit = () => skipping(kind, "failed");
  try {
    const fitInto = await gather(gathering);
    return (budgetTokens) => {
      try {
        return fitInto(budgetTokens);
      } catch {
        return failed(budgetTokens);
      }
    };
  } catch {
    return failed;
  }
}

/** What a conversation itself tells of its state. */
export interface ToldState {
  readonly todos: readonly Todo[];
  readonly isPlanMode: boolean;
  /** The newest first. */
  readonly skills: readonly UsedSkill[];
  /** Launched and not heard of since, and ended without their result having been told. */
  readonly agents: readonly BackgroundAgent[];
}

/** For hosts that go on with a session: what they knew when it was left, read from its calls and attachments. */
export function readHostState(conversation: readonly Entry[]): ToldState {
  const events = sessionEvents(conversation);
  return {
    todos: todosIn(events),
    isPlanMode: isPlanModeIn(events),
    skills: skillsIn(events),
    agents: agentsIn(events),
  };
}
