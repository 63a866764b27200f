/** Action that needs permission. */
export interface PermissionNeed {
  /** Rule that requires the question. docs/security.md explains each rule. */
  readonly kind:
    | "shell"
    /** Edit of an ordinary file in the working folder. */
    | "change"
    | "outside-path"
    /**
     * Change to a file that runs code later, or that decides what an agent may do. The agent asks each time.
     */
    | "guarded-file"
    /** Read access to credentials. The agent asks each time. */
    | "secret-file"
    | "web"
    | "private-network"
    | "plan"
    | "other";
  /** Action in one line, such as "Run npm test". */
  readonly title: string;
  /** Full details to check before deciding: the whole command, the diff, or the plan. */
  readonly detail?: string;
  /**
   * Name of the permission in settings and in `--allow`: `shell:npm test`, `path:/data/x.csv` (to read it),
   * `write:/data/x.csv`, `web:example.org`, `change:src/a.ts`. The answer "always" covers the same key. For a
   * change, the answer covers every edit in the working folder.
   */
  readonly key: string;
  /**
   * Description of what the answer "always" covers, such as "commands that begin with npm test". Without a
   * scope, the agent asks each time.
   */
  readonly scope?: string;
  /**
   * True if the command runs code of the project. Some files decide what code that is. When one of these
   * files changes, the answer "always" ends.
   */
  readonly runsCode?: boolean;
  /** True if the action changes a file that decides what code a command runs. */
  readonly decidesCommands?: boolean;
}

/**
 * Permission mode. `default` asks before every edit. `accept-edits` edits ordinary files in the working
 * folder without asking. `allow-all` never asks.
 */
export type PermissionMode = "default" | "accept-edits" | "allow-all";

/** Rule that stopped an action: the kind of the needed permission, or a rule about the whole workplace. */
export type PermissionRule = PermissionNeed["kind"] | "wide-folder" | "plan-mode";

/** Action that was refused. */
export interface Refusal {
  readonly title: string;
  readonly rule: PermissionRule;
  /** Flag of `longhaul chat` that would allow the action. Undefined if no flag would. */
  readonly flag: string | undefined;
}

export interface PermissionSettings {
  readonly mode?: PermissionMode | undefined;
  /**
   * Keys that are allowed without a question. A key that ends in `*` allows all keys with the same beginning.
   * It does not allow guarded files, credentials, or commands that a shell could split into several.
   */
  readonly allow?: readonly string[] | undefined;
  /** Folders and files outside the working folder that count as part of it. */
  readonly paths?: readonly string[] | undefined;
}

export type PermissionAnswer =
  | { readonly allow: "once" }
  /** Permission until the session ends, for everything that `scope` describes. */
  | { readonly allow: "always" }
  | {
      readonly allow: "no" /** Instruction to the agent: what to do instead. */;
      readonly words?: string | undefined;
    };

export interface Question {
  readonly question: string;
  /** Heading of one or two words. */
  readonly header?: string | undefined;
  readonly options: readonly { readonly label: string; readonly description?: string | undefined }[];
  readonly mayChooseSeveral: boolean;
}

export interface AskOptions {
  readonly signal: AbortSignal;
  /** Id of the subagent that asks. Undefined for the main conversation. */
  readonly agentId: string | undefined;
}

/** User of the agent. Gets one question at a time. Rejects only when the signal fires. */
export interface Person {
  permit(need: PermissionNeed, options: AskOptions): Promise<PermissionAnswer>;
  /** Returns the selected labels or the user's own text, or undefined if the user does not want to answer. */
  answer(question: Question, options: AskOptions): Promise<readonly string[] | undefined>;
}
