/** Something that a tool may do only when it is allowed. */
export interface PermissionNeed {
  /** The rule that asks. docs/security.md explains each of them. */
  readonly kind:
    | "shell"
    /** An edit of an ordinary file in the working folder. */
    | "change"
    | "outside-path"
    /** A change of a file that runs code later, or that decides what an agent may do. It asks each time. */
    | "guarded-file"
    /** A look at credentials. It asks each time. */
    | "secret-file"
    | "web"
    | "private-network"
    | "plan"
    | "other";
  /** The action in one line: "Run npm test". */
  readonly title: string;
  /** Everything to look at before deciding: the whole command, the diff, the plan. */
  readonly detail?: string;
  /**
   * The name by which settings and `--allow` permit it: `shell:npm test`, `path:/data/x.csv` (to read it),
   * `write:/data/x.csv`, `web:example.org`, `change:src/a.ts`. An answer of "always" covers the same key, except for a
   * change: there it covers every edit in the working folder.
   */
  readonly key: string;
  /** The reach of "always" in words: "commands that begin with npm test". Without it, every time asks. */
  readonly scope?: string;
  /** The command runs code of the project. Its "always" ends when a file changes that decides what it runs. */
  readonly runsCode?: boolean;
  /** The action changes a file that decides what commands run. */
  readonly decidesCommands?: boolean;
}

/**
 * `default` asks before every edit, `accept-edits` edits ordinary files in the working folder without asking, and
 * `allow-all` never asks.
 */
export type PermissionMode = "default" | "accept-edits" | "allow-all";

/** The rule that stopped something: the kind of the need, or a rule about the whole workplace. */
export type PermissionRule = PermissionNeed["kind"] | "wide-folder" | "plan-mode";

/** Something that was not done. */
export interface Refusal {
  readonly title: string;
  readonly rule: PermissionRule;
  /** The flag of `longhaul chat` that would allow it; undefined where none would. */
  readonly flag: string | undefined;
}

export interface PermissionSettings {
  readonly mode?: PermissionMode | undefined;
  /**
   * Keys that need no question. One that ends in `*` allows all keys that begin like it, except those of guarded files,
   * of credentials and of commands that a shell could make more than one command of.
   */
  readonly allow?: readonly string[] | undefined;
  /** Folders and files outside the working folder that count as part of it. */
  readonly paths?: readonly string[] | undefined;
}

export type PermissionAnswer =
  | { readonly allow: "once" }
  /** For the rest of the session, as far as the need's `scope` says. */
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
