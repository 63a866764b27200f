/** A shell command of the user's, with everything it needs. */
export interface CommandRequest {
  readonly command: string;
  /** Written to its standard input. */
  readonly input: string;
  /** Where it runs; "" is the folder of this process. */
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
