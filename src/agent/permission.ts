/** Something that a tool may do only when it is allowed. */
export interface PermissionNeed {
  readonly kind: "shell" | "change" | "outside-path" | "web" | "plan" | "other";
  /** What would be done, in one line: "Run npm test". */
  readonly title: string;
  /** What to look at before deciding: the whole command, the diff, the plan. */
  readonly detail?: string;
  /**
   * What allowing it always would allow: `shell:npm test`, `path:/data/x.csv` (to look at it), `write:/data/x.csv`,
   * `web:example.org`, `change:src/a.ts`.
   * A need with the same key is not asked for again, and rules of the settings are compared with it.
   */
  readonly key: string;
  /** The key in words: "commands that begin with npm test". Without it, it is asked for each time. */
  readonly scope?: string;
}

/** `careful` also asks before files in the working directory are changed; `allow-all` never asks. */
export type PermissionMode = "default" | "careful" | "allow-all";

export interface PermissionSettings {
  readonly mode?: PermissionMode | undefined;
  /** Keys that need no question; one that ends in `*` allows all that begin like it. */
  readonly allow?: readonly string[] | undefined;
  /** Folders and files outside the working directory that are as good as in it. */
  readonly paths?: readonly string[] | undefined;
}

export type PermissionAnswer =
  | { readonly allow: "once" }
  /** For the rest of the session. */
  | { readonly allow: "always" }
  | { readonly allow: "no" /** What to do instead, for the agent. */; readonly words?: string | undefined };

export interface Question {
  readonly question: string;
  /** A word or two for a heading. */
  readonly header?: string | undefined;
  readonly options: readonly { readonly label: string; readonly description?: string | undefined }[];
  readonly mayChooseSeveral: boolean;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Which subagent asks; undefined for the main conversation. */
  readonly agentId: string | undefined;
}

/** Whoever sits in front of it. Asked one thing at a time; rejects only when the signal fires. */
export interface Person {
  permit(need: PermissionNeed, options: AskOptions): Promise<PermissionAnswer>;
  /** The labels chosen, or words of their own; undefined where they do not want to answer. */
  answer(question: Question, options: AskOptions): Promise<readonly string[] | undefined>;
}
