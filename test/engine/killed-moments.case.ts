import { watch } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { CompactorEvent } from "@longhaul/core";
import type { Fault, FaultCandidate } from "@longhaul/simulator";
import type { Child } from "./killed-child.case.ts";
import type { Hold, Orders } from "./killed-report.case.ts";
import type { KilledSession } from "./killed-session.case.ts";

/** When a process is killed. */
export interface Moment {
  readonly name: string;
  readonly orders?: Partial<Orders>;
  /** Called before the process starts; what it gives resolves when the moment has come. */
  prepare(session: KilledSession): (child: Child) => Promise<void>;
}

export type IsCall = (call: FaultCandidate) => boolean;

/** Resolves when such a call has come, which the fault is for. */
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

/** The model was asked and says nothing; meanwhile the work goes on for some turns, if it can. */
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

/** In the middle of an answer that comes word by word, and takes seconds. */
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

/** The answer has come; what follows from it is done within some milliseconds. */
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

/** Such a file has appeared beside the session, has changed or gone: the system tells at once. */
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

/** So many milliseconds after something happened, for the first time or after some. */
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

/** Exactly there: the process has stopped by itself before, in or after a write to the session. */
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
