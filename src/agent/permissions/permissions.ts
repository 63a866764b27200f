import type { AskOptions, PermissionNeed, PermissionSettings, Person } from "../permission.ts";
import { createQueue, type Queue } from "./queue.ts";
import { modeAllows, ruleAllows } from "./rules.ts";
import { withAllVisible } from "./visible.ts";
import { nobodyToAsk, planModeIsOn, refused } from "./words.ts";

/** Decides what tools may do. One for all agents of a session: what was answered once holds for each of them. */
export interface Permissions {
  check(needs: readonly PermissionNeed[], call: CallToCheck): Promise<Verdict>;
  /** Whoever answers, asked one thing at a time: by all agents, for permission and in questions of tools alike. */
  readonly person: Person | undefined;
}

export interface CallToCheck extends AskOptions {
  readonly isPlanMode: boolean;
  readonly isReadOnly: boolean;
  /** Its name. */
  readonly tool: string;
}

export type Verdict =
  | { readonly allowed: true }
  | { readonly allowed: false /** For the model. */; readonly words: string };

const ALLOWED: Verdict = { allowed: true };
/** The way out of plan mode changes only the file of the plan, and asks for itself. */
const LEAVES_PLAN_MODE = "ExitPlanMode";

/** Rejects only when the signal of a call fires, or the person's own code fails: then nothing is allowed. */
export function createPermissions(settings: PermissionSettings, person: Person | undefined): Permissions {
  const { mode = "default", allow = [] } = settings;
  const queue = createQueue();
  // Kept for as long as the session runs. SPEC 12 has caches of permissions emptied after a compaction: those are
  // what a host works out from the conversation. These are a person's answers, and they were given for the session:
  // to forget them would ask again what has been answered, in the middle of work that was allowed.
  const answeredAlways = new Set<string>();
  const isAllowed = ({ kind, key }: PermissionNeed): boolean =>
    modeAllows(mode, kind) || answeredAlways.has(key) || allow.some((rule) => ruleAllows(rule, key));

  const askFor = async (asked: Person, need: PermissionNeed, call: CallToCheck): Promise<Verdict> => {
    // Another agent may have had the same answered while this one waited.
    if (isAllowed(need)) return ALLOWED;
    const answer = await asked.permit(withAllVisible(need), { signal: call.signal, agentId: call.agentId });
    call.signal.throwIfAborted();
    if (answer.allow === "always" && need.scope !== undefined) answeredAlways.add(need.key);
    if (answer.allow === "always" || answer.allow === "once") return ALLOWED;
    return { allowed: false, words: refused(need, answer.words) };
  };

  return {
    person: person && inQueue(person, queue),
    check: async (needs, call) => {
      call.signal.throwIfAborted();
      if (call.isPlanMode && !call.isReadOnly && call.tool !== LEAVES_PLAN_MODE)
        return { allowed: false, words: planModeIsOn(call.tool) };
      const open = needs.filter((need) => !isAllowed(need));
      if (open.length === 0) return ALLOWED;
      if (person === undefined) return { allowed: false, words: nobodyToAsk(open) };
      // The questions of one call belong together: nobody else's comes between them.
      return await queue.run(call.signal, async () => {
        for (const need of open) {
          const verdict = await askFor(person, need, call);
          if (!verdict.allowed) return verdict;
        }
        return ALLOWED;
      });
    },
  };
}

const inQueue = (person: Person, queue: Queue): Person => ({
  permit: (need, options) => queue.run(options.signal, () => person.permit(need, options)),
  answer: (question, options) => queue.run(options.signal, () => person.answer(question, options)),
});
