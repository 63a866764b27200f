import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Fault } from "./faults.ts";
import type { Outcome } from "./request-log.ts";

type Headers = Readonly<Record<string, string>>;

/** Answer to a request, in the form before it is written to the connection. */
export type Answer =
  | (AnswerBase & { readonly kind: "json"; readonly status: number; readonly body: unknown })
  | (AnswerBase & {
      readonly kind: "stream";
      /** The events of the stream, as they are sent. */
      readonly events: Iterable<string>;
      /** Events that a fault sends instead. */
      readonly broken: BrokenEvents;
    })
  /** An answer without a body, for HEAD and OPTIONS. */
  | (AnswerBase & { readonly kind: "empty"; readonly status: number });

export interface BrokenEvents {
  /** Event of an overload in the middle of a stream. */
  readonly overloaded: string;
  /** Event with incomplete JSON. */
  readonly torn: string;
}

interface AnswerBase {
  readonly headers: Headers;
  /** Called when the answer starts. */
  readonly begun?: () => void;
  /** Called if the client disconnects before the answer starts. */
  readonly dropped?: () => void;
  /** Milliseconds that this answer waits in addition to the server's latency. */
  readonly delayMs?: number;
}

export interface Pace {
  readonly firstByteMs: number;
  readonly betweenEventsMs: number;
}

/** Default number of events before a fault breaks a stream. */
const DEFAULT_EVENTS_BEFORE_BREAK = 4;
/**
 * Delivers an answer. Returns true if a fault ended the stream with an error event. A fault takes effect
 * after a number of events. If the stream has fewer events, it ends as usual.
 */
export async function deliver(
  answer: Answer,
  outlet: Outlet,
  pace: Pace,
  fault: Fault | undefined,
): Promise<boolean> {
  if (!(await outlet.pause(pace.firstByteMs + (answer.delayMs ?? 0)))) {
    answer.dropped?.();
    return false;
  }
  if (answer.kind === "empty") {
    outlet.begin(answer.status, answer.headers);
    await outlet.end();
    return false;
  }
  answer.begun?.();
  if (answer.kind === "stream") return deliverStream(answer, outlet, pace, fault);
  const text = JSON.stringify(answer.body);
  outlet.begin(answer.status, {
    ...answer.headers,
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
  });
  await outlet.write(text);
  await outlet.end();
  return false;
}

async function deliverStream(
  { headers, events, broken }: Extract<Answer, { kind: "stream" }>,
  outlet: Outlet,
  pace: Pace,
  fault: Fault | undefined,
): Promise<boolean> {
  outlet.begin(200, {
    ...headers,
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
  });
  const breaksAfter = eventsBeforeBreak(fault);
  let sent = 0;
  for (const event of events) {
    if (sent === breaksAfter) {
      if (fault?.kind === "overload-in-stream") {
        await outlet.write(broken.overloaded);
        await outlet.end();
        return true;
      }
      await outlet.write(broken.torn);
    }
    if (sent > 0 && !(await outlet.pause(pace.betweenEventsMs))) return false;
    await outlet.write(event);
    if (!outlet.isOpen) return false;
    sent++;
  }
  await outlet.end();
  return false;
}

function eventsBeforeBreak(fault: Fault | undefined): number | undefined {
  if (fault?.kind !== "overload-in-stream" && fault?.kind !== "malformed-stream") return undefined;
  return fault.afterEvents ?? DEFAULT_EVENTS_BEFORE_BREAK;
}

interface OutletOptions {
  /** Aborted when the client disconnects or the simulator closes. */
  readonly signal: AbortSignal;
  /** Ends the connection after this number of body bytes. */
  readonly cutAfterBytes: number | undefined;
  /** Called when the status is sent. */
  readonly onBegin: (status: number) => void;
}

/**
 * Writes one answer as fast as the client reads. Stops after `cutAfterBytes`, and when the client
 * disconnects.
 */
export class Outlet {
  readonly #response: ServerResponse;
  readonly #signal: AbortSignal;
  readonly #onBegin: (status: number) => void;
  /** Bytes until the cut. */
  #left: number;
  #isCut = false;
  #isEnded = false;

  constructor(response: ServerResponse, { signal, cutAfterBytes, onBegin }: OutletOptions) {
    this.#response = response;
    this.#signal = signal;
    this.#left = cutAfterBytes ?? Number.POSITIVE_INFINITY;
    this.#onBegin = onBegin;
  }

  get isOpen(): boolean {
    return !this.#isCut && !this.#signal.aborted;
  }

  get outcome(): Outcome {
    if (this.#isCut) return "cut";
    if (this.#isEnded) return "answered";
    return this.#signal.aborted ? "abandoned" : "open";
  }

  begin(status: number, headers: Readonly<Record<string, string>>): void {
    if (!this.isOpen) return;
    if (this.#left <= 0) this.#cut();
    else {
      this.#response.writeHead(status, headers);
      this.#onBegin(status);
    }
  }

  async write(text: string): Promise<void> {
    if (!this.isOpen) return;
    const content = Buffer.from(text);
    if (content.length >= this.#left) {
      // Waits until the operating system has the bytes, because destroying the socket would lose them.
      await new Promise<void>((resolve) =>
        this.#response.write(content.subarray(0, this.#left), () => resolve()),
      );
      return this.#cut();
    }
    this.#left -= content.length;
    if (!this.#response.write(content)) {
      await once(this.#response, "drain", { signal: this.#signal }).catch(ignore);
    }
  }

  async end(): Promise<void> {
    if (!this.isOpen) return;
    await new Promise<void>((resolve) => {
      this.#response.end(() => {
        this.#isEnded = true;
        resolve();
      });
      this.#signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }

  /** Waits this long. Returns false if the client has disconnected. */
  async pause(milliseconds: number): Promise<boolean> {
    if (milliseconds > 0 && this.isOpen)
      await delay(milliseconds, undefined, { signal: this.#signal }).catch(ignore);
    return this.isOpen;
  }

  #cut(): void {
    this.#isCut = true;
    this.#response.destroy();
  }
}

/** Ignores the rejection after an abort. The caller sees the abort in `isOpen`. */
const ignore = (): void => undefined;
