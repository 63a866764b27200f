import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { Outcome } from "./log.ts";

export interface OutletOptions {
  /** Aborted when the client goes away or the simulator closes. */
  readonly signal: AbortSignal;
  /** Ends the connection after so many bytes of the body. */
  readonly cutAfterBytes: number | undefined;
  /** The status is on its way. */
  readonly onBegin: (status: number) => void;
}

/** Writes one answer: as fast as the client reads, no further than a cut allows, and not at all once it left. */
export class Outlet {
  readonly #response: ServerResponse;
  readonly #signal: AbortSignal;
  readonly #cutAfterBytes: number;
  readonly #onBegin: (status: number) => void;
  #sentBytes = 0;
  #isCut = false;
  #isEnded = false;

  constructor(response: ServerResponse, { signal, cutAfterBytes, onBegin }: OutletOptions) {
    this.#response = response;
    this.#signal = signal;
    this.#cutAfterBytes = cutAfterBytes ?? Number.POSITIVE_INFINITY;
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
    if (this.#cutAfterBytes <= 0) {
      this.#cut();
      return;
    }
    this.#response.writeHead(status, headers);
    this.#onBegin(status);
  }

  async write(text: string): Promise<void> {
    if (!this.isOpen) return;
    const content = Buffer.from(text);
    const left = this.#cutAfterBytes - this.#sentBytes;
    if (content.length >= left) {
      // The callback comes once the bytes are with the system: a destroyed socket forgets what is not.
      await new Promise<void>((resolve) => this.#response.write(content.subarray(0, left), () => resolve()));
      return this.#cut();
    }
    this.#sentBytes += content.length;
    if (!this.#response.write(content)) await this.#drained();
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

  /** False when nobody waits any more. */
  async pause(milliseconds: number): Promise<boolean> {
    if (milliseconds > 0 && this.isOpen)
      await delay(milliseconds, undefined, { signal: this.#signal }).catch(ignore);
    return this.isOpen;
  }

  async #drained(): Promise<void> {
    await once(this.#response, "drain", { signal: this.#signal }).catch(ignore);
  }

  #cut(): void {
    this.#isCut = true;
    this.#response.destroy();
  }
}

/** An abort is seen by `isOpen`; it needs no second way. */
const ignore = (): void => undefined;
