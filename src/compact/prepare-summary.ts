import type { HookOutcome } from "../hooks/hook.ts";
import { withRunLimit } from "../hooks/runner.ts";
import type { NotesDecline } from "../memory/notes/notes.ts";
import { type Abortable, abortableBy, throwIfAborted } from "../models/abortable.ts";
import type { NotesSource } from "../summary/chain.ts";
import { withoutQuotedFacts } from "../summary/facts/section.ts";
import type { CompactOptions } from "./compact-options.ts";
import { HookSteps, type HookStepsOptions } from "./hook-steps.ts";
import type { CompactionPlan } from "./plan.ts";
import { type WrittenSummary, writeSummary } from "./write-summary.ts";

/** A summary that is written, and nothing has changed yet: it can be used at once or later. */
export interface PreparedSummary {
  readonly written: WrittenSummary;
  /** Of the hooks that were asked before it. */
  readonly hookOutcomes: readonly HookOutcome[];
  /** What it was to look after: the user's words, then those of the hooks. */
  readonly instructions: string | undefined;
}

/** The slow part of a compaction: hooks are asked, and somebody writes the summary. */
export async function prepareSummary(
  plan: CompactionPlan,
  options: CompactOptions,
): Promise<PreparedSummary> {
  const { wait, release } = abortableBy(options.signal);
  try {
    throwIfAborted(options.signal);
    const hooks = hookSteps(plan, options, wait);
    const instructions = await hooks.preCompact(options.instructions);
    const notes = notesFor(instructions, options);
    const written = await wait(writeSummary(plan, { ...options, instructions, notes }));
    return { written: withoutForgery(written), hookOutcomes: hooks.outcomes, instructions };
  } finally {
    release();
  }
}

export function hookSteps(plan: CompactionPlan, options: CompactOptions, wait: Abortable["wait"]): HookSteps {
  const { hooks, onHook, onProgress, signal, transcriptPath, hookContext } = options;
  const onStart: HookStepsOptions["onStart"] = (event, hooks) =>
    onProgress?.({ phase: "hooks", event, hooks });
  const context = { ...hookContext, transcriptPath: hookContext?.transcriptPath ?? transcriptPath };
  const { entries, trigger } = plan;
  const runner = hooks && withRunLimit(hooks);
  return new HookSteps({ runner, onHook, onStart, context, entries, trigger, signal, wait });
}

/** Only we quote what was said: a section that claims to, copied or made up by whoever wrote, would pass for ours. */
function withoutForgery(written: WrittenSummary): WrittenSummary {
  // Signed by the provider: any other byte would be refused.
  if (written.source === "provider") return written;
  const text = withoutQuotedFacts(written.text);
  return text === written.text ? written : { ...written, text };
}

/** Notes know nothing of what is asked for now: then somebody has to write. */
function notesFor(instructions: string | undefined, options: CompactOptions): NotesSource | undefined {
  const { notes } = options;
  return notes && { ...notes, unavailable: whyNotTheNotes(notes, instructions, options) };
}

function whyNotTheNotes(
  notes: NotesSource,
  instructions: string | undefined,
  options: CompactOptions,
): NotesDecline | undefined {
  if (notes.text.trim() === "") return "only-template";
  const [known, asked] = [notes.instructions, options.instructions].map((text) => text?.trim() || undefined);
  if (asked !== undefined && asked !== known) return "instructions";
  return instructions === asked ? undefined : "hook-instructions";
}
