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

/** Restores only the path of the notes. The agent reads them when it needs more than the summary. */
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
 * Kinds of content in the order of precedence. The result has the same order. If room is scarce, files and
 * skills are dropped first, because the agent can read them again. Nothing else tells the agent about the
 * other kinds.
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
  /** Time limit for one answer of the host, 10 seconds by default. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Restores content after a compaction, within one budget. A budget of 0 restores nothing. Content that a kept
 * message already shows verbatim is skipped. The promise never rejects. Anything that fails, hangs or is
 * invalid is skipped with its reason. If the signal fires, everything still missing is skipped in the same
 * way. Callers check the signal themselves.
 */
export async function restoreAll(
  input: RestoreInput,
  state: HostState,
  options: RestoreOptions = {},
): Promise<Restored> {
  // This comparison is also false if the budget is not a number.
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
 * Returns the texts in kept messages that neither users nor models wrote, such as restored content. Some
 * agents read restored content as messages, not as attachments.
 */
function textsShownIn(kept: readonly Entry[]): ReadonlySet<string> {
  const texts = kept.filter(isEntry).map((entry) => {
    if (entry.type === "attachment") return contentText(sentContent(entry));
    return entry.type === "user" && entry.isMeta === true ? textOf(entry) : "";
  });
  return new Set(texts.filter((text) => text !== ""));
}

/** Returns the entries in their original order. The newest entry decides the state of a session. */
function inOrder({ summarized, kept, keptPlace }: RestoreInput): readonly Entry[] {
  const parts = keptPlace === "before" ? [kept, summarized] : [summarized, kept];
  return parts.flat().filter(isEntry);
}

/** Gathers one kind of content. A failure to request or to fit this content never affects other kinds. */
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

/** State of a session as its conversation shows it. */
export interface ReportedState {
  readonly todos: readonly Todo[];
  readonly isPlanMode: boolean;
  /** Used skills, the newest first. */
  readonly skills: readonly UsedSkill[];
  /** Agents that were launched and have not reported since. Also agents that ended without a result. */
  readonly agents: readonly BackgroundAgent[];
}

/** Reads the host state of a session from its calls and attachments, for hosts that resume it. */
export function readHostState(conversation: readonly Entry[]): ReportedState {
  const events = sessionEvents(conversation);
  return {
    todos: todosIn(events),
    isPlanMode: isPlanModeIn(events),
    skills: skillsIn(events),
    agents: agentsIn(events),
  };
}
