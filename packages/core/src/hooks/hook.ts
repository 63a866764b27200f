/** Events that run hooks, with Claude Code's names. */
export type HookEvent = "PreCompact" | "PostCompact" | "SessionStart";

export const HOOK_EVENTS: readonly HookEvent[] = ["PreCompact", "PostCompact", "SessionStart"];

/** Input of every hook, as JSON on standard input or as an argument. */
export interface HookInput {
  readonly hook_event_name: HookEvent;
  readonly session_id: string;
  readonly transcript_path: string;
  readonly cwd: string;
  readonly permission_mode?: string;
  readonly agent_id?: string;
  /** Set for PreCompact and PostCompact. */
  readonly trigger?: "manual" | "auto";
  /** Set for PreCompact: the user's instructions for the summary. */
  readonly custom_instructions?: string | null;
  /** Set for PostCompact. */
  readonly compact_summary?: string;
  /** Set for SessionStart. */
  readonly source?: "startup" | "resume" | "clear" | "compact";
}

/** Result of one hook. `text` is for the user and may contain the hook's output. */
export interface HookOutcome {
  readonly event: HookEvent;
  /** The command, prompt or function name, shortened. */
  readonly name: string;
  readonly kind: "command" | "prompt" | "agent" | "callback" | "function";
  readonly state: "completed" | "failed" | "timed-out" | "blocked" | "aborted";
  readonly text: string;
  readonly durationMs: number;
}

export interface HookRun {
  readonly outcomes: readonly HookOutcome[];
  /**
   * Trimmed output of the hooks that succeeded, separated by blank lines. Empty if no hook printed anything.
   */
  readonly output: string;
  /** Set if a hook blocked the compaction. Only a PreCompact hook can do that. */
  readonly blocked?: { readonly by: string; readonly reason: string };
}

export interface HookRunOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called right before the hooks start, with their number. Not called if the event has no hooks. */
  readonly onStart?: ((hooks: number) => void) | undefined;
}

/** Runs all hooks of an event in parallel. Never throws: it reports an abort as an outcome. */
export interface HookRunner {
  /**
   * Time limit of one run in milliseconds, 30,000 by default. A longer run counts as a hook that timed out.
   */
  readonly timeoutMs?: number | undefined;
  run(input: HookInput, options?: HookRunOptions): Promise<HookRun>;
}

/** A shell command of the user, with everything it needs to run. */
export interface CommandRequest {
  readonly command: string;
  /** Text for the command's standard input. */
  readonly input: string;
  /** Working directory. "" means the directory of this process. */
  readonly cwd: string;
  /** Variables to add to the environment of this process. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends the command and all its child processes. */
  readonly signal: AbortSignal;
  /** Shell that runs the command. The default is the system's shell. */
  readonly shell?: string | undefined;
  /**
   * Returns true if the runner need not wait for the command. The runner calls this function with "" at the
   * start, then with the first line of output. The signal still ends a command in the background, but this
   * process may exit first.
   */
  readonly runsInBackground?: ((firstLine: string) => boolean) | undefined;
}

export type CommandResult =
  | {
      readonly state: "exited";
      /** Null if a signal ended the command. */
      readonly exitCode: number | null;
      readonly stdout: string;
      readonly stderr: string;
    }
  | { readonly state: "in-background" }
  /** The signal of the request ended the command and all its child processes. */
  | { readonly state: "ended" }
  | { readonly state: "not-started"; readonly reason: string };

/**
 * Runs a shell command. Never rejects. Drops output beyond the limit as it arrives, so that memory use stays
 * bounded.
 */
export type RunCommand = (request: CommandRequest) => Promise<CommandResult>;
