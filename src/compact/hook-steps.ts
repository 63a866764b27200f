import type { Entry } from "../conversation/entry.ts";
import { stringField } from "../conversation/untrusted.ts";
import { LonghaulError } from "../errors.ts";
import type {
  HookEvent,
  HookInput,
  HookOutcome,
  HookRun,
  HookRunner,
  HookRunOptions,
} from "../hooks/hook.ts";
import type { Abortable } from "../models/abortable.ts";

/**
 * Facts about the session for every hook. An absent session id is taken from the newest entry. The folder never is:
 * hooks run in it, and an entry can claim any folder.
 */
export interface HookContext {
  readonly sessionId?: string | undefined;
  readonly transcriptPath?: string | undefined;
  readonly cwd?: string | undefined;
  readonly permissionMode?: string | undefined;
  readonly agentId?: string | undefined;
}

export interface HookStepsOptions {
  readonly runner: HookRunner | undefined;
  readonly onHook: ((outcome: HookOutcome) => void) | undefined;
  /** Called when hooks for an event start. What it throws is ignored. */
  readonly onStart?: ((event: HookEvent, hooks: number) => void) | undefined;
  readonly context: HookContext;
  readonly entries: readonly Entry[];
  readonly trigger: "manual" | "auto";
  readonly signal: AbortSignal | undefined;
  readonly wait: Abortable["wait"];
}

const NOTHING: HookRun = { outcomes: [], output: "" };

/** The hooks around one compaction. Only an abort or an explicit block stops it. */
export class HookSteps {
  readonly #options: HookStepsOptions;
  readonly #outcomes: HookOutcome[] = [];

  constructor(options: HookStepsOptions) {
    this.#options = options;
  }

  get outcomes(): readonly HookOutcome[] {
    return this.#outcomes;
  }

  /** What the summary is to look after: the user's words, then those of the hooks. */
  async preCompact(instructions: string | undefined): Promise<string | undefined> {
    const { output, blocked } = await this.#run("PreCompact", {
      trigger: this.#options.trigger,
      custom_instructions: instructions ?? null,
    });
    if (blocked !== undefined) throw blockedBy(blocked);
    const merged = [instructions?.trim(), output.trim()].filter(Boolean).join("\n\n");
    return merged === "" ? undefined : merged;
  }

  /** What the hooks have to say to the agent that goes on; "" where they said nothing. */
  async sessionStart(): Promise<string> {
    return (await this.#run("SessionStart", { source: "compact" })).output.trim();
  }

  async postCompact(summary: string): Promise<void> {
    await this.#run("PostCompact", { trigger: this.#options.trigger, compact_summary: summary });
  }

  async #run(event: HookEvent, facts: Partial<HookInput>): Promise<HookRun> {
    const { runner, signal, wait } = this.#options;
    if (runner === undefined) return NOTHING;
    const input = { ...this.#session(), hook_event_name: event, ...facts };
    const onStart = (hooks: number): void => this.#started(event, hooks);
    const run = await wait(attempt(runner, input, { signal, onStart }));
    for (const outcome of run.outcomes) this.#note(outcome);
    return run;
  }

  #started(event: HookEvent, hooks: number): void {
    try {
      this.#options.onStart?.(event, hooks);
    } catch {
      // A progress display must not stop a compaction.
    }
  }

  #note(outcome: HookOutcome): void {
    this.#outcomes.push(outcome);
    try {
      this.#options.onHook?.(outcome);
    } catch {
      // The host's own screen is no reason to stop.
    }
  }

  #session(): Omit<HookInput, "hook_event_name"> {
    const { context, entries } = this.#options;
    const newest = entries.findLast((entry) => entry.uuid !== undefined);
    return {
      session_id: context.sessionId ?? stringField(newest, "sessionId") ?? "",
      transcript_path: context.transcriptPath ?? "",
      cwd: context.cwd ?? "",
      ...(context.permissionMode === undefined ? {} : { permission_mode: context.permissionMode }),
      ...(context.agentId === undefined ? {} : { agent_id: context.agentId }),
    };
  }
}

/** A runner of the host's own may throw against its contract; that is one more hook that failed. */
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
    `The hook ${by} stopped the compaction${reason === "" ? "." : `: ${reason}`}`,
    {
      remedy: "Nothing was changed. Do what the hook asks for, or take it out of the settings.",
      facts: { hook: by },
    },
  );
}
