import { watch } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { CompactorEvent } from "@longhaul/core";
import type { Fault, FaultCandidate } from "@longhaul/simulator";
import type { Child } from "./killed-child.case.ts";
import type { Hold, Orders } from "./killed-report.case.ts";
import type { KilledSession } from "./killed-session.case.ts";

/** The moment to kill a process. */
export interface Moment {
  readonly name: string;
  readonly orders?: Partial<Orders>;
  /** Prepares the session before the process starts. The returned function resolves at the moment to kill. */
  prepare(session: KilledSession): (child: Child) => Promise<void>;
}

export type IsCall = (call: FaultCandidate) => boolean;

/** Resolves when a matching call has arrived. The fault applies to this call. */
function struck({ simulator }: KilledSession, fault: Fault, isCall: IsCall): Promise<void> {
  return new Promise((resolve) => {
    const when = (call: FaultCandidate): boolean => {
      if (!isCall(call)) return false;
      resolve();
      return true;
    };
    simulator.fail(fault, { when });
  });
}

/**
 * Returns the moment when the model gets a call and does not answer. The work may continue for some turns
 * before the kill.
 */
export function whileSilent(isCall: IsCall, turns = 0): Moment {
  return {
    name: `silent, and ${turns} turns on`,
    prepare: (session) => {
      const asked = struck(session, { kind: "silence" }, isCall);
      return async (child) => {
        await asked;
        for (let turn = 0; turn < turns; turn++) await child.next(({ type }) => type === "turn");
      };
    },
  };
}

/** Returns a moment in the middle of an answer that is streamed word by word for seconds. */
export function whileAnswering(isCall: IsCall, milliseconds: number): Moment {
  return {
    name: `${milliseconds} ms into the answer`,
    prepare: (session) => {
      const asked = struck(session, { kind: "slow", betweenEventsMs: 500 }, isCall);
      return async () => {
        await asked;
        await sleep(milliseconds);
      };
    },
  };
}

/** Returns a moment some milliseconds after an answer, while the process works on it. */
export function afterAnswer(isCall: IsCall, milliseconds: number): Moment {
  return {
    name: `${milliseconds} ms after the answer`,
    prepare: (session) => {
      const answered = session.nextAnswer(isCall);
      return async () => {
        await answered;
        await sleep(milliseconds);
      };
    },
  };
}

/**
 * Returns the moment when a file next to the session appears, changes or disappears. The system reports such
 * an event immediately.
 */
export function onFile(name: RegExp, skip = 0): Moment {
  return {
    name: `change ${skip} of ${name}`,
    prepare:
      ({ folder }) =>
      async () => {
        let left = skip;
        const watching = new AbortController();
        await new Promise<void>((resolve) => {
          watch(folder, { signal: watching.signal }, (_, changed) => {
            if (changed !== null && name.test(changed) && left-- <= 0) resolve();
          });
        });
        watching.abort();
      },
  };
}

/** Returns a moment some milliseconds after an event. The first `skip` events of this type do not count. */
export function afterEvent(event: CompactorEvent["type"], milliseconds: number, skip = 0): Moment {
  return {
    name: `${milliseconds} ms after ${event} ${skip}`,
    prepare: () => async (child) => {
      let left = skip;
      await child.next((report) => report.type === "event" && report.name === event && left-- <= 0);
      await sleep(milliseconds);
    },
  };
}

/** Returns an exact moment. The process stops itself before, during or after a write to the session. */
export function atWrite(
  at: Hold["at"],
  kind: Hold["kind"],
  { share = 0.5, skip = 0 }: Partial<Hold> = {},
): Moment {
  return {
    name: `${at} the write of ${kind} ${skip}, ${share} of it written`,
    orders: { hold: { kind, at, share, skip } },
    prepare: () => (child) => child.next(({ type }) => type === "held"),
  };
}
