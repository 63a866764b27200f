import type { Behaviour, CallPurpose, SeenRequest, Turn } from "../exchange.ts";
import { textTurn } from "./answers.ts";

/** A turn for calls of one purpose. Without `for` it answers every call but the side calls of Claude Code. */
export interface AddressedTurn extends Turn {
  readonly for?: CallPurpose;
}

/** A plain string is one block of text. */
export type ScriptedTurn = AddressedTurn | string | ((request: SeenRequest) => Turn | string | undefined);

export interface ScriptOptions {
  /** The last turn answers every further call. Without it, calls after the end go to the next behaviour. */
  readonly repeatLast?: boolean;
}

export interface ScriptedBehaviour extends Behaviour {
  /** Appends to the queue; also while the simulator is running. */
  add(...turns: readonly ScriptedTurn[]): void;
  /** How many turns have not been given yet. */
  remaining(): number;
}

/**
 * Answers the calls with these turns, in order: each call gets the first turn that is for calls of its purpose. A
 * function that returns undefined hands this call to the next behaviour and keeps its place: it waits for a call
 * that it has an answer to.
 */
export function scriptedTurns(
  turns: readonly ScriptedTurn[] = [],
  options: ScriptOptions = {},
): ScriptedBehaviour {
  const queue = [...turns];
  const answer = (request: SeenRequest): Turn | undefined => {
    const at = queue.findIndex((turn) => typeof turn === "function" || isFor(turn, request.purpose));
    const next = queue[at];
    if (next === undefined) return undefined;
    const turn = typeof next === "function" ? next(request) : next;
    if (turn === undefined) return undefined;
    if (queue.length > 1 || !options.repeatLast) queue.splice(at, 1);
    return typeof turn === "string" ? textTurn(turn) : turn;
  };
  return Object.assign(answer, {
    add: (...more: readonly ScriptedTurn[]): void => {
      queue.push(...more);
    },
    remaining: (): number => queue.length,
  });
}

function isFor(turn: AddressedTurn | string, purpose: CallPurpose): boolean {
  const wanted = typeof turn === "string" ? undefined : turn.for;
  return wanted === undefined ? purpose !== "side-call" : wanted === purpose;
}
