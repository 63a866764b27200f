/** Events that hooks are called at, as Claude Code names them. */
export type HookEvent = "PreCompact" | "PostCompact" | "SessionStart";

export const HOOK_EVENTS: readonly HookEvent[] = ["PreCompact", "PostCompact", "SessionStart"];

/** Facts that every hook gets, as JSON on standard input or as an argument. */
export interface HookInput {
  readonly hook_event_name: HookEvent;
  readonly session_id: string;
  readonly transcript_path: string;
  readonly cwd: string;
  readonly permission_mode?: string;
  readonly agent_id?: string;
  /** PreCompact and PostCompact. */
  readonly trigger?: "manual" | "auto";
  /** PreCompact: what the user asked the summary to look after. */
  readonly custom_instructions?: string | null;
  /** PostCompact. */
  readonly compact_summary?: string;
  /** SessionStart. */
  readonly source?: "startup" | "resume" | "clear" | "compact";
}

/** End of one hook. `text` is for the person at the screen; it may hold what the hook printed. */
export interface HookOutcome {
  readonly event: HookEvent;
  /** The command, the prompt or the function, shortened. */
  readonly name: string;
  readonly kind: "command" | "prompt" | "agent" | "callback" | "function";
  readonly state: "completed" | "failed" | "timed-out" | "blocked" | "aborted";
  readonly text: string;
  readonly durationMs: number;
}

export interface HookRun {
  readonly outcomes: readonly HookOutcome[];
  /** Output of the hooks that succeeded, trimmed, with an empty line between; "" when nothing was said. */
  readonly output: string;
  /** A hook that explicitly stops what was about to happen. Only PreCompact can be blocked. */
  readonly blocked?: { readonly by: string; readonly reason: string };
}

export interface HookRunOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called right before the hooks start, with their number. Not called where none is configured for the event. */
  readonly onStart?: ((hooks: number) => void) | undefined;
}

/** Runs whatever is configured for an event, all at once. Never throws, but for an abort it reports as such. */
export interface HookRunner {
  /** Milliseconds for one run, 30,000 by default. A longer run counts as a hook that timed out. */
  readonly timeoutMs?: number | undefined;
  run(input: HookInput, options?: HookRunOptions): Promise<HookRun>;
}

/** A shell command of the user's, with everything it needs. */
export interface CommandRequest {
  readonly command: string;
  /** Written to its standard input. */
  readonly input: string;
  /** The folder in which it runs; "" is that of this process. */
  readonly cwd: string;
  /** Added to the environment of this process. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends it, with everything that it started. */
  readonly signal: AbortSignal;
  /** The system's own shell unless given. */
  readonly shell?: string | undefined;
  /**
   * Asked at the start, with "", and with the first line of output: true when nobody needs to wait for the
   * rest. The signal still ends the command then, but this process may end before it.
   */
  readonly goesOnAlone?: ((firstLine: string) => boolean) | undefined;
}

export type CommandResult =
  | {
      readonly state: "exited";
      /** Null where a signal ended it. */
      readonly exitCode: number | null;
      readonly stdout: string;
      readonly stderr: string;
    }
  | { readonly state: "goes-on-alone" }
  /** By our signal, with everything that it started. */
  | { readonly state: "ended" }
  | { readonly state: "not-started"; readonly reason: string };

/** Never rejects. Output beyond what anybody reads is dropped as it comes, and never fills the memory. */
export type RunCommand = (request: CommandRequest) => Promise<CommandResult>;
