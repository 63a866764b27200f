import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CompactorEvent, Entry } from "@longhaul/core";
import { loadSession, notesPath } from "@longhaul/sessions";
import type { LoggedRequest, Simulator } from "@longhaul/simulator";
import { asCandidate, isWork } from "./faults.case.ts";
import { faultsIn, missingWords } from "./killed-checks.case.ts";
import { Child } from "./killed-child.case.ts";
import type { IsCall, Moment } from "./killed-moments.case.ts";
import type { Headroom, Orders } from "./killed-report.case.ts";
import { openScene, WINDOW_TOKENS } from "./scene.case.ts";

/** Time between two processes. A person notices a killed process late, when the provider's cache is cold. */
const BETWEEN_PROCESSES_MS = 3_600_000;
const START_MS = Date.UTC(2026, 10, 15, 12);
/** Lets the process run until it is killed. */
const ENDLESS = { rewrites: 1_000, moreTurns: 1 };
const TO_THE_END = { rewrites: 1, moreTurns: 3 };

/** Events that a kill must not cause. */
const ALARMS: ReadonlySet<CompactorEvent["type"]> = new Set([
  "usage-distrusted",
  "cache-break",
  "notes-failed",
  "span-failed",
  "compaction-failed",
  "recovery-failed",
  "transcript-failed",
  "host-callback-failed",
]);

export interface KilledSessionOptions {
  readonly folder: string;
  readonly headroom: Headroom;
  readonly modelName: string;
  readonly notesOften?: boolean;
  readonly seed: number;
}

/** Counts of the operations that the kills interrupted. */
export interface KillFigures {
  kills: number;
  /** Unfinished writes to the session. */
  writes: number;
  /** Locks that a killed process held. */
  locks: number;
  /** Notes that were being written to a temporary file. */
  notes: number;
}

/** One session in a series of processes. All except the last are killed. */
export class KilledSession {
  readonly simulator: Simulator;
  readonly folder: string;
  readonly sessionPath: string;
  readonly notesPath: string;
  readonly figures: KillFigures = { kills: 0, writes: 0, locks: 0, notes: 0 };
  /** The process that ran last. */
  last: Child | undefined;
  readonly #options: KilledSessionOptions;
  readonly #requests: Requests;
  readonly #uuids = new Set<string>();
  readonly #words = new Set<string>();
  readonly #covered = new Map<string, string | undefined>();
  #processes = 0;

  private constructor(options: KilledSessionOptions, simulator: Simulator, requests: Requests) {
    this.#options = options;
    this.#requests = requests;
    this.simulator = simulator;
    this.folder = options.folder;
    this.sessionPath = join(options.folder, "session.jsonl");
    this.notesPath = notesPath(this.sessionPath);
  }

  static async open(options: KilledSessionOptions): Promise<KilledSession> {
    mkdirSync(options.folder, { recursive: true });
    const requests = new Requests();
    const { simulator } = await openScene({ seed: options.seed, onRequest: requests.take });
    return new KilledSession(options, simulator, requests);
  }

