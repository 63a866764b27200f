import type { IncomingMessage, ServerResponse } from "node:http";
import { createFixedClock, type MovableClock } from "../clock.ts";
import type { ScriptedTurn } from "./behaviours/scripted.ts";
import { createTokenCounter, type TokenCounter } from "./prompt/token-count.ts";
import type { Fault, FaultConditions } from "./server/faults.ts";
import { listen } from "./server/listen.ts";
import { RequestLog } from "./server/log.ts";
import { serve } from "./server/serve.ts";
import { beginSession, type Session, type SimulatorOptions } from "./server/session.ts";

export type { SimulatorOptions } from "./server/session.ts";

/** Enough for what a test looks back at; the bodies of a long run would fill the memory. */
const DEFAULT_KEPT_BODIES = 100;

/** A local server that speaks the Anthropic API, as strict as the real one. */
export interface Simulator {
  /** For `ANTHROPIC_BASE_URL` or the `baseURL` of a client. */
  readonly url: string;
  readonly port: number;
  readonly requests: RequestLog;
  readonly clock: MovableClock;
  /** How tokens are counted; `source` says by what. */
  readonly counter: TokenCounter;
  /** Answers the next calls with these turns, in order. */
  reply(...turns: readonly ScriptedTurn[]): void;
  /** Lets coming calls fail: the next one, unless the conditions say otherwise. */
  fail(fault: Fault | number, conditions?: FaultConditions): void;
  /** As if it had just been started; the address and the clock stay. */
  reset(): void;
  /** Ends open connections at once. */
  close(): Promise<void>;
}

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const counter = await createTokenCounter(options.countText);
  const clock = options.clock ?? createFixedClock();
  const log = new RequestLog(options.keepBodies ?? DEFAULT_KEPT_BODIES);
  const begin = (): Session => beginSession(options, { counter, clock, log });
  let session = begin();
  const listening = await listen(options.port ?? 0, (request: IncomingMessage, response: ServerResponse) => {
    serve(request, response, session.desk).catch((error: unknown) => {
      // The client must not wait for ever; the mistake must not go unseen either.
      response.destroy();
      throw error;
    });
  });
  return {
    url: listening.url,
    port: listening.port,
    requests: log,
    clock,
    counter,
    reply: (...turns) => session.script.add(...turns),
    fail: (fault, conditions) => session.faults.arm(fault, conditions),
    reset: () => {
      log.clear();
      session = begin();
    },
    close: () => listening.close(),
  };
}
