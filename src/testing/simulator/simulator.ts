import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { LonghaulError } from "../../errors.ts";
import { createFixedClock, type MovableClock } from "../clock.ts";
import type { ScriptedTurn } from "./behaviours/scripted.ts";
import { createTokenCounter, type TokenCounter } from "./prompt/token-count.ts";
import type { Fault, FaultConditions } from "./server/faults.ts";
import { RequestLog } from "./server/request-log.ts";
import { beginSession, type Session, type SimulatorOptions } from "./server/simulator-session.ts";

export type { SimulatorOptions } from "./server/simulator-session.ts";

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
    session.desk.serve(request, response).catch((error: unknown) => {
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

/** Nobody but this machine may reach it: it answers everyone who asks. */
const LOOPBACK = "127.0.0.1";

interface Listening {
  readonly url: string;
  readonly port: number;
  /** Ends open connections at once. */
  close(): Promise<void>;
}

async function listen(
  port: number,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Listening> {
  const server = createServer({ keepAlive: true }, handle);
  // Silence and slowness are ours to give; the server's own patience must not end them.
  server.requestTimeout = 0;
  server.timeout = 0;
  // A client that keeps its connection for later must not find it closed just as it asks again.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(notListening(error, port)));
    server.listen(port, LOOPBACK, resolve);
  });
  const address = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    url: `http://${LOOPBACK}:${address.port}`,
    port: address.port,
    close: () => {
      closing ??= new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closing;
    },
  };
}

function notListening(error: NodeJS.ErrnoException, port: number): LonghaulError {
  const facts = { port, reason: error.code ?? error.message };
  if (error.code === "EADDRINUSE") {
    return new LonghaulError("simulator-failed", `Port ${port} is already in use.`, {
      remedy: "Take another one with --port, or leave it out: any free port will do.",
      facts,
      cause: error,
    });
  }
  if (error.code === "EACCES") {
    return new LonghaulError("simulator-failed", `Port ${port} may not be opened by this user.`, {
      remedy: "Take one above 1023.",
      facts,
      cause: error,
    });
  }
  return new LonghaulError("simulator-failed", `The simulator could not start: ${error.message}`, {
    facts,
    cause: error,
  });
}