  /** Starts a process on the session, kills it at the moment, and returns the faults. */
  async kill(moment: Moment): Promise<readonly string[]> {
    this.#requests.begin();
    const isThere = moment.prepare(this);
    const leftBefore = this.#leftovers(".tmp").length;
    const child = this.#start({ until: ENDLESS, ...moment.orders });
    const end = await Promise.race([isThere(child).then(() => "moment" as const), child.ended]);
    if (end !== "moment") throw new Error(`It ended by itself with ${end}: ${child.errors}`);
    await child.kill();
    this.figures.kills += 1;
    if (this.#leftovers(".lock").length > 0) this.figures.locks += 1;
    if (this.#leftovers(".tmp").length > leftBefore) this.figures.notes += 1;
    return await this.#look(child);
  }

  /** Starts a last process, which ends by itself soon after its next compaction. */
  async finish(): Promise<readonly string[]> {
    this.#requests.begin();
    const child = this.#start({ until: TO_THE_END });
    const code = await child.ended;
    if (code !== 0) throw new Error(`It ended with ${code}: ${child.errors}`);
    return [
      ...(await this.#look(child)),
      ...child.reportsOf("done").flatMap(({ problems }) => problems),
      ...this.#leftovers(".lock").map((name) => `${name} was left behind`),
    ];
  }

  /** Resolves when a matching call has been answered completely. */
  nextAnswer(isCall: IsCall): Promise<void> {
    return this.#requests.nextAnswer(isCall);
  }

  conversation(): Promise<readonly Entry[]> {
    return loadSession(this.sessionPath).then(({ conversation }) => conversation);
  }

  /** Returns the conversation right before the write that the kill interrupted. */
  async conversationBeforeWrite(): Promise<readonly Entry[]> {
    const copy = join(this.folder, "before.jsonl");
    const bytes = this.last?.reportsOf("writing").at(-1)?.bytes;
    writeFileSync(copy, readFileSync(this.sessionPath).subarray(0, bytes));
    return (await loadSession(copy)).conversation;
  }

  #leftovers(ending: ".lock" | ".tmp"): readonly string[] {
    return readdirSync(this.folder).filter((name) => name.endsWith(ending));
  }

  #start(orders: Pick<Orders, "until"> & Partial<Orders>): Child {
    const { headroom, modelName, notesOften = false, seed } = this.#options;
    const { sessionPath, simulator } = this;
    const nth = this.#processes++;
    this.last = new Child({
      url: simulator.url,
      sessionPath,
      notesPath: this.notesPath,
      windowTokens: WINDOW_TOKENS,
      modelName,
      headroom,
      notesOften,
      seed: seed * 10_000 + nth * 10,
      startMs: START_MS + nth * BETWEEN_PROCESSES_MS,
      ...orders,
    });
    return this.last;
  }

  async #look(child: Child): Promise<readonly string[]> {
    const resumed = this.#faultsInResuming(child);
    this.#takeNote(child);
    const { sessionPath, notesPath } = this;
    const ledger = {
      uuids: this.#uuids,
      words: this.#words,
      covered: this.#covered,
      tornLines: this.figures.writes,
    };
    const invalid = this.simulator.requests.invalid.map(
      ({ error, findings }) => `invalid request: ${JSON.stringify({ error, findings })}`,
    );
    const alarms = child
      .reportsOf("event")
      .filter(({ name }) => ALARMS.has(name))
      .map(({ name, reason }) => `event ${name} ${reason}`);
    const failed = child.errors === "" ? [] : [child.errors];
    const faults = await faultsIn({ sessionPath, notesPath }, ledger);
    return [...resumed, ...faults, ...invalid, ...alarms, ...failed];
  }

  /** Checks that the first request of this process contains everything that earlier processes wrote. */
  #faultsInResuming(child: Child): readonly string[] {
    const [started] = child.reportsOf("started");
    if (this.#uuids.size > 0 && started?.resumedMessages === 0) return ["it began anew"];
    const sent = this.#requests.firstOfWork;
    return sent === undefined ? [] : missingWords(sent, this.sessionPath, this.#words);
  }

  #takeNote(child: Child): void {
    for (const { uuids, words } of child.reportsOf("written")) {
      for (const uuid of uuids) this.#uuids.add(uuid);
      for (const word of words) this.#words.add(word);
    }
    for (const { boundaryUuid, coveredUuid } of child.reportsOf("writing")) {
      if (boundaryUuid !== undefined) this.#covered.set(boundaryUuid, coveredUuid);
    }
    const newest = child.reports.findLast(({ type }) => type === "writing" || type === "written");
    if (newest?.type === "writing") this.figures.writes += 1;
  }
}

/** The requests that the simulator received, as far as the tests need them. */
class Requests {
  /** Messages of the current process's first work call. */
  firstOfWork: string | undefined;
  #waiting: { readonly isCall: IsCall; readonly resolve: () => void }[] = [];

  begin(): void {
    this.firstOfWork = undefined;
    this.#waiting = [];
  }

  readonly take = (request: LoggedRequest): void => {
    const call = asCandidate(request);
    if (isWork(call)) this.firstOfWork ??= JSON.stringify(request.body?.messages);
    if (request.outcome !== "answered") return;
    for (const { isCall, resolve } of this.#waiting) if (isCall(call)) resolve();
  };

  nextAnswer(isCall: IsCall): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ isCall, resolve }));
  }
}
