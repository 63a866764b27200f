import { LonghaulError } from "@longhaul/core/errors";
import { contentBlocks } from "@longhaul/core/internal/messages";
import type { Behavior, CallPurpose, SeenRequest, Turn } from "../exchange.ts";
import { textTurn } from "./answers.ts";
import { type ConditionalTurn, fits } from "./conditions.ts";
import { requireKnownFields } from "./script-file.ts";

/** A turn of a script. A plain string is one text block. */
export type ScriptedTurn = ConditionalTurn | string | ((request: SeenRequest) => Turn | string | undefined);

export interface ScriptedBehavior extends Behavior {
  /** Appends turns to the queue, even while the simulator is running. */
  add(...turns: readonly ScriptedTurn[]): void;
  /** Number of turns that are left. A turn with `times` counts once. */
  remaining(): number;
}

/** A turn that waits for its calls. */
interface QueuedTurn {
  readonly turn: ScriptedTurn;
  /** Number of calls that fit the conditions so far, apart from `nth`. */
  fitting: number;
  /** Number of calls that the turn has answered. */
  answered: number;
}

/**
 * Creates a behavior that answers each call with the first turn that fits. The turns wait in order. If a
 * function returns undefined, the next behavior answers this call, and the function is called again for the
 * next call.
 *
 * Clients send calls besides the conversation, for example for a title. A turn whose `when` names neither
 * `purpose` nor `tools` does not answer these side calls. A call without tools is a side call if its
 * conversation has tools, unless it ends with a tool result. That the conversation has tools is known from the
 * script, if one of its turns calls a tool, and from earlier calls to the same provider, if one of them offered
 * tools while the script had turns.
 * @param options.repeatLast repeats the last turn for every further call. Without it, the next behavior
 * answers further calls.
 */
export function scriptedTurns(
  turns: readonly ScriptedTurn[] = [],
  options: { readonly repeatLast?: boolean } = {},
): ScriptedBehavior {
  let queue: QueuedTurn[] = [];
  let sideCalls = new SideCalls();
  const add = (...more: readonly ScriptedTurn[]): void => {
    // A new script may be for another conversation, for example that of the next test.
    if (queue.length === 0) sideCalls = new SideCalls();
    more.forEach(requireTurn);
    for (const turn of more) {
      sideCalls.learnFromTurn(turn);
      queue.push({ turn, fitting: 0, answered: 0 });
    }
  };
  const isUsedUp = ({ turn, answered }: QueuedTurn): boolean =>
    answered >= timesOf(turn) && (queue.length > 1 || !options.repeatLast);
  const answer = (request: SeenRequest): Turn | undefined => {
    sideCalls.learnFromCall(request);
    const next = firstFitting(queue, request, sideCalls.purposeOf(request));
    if (next === undefined) return undefined;
    const turn = typeof next.turn === "function" ? next.turn(request) : next.turn;
    if (turn === undefined) return undefined;
    next.answered++;
    if (isUsedUp(next)) queue = queue.filter((one) => one !== next);
    return typeof turn === "string" ? textTurn(turn) : turn;
  };
  add(...turns);
  return Object.assign(answer, { add, remaining: (): number => queue.length });
}

const BLOCK_TYPES: readonly unknown[] = ["text", "thinking", "tool_use", "raw"];

/**
 * Refuses a turn whose blocks no API can send, or whose fields nobody reads. Without types, a mistake would show
 * only at the call of the client, or never.
 */
function requireTurn(turn: ScriptedTurn, index: number): void {
  if (typeof turn !== "object") return;
  const blocks: unknown = turn?.blocks;
  const wrong = Array.isArray(blocks) ? blocks.findIndex((one) => !BLOCK_TYPES.includes(one?.type)) : -1;
  if (Array.isArray(blocks) && wrong === -1) {
    requireKnownFields(turn, `turn ${index}`);
    return;
  }
  const place = Array.isArray(blocks)
    ? `blocks[${wrong}] of turn ${index} is not a block`
    : `turn ${index} has no list "blocks"`;
  throw new LonghaulError("simulator-script-invalid", `Invalid script: ${place}.`, {
    remedy: 'Write a block as { type: "text", text: "…" }, or use textTurn and toolTurn.',
  });
}

function timesOf(turn: ScriptedTurn): number {
  const times = typeof turn === "object" ? (turn.times ?? 1) : 1;
  return times === "always" ? Number.POSITIVE_INFINITY : times;
}

/** Finds the first turn for a call, and counts the call for all turns whose conditions fit. */
function firstFitting(
  queue: readonly QueuedTurn[],
  request: SeenRequest,
  purpose: CallPurpose,
): QueuedTurn | undefined {
  let first: QueuedTurn | undefined;
  for (const queued of queue) {
    const { turn } = queued;
    if (typeof turn === "function") {
      first ??= queued;
      continue;
    }
    const when = typeof turn === "string" ? {} : (turn.when ?? {});
    if (!fits(when, request, purpose)) continue;
    queued.fitting++;
    const nth = typeof when === "function" ? 1 : (when.nth ?? 1);
    if (queued.fitting >= nth) first ??= queued;
  }
  return first;
}

/**
 * Recognizes side calls of clients that do not mark them: calls without tools, while the conversation has
 * tools. A call that ends with a tool result continues the conversation. Such calls come from an agent without
 * tools after a handoff, or from a last step that offers no tools.
 */
class SideCalls {
  #scriptCallsTools = false;
  readonly #providersWithTools = new Set<string>();

  learnFromTurn(turn: ScriptedTurn): void {
    if (typeof turn !== "object") return;
    const { when } = turn;
    const isAboutTools = typeof when === "object" && (when.tools !== undefined || when.purpose !== undefined);
    if (isAboutTools || !turn.blocks.some(({ type }) => type === "tool_use")) return;
    // A turn for one provider says nothing about the clients of the other one.
    if (typeof when === "object" && when.provider !== undefined) this.#providersWithTools.add(when.provider);
    else this.#scriptCallsTools = true;
  }

  learnFromCall({ tools, provider }: SeenRequest): void {
    if (tools.length > 0) this.#providersWithTools.add(provider);
  }

  purposeOf({ purpose, tools, provider, messages }: SeenRequest): CallPurpose {
    if (purpose !== "conversation" || tools.length > 0 || endsWithResult(messages)) return purpose;
    return this.#scriptCallsTools || this.#providersWithTools.has(provider) ? "side-call" : purpose;
  }
}

const endsWithResult = (messages: SeenRequest["messages"]): boolean =>
  contentBlocks(messages.at(-1)?.content).at(-1)?.type === "tool_result";
