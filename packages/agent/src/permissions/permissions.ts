import { Queue } from "../closable-queue.ts";
import type {
  AskOptions,
  PermissionMode,
  PermissionNeed,
  PermissionSettings,
  Person,
  Refusal,
} from "../permission.ts";
import { flagFor, nobodyToAsk, planModeIsOn, refused } from "./permission-words.ts";
import { visibleText, withAllVisible } from "./visible-text.ts";

export interface CallToCheck extends AskOptions {
  readonly isPlanMode: boolean;
  readonly isReadOnly: boolean;
  readonly tool: string;
}

type Verdict =
  | { readonly allowed: true }
  | {
      readonly allowed: false;
      /** Text for the model. */
      readonly words: string;
      /** Refusals, one per question. `byPerson` is true if a person answered no. */
      readonly refusals: readonly Refusal[];
      readonly byPerson: boolean;
    };

interface Grant {
  readonly runsCode: boolean;
  /**
   * Fingerprint of the files that decide what code the command runs. It was taken when the person answered.
   */
  readonly mark: string;
}

const ALLOWED: Verdict = { allowed: true };
/** Name of the tool that exits plan mode. It changes only the plan file, and asks for its own permission. */
const LEAVES_PLAN_MODE = "ExitPlanMode";

/**
 * Decides what tools may do. All agents of a session share one instance, so an answer applies to each of
 * them. A check rejects only if the signal of its call fires or the person's code fails. In both cases
 * nothing is allowed.
 */
export class Permissions {
  /**
   * Person who answers permission questions and the questions that tools ask. The person gets the questions
   * of all agents, one at a time.
   */
  readonly person: Person | undefined;
  readonly #asked: Person | undefined;
  readonly #queue = new Queue();
  readonly #isWide: boolean;
  readonly #rules: readonly string[];
  /**
   * Answers of "always", until the session ends. The key is the key of the permission, and the value is the
   * grant. SPEC section 12 requires a host to empty permission caches after a compaction. That rule is about
   * caches that the host derives from the conversation. It does not apply here, because a person gave these
   * answers for the whole session.
   */
  readonly #granted = new Map<string, Grant>();
  readonly #decidingFiles: () => Promise<string>;
  #mode: PermissionMode;

