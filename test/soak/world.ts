import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { LonghaulError } from "@longhaul/core";
import { Chance } from "./chance.ts";
import { type Finding, isOverflow, type Plant, refusal, type Violation } from "./exam.ts";
import { modelPlay } from "./model-play.ts";
import { ENGINE, Provider } from "./provider.ts";
import { drawSetup, type Setup } from "./setup.ts";
import { Texts } from "./texts.ts";
import { HUNG, VirtualTime } from "./virtual-time.ts";

/** Thrown when the schedule cannot continue, because a call never settled. */
export class ScheduleEnded extends Error {}

/** Maximum virtual time of an engine call: 300 seconds for the model, plus a margin. */
const CALL_LIMIT_MS = 420_000;

/**
 * Each part of a schedule has its own seed. Therefore a change in one part does not change the draws of the
 * other parts.
 */
const SEEDS = { setup: 1, host: 2, model: 3, texts: 4, provider: 5, uuids: 6 } as const;
const seedOf = (seed: number, part: keyof typeof SEEDS): number => Math.imul(seed, 31) + SEEDS[part];

/** Environment of one schedule: time, provider, drawn setup, and the list of violations. */
export class World {
  readonly setup: Setup;
  readonly chance: Chance;
  readonly texts: Texts;
  readonly time: VirtualTime = new VirtualTime();
  readonly folder: string;
  readonly plant: Plant | undefined;
  readonly violations: Violation[] = [];
  /** A short description of each step so far. */
  readonly steps: string[] = [];
  readonly newUuid: () => string;
  /** False after an injected error stated a wrong prompt size. */
  areFiguresTrue = true;
  #provider: Provider | undefined;
  #examined = 0;

  constructor(seed: number, parentFolder: string, plant?: Plant) {
    this.setup = drawSetup(new Chance(seedOf(seed, "setup")));
    this.chance = new Chance(seedOf(seed, "host"));
    this.texts = new Texts(seedOf(seed, "texts"));
    this.folder = mkdtempSync(join(parentFolder, "schedule-"));
    this.plant = plant;
    const uuids = new Chance(seedOf(seed, "uuids")).random;
    this.newUuid = () => uuids.uuid();
  }

  static async open(seed: number, parentFolder: string, plant?: Plant): Promise<World> {
    const world = new World(seed, parentFolder, plant);
    const { setup, texts, time } = world;
    world.#provider = await Provider.open({
      windowTokens: setup.windowTokens,
      seed: seedOf(seed, "provider"),
      clock: time,
      countText: (text) => Math.ceil(text.length / setup.charactersPerToken),
      behaviors: modelPlay(setup, new Chance(seedOf(seed, "model")), texts),
      latency: setup.latency,
    });
    if (setup.isEngineCutOff) {
      const isOfEngine = (call: { readonly index: number }): boolean =>
        world.provider.senderOf(call) === ENGINE;
      world.provider.fail({ kind: "silence" }, { times: Number.POSITIVE_INFINITY, when: isOfEngine });
    }
    return world;
  }

  get provider(): Provider {
    if (this.#provider === undefined) throw new Error("The world is not open.");
    return this.#provider;
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  begin(step: string): void {
    this.steps.push(step);
  }

  /** Adds text to the description of the current step. */
  note(words: string): void {
    const last = this.steps.length - 1;
    this.steps[last] = `${this.steps[last] ?? ""} ${words}`;
  }

  report(...findings: readonly (Finding | undefined)[]): void {
    for (const finding of findings) {
      if (finding !== undefined) this.violations.push({ ...finding, step: this.steps.length });
    }
  }

  /**
   * Examines the engine's own requests since the last call of this method. A prompt that is too long is no
   * violation, because the engine has to handle its refusal.
   */
  examineEngineRequests(): void {
    const { requests } = this.provider;
    for (const request of requests.slice(this.#examined)) {
      if (this.provider.senderOf(request) === ENGINE && !isOverflow(request))
        this.report(refusal(request, "engine"));
    }
    this.#examined = requests.length;
  }

  /** Calls the engine like a host, sometimes with an abort. Undefined if the call failed. */
  async call<T>(
    name: string,
    work: (signal: AbortSignal) => Promise<T>,
    options: CallLimits = {},
  ): Promise<T | undefined> {
    const { mayFail = true, mayAbort = true, onAbort } = options;
    const abort = new AbortController();
    const isAborted = mayAbort && this.chance.is(this.setup.aborts);
    const stop = isAborted ? this.#abortLater(abort) : (): void => undefined;
    const startedAt = this.time.now();
    try {
      const result = await this.time.within(CALL_LIMIT_MS, work(abort.signal));
      // After an abort, `recover` returns undefined, so that the host shows its own error.
      if (result === undefined && abort.signal.aborted) onAbort?.();
      if (result !== HUNG) return result;
      this.report({ kind: `hang: ${name}`, detail: this.#afterLimit() });
      throw new ScheduleEnded(name);
    } catch (error) {
      if (error instanceof ScheduleEnded) throw error;
      if (abort.signal.aborted) onAbort?.();
      this.#judge(name, error, abort.signal.aborted, mayFail);
      return undefined;
    } finally {
      stop();
      const seconds = Math.round((this.time.now() - startedAt) / 1_000);
      if (seconds >= 100) this.note(`(${name} took ${seconds} s)`);
    }
  }

  #afterLimit(): string {
    const { transcript, isEngineCutOff } = this.setup;
    const cause = isEngineCutOff ? "the model never answers the engine" : `session file: ${transcript}`;
    return `no answer after ${CALL_LIMIT_MS / 1_000} s (${cause})`;
  }

  #judge(name: string, error: unknown, isAborted: boolean, mayFail: boolean): void {
    const code = error instanceof LonghaulError ? error.code : undefined;
    this.note(`[${name}: ${code ?? (error instanceof Error ? error.name : String(error))}]`);
    if (isAborted && (code === "model-aborted" || (error instanceof Error && error.name === "AbortError")))
      return;
    if (code === undefined) {
      const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.report({ kind: `untyped error from ${name}`, detail });
    } else if (!mayFail) {
      this.report({ kind: `${name} failed: ${code}`, detail: (error as Error).message });
    }
  }

  /** Aborts at once, after some turns of the event loop, after some time, or when a request goes out. */
  #abortLater(abort: AbortController): () => void {
    const { chance, time, provider } = this;
    const moment = chance.pick(["at once", "soon", "later", "at a request"] as const);
    this.note(`<abort ${moment}>`);
    if (moment === "at once") abort.abort();
    if (moment === "soon") abortAfterTurns(abort, chance.between(1, 12));
    if (moment === "later") void time.sleep(chance.pick([1, 500, 3_000, 61_000])).then(() => abort.abort());
    if (moment !== "at a request") return () => undefined;
    provider.onRequest = () => setImmediate(() => abort.abort());
    return () => {
      provider.onRequest = undefined;
    };
  }
}

export interface CallLimits {
  /** True if the host has to expect a typed error. */
  readonly mayFail?: boolean;
  readonly mayAbort?: boolean;
  readonly onAbort?: () => void;
}

function abortAfterTurns(abort: AbortController, turns: number): void {
  if (turns === 0) abort.abort();
  else setImmediate(() => abortAfterTurns(abort, turns - 1));
}
