import type {
  HookEvent,
  HookInput,
  HookOutcome,
  HookRun,
  HookRunner,
  HookRunOptions,
} from "../hooks/hook.ts";
import { withRunLimit } from "../hooks/run-limit.ts";
import { headThatFits, mayFit } from "../measure/tokens/fitting-head.ts";
import { type CountText, measureContent } from "../measure/tokens/measure.ts";
import type { Attachment } from "../messages/entry.ts";
import { LonghaulError } from "../messages/errors.ts";
import { stringField } from "../messages/untrusted.ts";
import { untilAborted } from "../models/abortable.ts";
import { attachmentContent } from "../request/flatten/attachment-content.ts";
import type { CompactionPlan } from "./plan/compaction-plan.ts";
import type { SkippedItem } from "./restore/restored.ts";
import type { ContinuationInput } from "./summary/summary-message.ts";
import type { AskOptions } from "./write/ask-model.ts";

/**
 * Facts about the session for every hook. If the session id is absent, it is taken from the newest entry. The
 * folder never comes from an entry, because hooks run in that folder and an entry can name any folder.
 */
export interface HookContext {
  readonly sessionId?: string | undefined;
  readonly transcriptPath?: string | undefined;
  readonly cwd?: string | undefined;
  readonly permissionMode?: string | undefined;
  readonly agentId?: string | undefined;
}

/** Options for the hooks of a compaction. */
export interface HookOptions
  extends Pick<AskOptions, "signal" | "onProgress">,
    Pick<ContinuationInput, "transcriptPath"> {
  readonly hooks?: HookRunner | undefined;
  readonly hookContext?: HookContext | undefined;
  /** Called after each hook. Errors of this callback are ignored. */
  readonly onHook?: ((outcome: HookOutcome) => void) | undefined;
}

/** Creates the hooks around the compaction of this plan. No hook runs longer than its time limit. */
export function hookSteps(plan: HookedPlan, options: HookOptions): HookSteps {
  const { hooks } = options;
  return new HookSteps(plan, { ...options, hooks: hooks && withRunLimit(hooks) });
}

type HookedPlan = Pick<CompactionPlan, "entries" | "trigger">;

const NOTHING: HookRun = { outcomes: [], output: "" };

/** Hooks around one compaction. Only an abort or an explicit block stops the compaction. */
export class HookSteps {
  readonly #plan: HookedPlan;
  readonly #options: HookOptions;
  readonly #outcomes: HookOutcome[] = [];

  constructor(plan: HookedPlan, options: HookOptions) {
    this.#plan = plan;
    this.#options = options;
  }

  get outcomes(): readonly HookOutcome[] {
    return this.#outcomes;
  }

  /** Returns instructions for the summary: the user's words, then the output of the hooks. */
  async preCompact(instructions: string | undefined): Promise<string | undefined> {
    const { output, blocked } = await this.#run("PreCompact", {
      trigger: this.#plan.trigger,
      custom_instructions: instructions ?? null,
    });
    if (blocked !== undefined) throw blockedBy(blocked);
    const merged = [instructions?.trim(), output.trim()].filter(Boolean).join("\n\n");
    return merged === "" ? undefined : merged;
  }

  /** Returns the hook output for the agent that continues, or "" if there is none. */
  async sessionStart(): Promise<string> {
    return (await this.#run("SessionStart", { source: "compact" })).output.trim();
  }

  async postCompact(summary: string): Promise<void> {
    await this.#run("PostCompact", { trigger: this.#plan.trigger, compact_summary: summary });
  }

  async #run(event: HookEvent, facts: Partial<HookInput>): Promise<HookRun> {
    const { hooks, signal, onProgress, onHook } = this.#options;
    if (hooks === undefined) return NOTHING;
    const input = { ...this.#session(), hook_event_name: event, ...facts };
    const onStart = (count: number): void =>
      ignoringFailures(() => onProgress?.({ phase: "hooks", event, hooks: count }));
    const run = await untilAborted(signal, attempt(hooks, input, { signal, onStart }));
    for (const outcome of run.outcomes) {
      this.#outcomes.push(outcome);
      ignoringFailures(() => onHook?.(outcome));
    }
    return run;
  }

  #session(): Omit<HookInput, "hook_event_name"> {
    const { hookContext: context = {}, transcriptPath = "" } = this.#options;
    const newest = this.#plan.entries.findLast((entry) => entry.uuid !== undefined);
    return {
      session_id: context.sessionId ?? stringField(newest, "sessionId") ?? "",
      transcript_path: context.transcriptPath ?? transcriptPath,
      cwd: context.cwd ?? "",
      ...(context.permissionMode === undefined ? {} : { permission_mode: context.permissionMode }),
      ...(context.agentId === undefined ? {} : { agent_id: context.agentId }),
    };
  }
}

/** Ignores errors of the host's display, which must not stop a compaction. */
function ignoringFailures(show: () => void): void {
  try {
    show();
  } catch {}
}

/** Runs hooks. If a host's own runner throws, the error counts as one more failed hook. */
async function attempt(runner: HookRunner, input: HookInput, options: HookRunOptions): Promise<HookRun> {
  try {
    return await runner.run(input, options);
  } catch (error) {
    const outcome: HookOutcome = {
      event: input.hook_event_name,
      name: "hooks",
      kind: "function",
      state: "failed",
      text: error instanceof Error ? error.message : String(error),
      durationMs: 0,
    };
    return { outcomes: [outcome], output: "" };
  }
}

function blockedBy({ by, reason }: NonNullable<HookRun["blocked"]>): LonghaulError {
  return new LonghaulError(
    "compaction-blocked",
    reason === ""
      ? `The hook ${by} blocked the compaction.`
      : `The hook ${by} blocked the compaction: ${reason}`,
    {
      remedy: "Nothing was changed. Do what the hook requires, or remove the hook from the settings.",
      facts: { hook: by },
    },
  );
}

/** Output of SessionStart hooks for the agent, cut to the available tokens. */
export interface HookOutput {
  /** Undefined if there is no output or none of it fits. */
  readonly attachment: Attachment | undefined;
  /** Tokens of the attachment as it is sent, including the text around it. */
  readonly tokens: number;
  /** Parts that were left out, for the report. */
  readonly skipped: readonly SkippedItem[];
}

const CUT_NOTE = "[The rest was left out because it did not fit.]";

/**
 * Cuts the hook output to the available tokens. A host's own runner may return very long output, and a window
 * may be small.
 */
export function fitHookOutput(output: string, roomTokens: number, countTokens: CountText): HookOutput {
  if (output === "") return { attachment: undefined, tokens: 0, skipped: [] };
  if (mayFit(output, roomTokens)) {
    const whole = attached(output, countTokens);
    if (whole.tokens <= roomTokens) return { ...whole, skipped: [] };
  }
  const cut = (head: string) => attached(`${head.trimEnd()}\n\n${CUT_NOTE}`, countTokens);
  const head = headThatFits(output, roomTokens, (text) => cut(text).tokens <= roomTokens);
  const shown = head === "" ? { attachment: undefined, tokens: 0 } : cut(head);
  return { ...shown, skipped: [{ kind: "hook-output", name: "SessionStart", reason: "over-budget" }] };
}

/** Creates the attachment in the form in which Claude Code writes hook output. */
function attached(text: string, countTokens: CountText): Pick<HookOutput, "attachment" | "tokens"> {
  const attachment = {
    type: "hook_additional_context",
    content: [text],
    hookName: "SessionStart:compact",
    hookEvent: "SessionStart",
  };
  return { attachment, tokens: measureContent(attachmentContent(attachment), countTokens) };
}