  constructor(
    { mode = "default", allow = [] }: PermissionSettings,
    person: Person | undefined,
    options: {
      /**
       * True if the working folder is the home folder or contains it. The agent then asks before each action.
       */
      readonly isWideFolder?: boolean;
      /**
       * Returns a fingerprint of the files that decide what code a command runs. The fingerprint changes when
       * one of these files changes.
       */
      readonly decidingFiles?: () => Promise<string>;
    } = {},
  ) {
    this.#mode = mode;
    this.#rules = allow;
    this.#isWide = options.isWideFolder ?? false;
    this.#asked = person;
    this.#decidingFiles = options.decidingFiles ?? (async () => "");
    this.person = person && inQueue(person, this.#queue);
  }

  /** Returns the mode. From the moment the person allows edits for the session, it is `accept-edits`. */
  get mode(): PermissionMode {
    return this.#mode;
  }

  async check(needs: readonly PermissionNeed[], call: CallToCheck): Promise<Verdict> {
    call.signal.throwIfAborted();
    if (call.isPlanMode && !call.isReadOnly && call.tool !== LEAVES_PLAN_MODE) {
      const refusals: readonly Refusal[] = [{ title: call.tool, rule: "plan-mode", flag: undefined }];
      return { allowed: false, words: planModeIsOn(call.tool), refusals, byPerson: false };
    }
    if (needs.some(({ key }) => this.#granted.get(key)?.runsCode)) await this.#forgetChanged();
    const verdict = await this.#allow(needs, call);
    if (verdict.allowed && needs.some(({ decidesCommands }) => decidesCommands)) this.#forgetCommands();
    return verdict;
  }

  async #allow(needs: readonly PermissionNeed[], call: CallToCheck): Promise<Verdict> {
    const open = needs.filter((need) => !this.#isAllowed(need)).map((need) => this.#asAsked(need));
    if (open.length === 0) return ALLOWED;
    const asked = this.#asked;
    if (asked === undefined) {
      const refusals = open.map((need) => this.#refusal(need));
      return { allowed: false, words: nobodyToAsk(open, refusals), refusals, byPerson: false };
    }
    // The questions of one call belong together. No other call may ask in between.
    return await this.#queue.run(async () => {
      for (const need of open) {
        const verdict = await this.#askFor(asked, need, call);
        if (!verdict.allowed) return verdict;
      }
      return ALLOWED;
    }, call.signal);
  }

  #isAllowed({ kind, key }: PermissionNeed): boolean {
    if (this.#mode === "allow-all") return true;
    if (this.#rules.some((rule) => (this.#isWide ? rule === key : ruleAllows(rule, key)))) return true;
    if (this.#isWide || alwaysAsks(kind)) return false;
    return modeAllows(this.#mode, kind) || this.#granted.has(key);
  }

  /**
   * Returns the permission as the person sees it. Does not offer "always" if that answer would have no
   * effect.
   */
  #asAsked(need: PermissionNeed): PermissionNeed {
    if (!this.#isWide && !alwaysAsks(need.kind)) return need;
    const { scope: _, ...rest } = need;
    return rest;
  }

  async #askFor(asked: Person, need: PermissionNeed, call: CallToCheck): Promise<Verdict> {
    // Another agent may have got an answer to the same question while this agent waited.
    if (this.#isAllowed(need)) return ALLOWED;
    const answer = await asked.permit(withAllVisible(need), { signal: call.signal, agentId: call.agentId });
    call.signal.throwIfAborted();
    if (answer.allow === "always" && need.scope !== undefined) await this.#grant(need);
    if (answer.allow === "always" || answer.allow === "once") return ALLOWED;
    const refusal = this.#refusal(need);
    return {
      allowed: false,
      words: refused(need, refusal, answer.words),
      refusals: [refusal],
      byPerson: true,
    };
  }

  async #grant({ kind, key, runsCode = false }: PermissionNeed): Promise<void> {
    if (kind === "change") this.#mode = "accept-edits";
    else this.#granted.set(key, { runsCode, mark: runsCode ? await this.#decidingFiles() : "" });
  }

  /**
   * Revokes allowed commands if a file has changed that decides what code they run. It does not matter which
   * program changed the file.
   */
  async #forgetChanged(): Promise<void> {
    const mark = await this.#decidingFiles();
    for (const [key, grant] of this.#granted)
      if (grant.runsCode && grant.mark !== mark) this.#granted.delete(key);
  }

  /**
   * Revokes allowed commands, because the agent is about to change a file that decides what code commands
   * run.
   */
  #forgetCommands(): void {
    for (const [key, { runsCode }] of this.#granted) if (runsCode) this.#granted.delete(key);
  }

  #refusal({ title, kind, key }: PermissionNeed): Refusal {
    const rule = this.#isWide && !alwaysAsks(kind) ? "wide-folder" : kind;
    // Do not show a flag with hidden characters, because users would copy something other than what they see.
    const hasFlag = kind !== "plan" && visibleText(key) === key;
    return { title: visibleText(title), rule, flag: hasFlag ? flagFor(rule, key) : undefined };
  }
}

const inQueue = (person: Person, queue: Queue): Person => ({
  permit: (need, options) => queue.run(() => person.permit(need, options), options.signal),
  answer: (question, options) => queue.run(() => person.answer(question, options), options.signal),
});

/**
 * Pattern of keys that need an exactly equal rule. A command can contain anything after a `;`, so the
 * beginning of a command does not say what it does. Guarded files and credentials are allowed one by one.
 */
const EXACT_KEY = /^(?:shell-exact|write-guarded|read-secret):/;

/** Checks if a rule of the user's settings allows a key. */
export function ruleAllows(rule: string, key: string): boolean {
  if (rule === key) return true;
  if (!rule.endsWith("*") || EXACT_KEY.test(key)) return false;
  const beginning = rule.slice(0, -1);
  // `path:/data/*` covers only files in the folder `/data`. A `..` would lead out of this folder.
  return key.startsWith(beginning) && !key.slice(beginning.length).split(/[\\/]/).includes("..");
}

/** Checks whether the permission mode alone allows actions of this kind. */
export function modeAllows(mode: PermissionMode, kind: PermissionNeed["kind"]): boolean {
  if (mode === "allow-all") return true;
  return mode === "accept-edits" && kind === "change";
}

/** Checks whether actions of this kind need a question each time, even after the answer "always". */
const alwaysAsks = (kind: PermissionNeed["kind"]): boolean =>
  kind === "guarded-file" || kind === "secret-file";
