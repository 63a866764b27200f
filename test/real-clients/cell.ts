import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ask, clientEnv, OpenClient, type Place } from "./client.ts";
import { type CallItem, type Examination, type Expectation, examine, type Item } from "./examine.ts";
import type { Provider } from "./provider.ts";
import type { Scenario } from "./scenario.ts";
import { markersIn, type Step, type Turn } from "./script.ts";
import { readLines, recordedCompaction, sessionPath, uuidOf } from "./session-file.ts";
import { type Json, type Piece, piecesOf } from "./wire.ts";

/** The built command line. */
export const LONGHAUL: string = fileURLToPath(
  new URL("../../packages/longhaul/dist/main.js", import.meta.url),
);

/** Delay between the start of a slow command and the typing of input. */
const TYPING_DELAY_MS = 400;

/**
 * The messages that an operation keeps. For `recent`, the examiner reads them from the session file. For the
 * others, it knows them from the operation.
 */
export type Keeps =
  | { readonly what: "recent" }
  | { readonly what: "nothing" }
  | { readonly what: "from"; readonly marker: string }
  | { readonly what: "before"; readonly marker: string };

interface State {
  readonly items: readonly Item[];
  readonly restored: readonly string[];
}

/** One conversation in its own HOME, with the expected content of the next request. */
export class Cell {
  readonly provider: Provider;
  readonly scenario: Scenario;
  readonly place: Place;
  sessionId = "";
  #state: State = { items: [], restored: [] };
  /** State of the conversation before and after each operation that can be undone. */
  #undo: { readonly before: State; readonly after: State }[] = [];
  #undone: { readonly before: State; readonly after: State } | undefined;
  readonly #everyMarker = new Set<string>();
  readonly #everySummary = new Set<string>();
  /** Faults of the operations themselves. */
  readonly #faults: string[] = [];

  constructor(provider: Provider, scenario: Scenario, place: Place) {
    this.provider = provider;
    this.scenario = scenario;
    this.place = place;
  }

  /** Copies the conversation to another HOME. */
  copy(home: string): Cell {
    // `--continue` takes the file that changed last.
    cpSync(this.place.home, home, { recursive: true, preserveTimestamps: true });
    const copy = new Cell(this.provider, this.scenario, { ...this.place, home });
    copy.sessionId = this.sessionId;
    copy.#state = this.#state;
    copy.#undo = [...this.#undo];
    copy.#undone = this.#undone;
    for (const marker of this.#everyMarker) copy.#everyMarker.add(marker);
    for (const summary of this.#everySummary) copy.#everySummary.add(summary);
    copy.#faults.push(...this.#faults);
    return copy;
  }

  get expectation(): Expectation {
    return { ...this.#state, everyMarker: [...this.#everyMarker], everySummary: [...this.#everySummary] };
  }

  /** Returns the markers of the prompts that are in the conversation, oldest first. */
  get prompts(): readonly string[] {
    return this.#state.items
      .flatMap((item) => (item.kind === "said" ? item.markers : []))
      .filter((marker) => marker.endsWith("prompt"));
  }

  /** Runs these turns in one client that stays open, and types while the client works. */
  async work(turns: readonly Turn[]): Promise<void> {
    this.scenario.writeFiles();
    const client = new OpenClient(this.place, this.#resume());
    try {
      for (const turn of turns) {
        this.provider.play(turn, (typed) => void setTimeout(() => client.send(typed), TYPING_DELAY_MS));
        client.send(turn.prompt);
        const { sessionId } = await client.result();
        this.#finish(turn, sessionId);
      }
    } finally {
      await client.close();
    }
  }

  /** Runs one turn in a separate client. */
  async turn(turn: Turn, args: readonly string[] = this.#resume()): Promise<void> {
    this.provider.play(turn);
    const { sessionId } = await ask(this.place, turn.prompt, args);
    this.#finish(turn, sessionId);
  }

  /** Runs Claude Code's own compaction with `/compact`. */
  async theirs(): Promise<void> {
    const from = this.lines.length;
    await ask(this.place, "/compact", this.#resume());
    this.#compacted(from, undefined);
  }

  /** Runs this turn so that Claude Code compacts before it. */
  async theirsBefore(turn: Turn, env: Record<string, string>): Promise<void> {
    const from = this.lines.length;
    this.provider.play(turn);
    const { sessionId } = await ask({ ...this.place, env }, turn.prompt, this.#resume());
    this.#compacted(from, undefined);
    this.#finish(turn, sessionId);
  }

  /** Runs `longhaul compact --in-place`. */
  async compact(keeps: Keeps, args: readonly string[] = []): Promise<void> {
    const from = this.lines.length;
    await this.longhaul(["compact", this.path, "--in-place", ...args]);
    this.#compacted(from, keeps);
  }

  /** Runs `longhaul compact --out`. The conversation continues in the new session. */
  async compactOut(keeps: Keeps): Promise<void> {
    const id = randomUUID();
    await this.longhaul(["compact", this.path, "--out", join(dirname(this.path), `${id}.jsonl`)]);
    this.sessionId = id;
    this.#compacted(0, keeps);
  }

  /** Runs `longhaul clear --in-place`. All results except the newest may lose their text. */
  async clear(newest: number): Promise<void> {
    const { items } = this.#state;
    const from = this.lines.length;
    await this.longhaul(["clear", this.path, "--in-place", "--keep", String(newest)]);
    if (this.lines.length === from) throw new Error("Nothing was cleared.");
    const calls = items.filter((item) => item.kind === "call");
    const intact = new Set<Item>(newest === 0 ? [] : calls.slice(-newest));
    const cleared = items.map((item) =>
      item.kind === "call" && !intact.has(item) ? withoutResult(item) : item,
    );
    this.#operate({ ...this.#state, items: cleared });
  }

  /**
   * Runs `longhaul undo --in-place`. Expects the state before the newest operation plus all later messages.
   */
  async undo(): Promise<void> {
    await this.longhaul(["undo", this.path, "--in-place"]);
    const step = this.#undo.pop();
    if (step === undefined) throw new Error("Nothing to undo.");
    this.#undone = { before: step.before, after: this.#state };
    const since = this.#state.items.slice(step.after.items.length);
    this.#state = { ...step.before, items: [...step.before.items, ...since] };
  }

  /** Runs `longhaul undo --redo --in-place`. */
  async redo(): Promise<void> {
    const step = this.#undone;
    if (step === undefined) throw new Error("Nothing to redo.");
    await this.longhaul(["undo", this.path, "--redo", "--in-place"]);
    this.#undo.push({ before: step.before, after: step.after });
    this.#state = step.after;
    this.#undone = undefined;
  }

  /** Returns the id that longhaul uses for a prompt. */
  uuid(marker: string): string {
    return uuidOf(this.lines, marker);
  }

  get path(): string {
    return sessionPath(this.place.home, this.sessionId);
  }

  get lines(): readonly Json[] {
    return readLines(this.path);
  }

  /** Asks the client to continue, and examines the request that it sends. */
  async probe(args: readonly string[]): Promise<Examination> {
    const turn = this.scenario.probe();
    const expected = this.expectation;
    const first = this.provider.requests.length;
    await this.turn(turn, args);
    const marker = markersIn(turn.prompt)[0] ?? "";
    const request = this.provider.requests
      .slice(first)
      .find(({ body }) => lastPrompt(piecesOf(body?.messages))?.markers.includes(marker));
    if (request === undefined)
      return { faults: ["no request on the wire"], messages: 0, pairs: 0, markers: 0 };
    const { faults, ...compared } = examine(request.body?.messages, expected);
    const refused = request.error === undefined ? [] : [`refused: ${request.error.message}`];
    return {
      faults: [...this.#faults, ...refused, ...faults, ...this.provider.takeUnexpected()],
      ...compared,
    };
  }

  longhaul(args: readonly string[]): Promise<string> {
    return runLonghaul(args, clientEnv(this.place), this.place.workspace);
  }

  #resume(): readonly string[] {
    return this.sessionId === "" ? [] : ["--resume", this.sessionId];
  }

  #finish(turn: Turn, sessionId: string): void {
    this.sessionId = sessionId;
    const added = itemsOf(turn, this.provider);
    for (const item of added)
      if (item.kind !== "summary") for (const one of item.markers) this.#everyMarker.add(one);
    this.#state = { ...this.#state, items: [...this.#state.items, ...added] };
  }

  #compacted(from: number, keeps: Keeps | undefined): void {
    const record = recordedCompaction(this.lines, from, summariesOf(this.#state.items));
    if (record === undefined) throw new Error("The file records no compaction.");
    const { items } = this.#state;
    const [start, end] = keptRange(items, keeps ?? { what: "recent" }, record.kept);
    const gone = items.filter((_, at) => at < start || at >= end);
    const written = this.provider.takeFacts(record.summary);
    const carried = gone.flatMap((item) => factsOf(item, written.length > 0));
    const summary: Item = {
      kind: "summary",
      text: record.summary,
      facts: [...carried, ...written],
      // The last section is the next step. It ends when the user asks for something else.
      lasting: [...carried, ...written.slice(0, -1)],
    };
    this.#everySummary.add(record.summary);
    for (const fact of written) this.#everyMarker.add(fact);
    const kept = items.slice(start, end);
    if (keeps !== undefined) this.#checkRestored(gone, kept, record.restored);
    const isLast = keeps?.what === "before";
    this.#operate({ items: isLast ? [...kept, summary] : [summary, ...kept], restored: record.restored });
  }

  /** Checks that a file is restored if the summarized part read it and no kept result contains it. */
  #checkRestored(gone: readonly Item[], kept: readonly Item[], restored: readonly string[]): void {
    const filesOf = (items: readonly Item[]): readonly string[] =>
      items.flatMap((item) => (item.kind === "call" && item.name === "Read" ? item.markers : []));
    const isShown = new Set(filesOf(kept));
    const missing = filesOf(gone).filter((marker) => !isShown.has(marker));
    if (missing.length > 0 && restored.length === 0) this.#faults.push("no file was restored");
  }

  #operate(after: State): void {
    this.#undo.push({ before: this.#state, after });
    this.#undone = undefined;
    this.#state = after;
  }
}

/**
 * Returns the markers that the summary must contain for this item. If a model wrote the summary, there are
 * none, because such a summary has only the facts of its script.
 */
function factsOf(item: Item, isByModel: boolean): readonly string[] {
  if (isByModel) return [];
  if (item.kind === "summary") return item.lasting;
  return item.kind === "said" && item.role === "user" ? item.markers.slice(0, 1) : [];
}

/** Finds the last prompt. The client may add reminders after it. */
const lastPrompt = (pieces: readonly Piece[]): Piece | undefined =>
  pieces.findLast(({ role, kind }) => role === "user" && kind === "text");

const summariesOf = (items: readonly Item[]): ReadonlySet<string> =>
  new Set(items.flatMap((item) => (item.kind === "summary" ? [item.text] : [])));

/** Returns the indexes at which the kept items start and end. */
function keptRange(items: readonly Item[], keeps: Keeps, kept: readonly Json[]): readonly [number, number] {
  const indexOf = (marker: string): number => {
    const at = items.findIndex((item) => item.kind === "said" && item.markers.includes(marker));
    if (at === -1) throw new Error(`The conversation has no ${marker}.`);
    return at;
  };
  switch (keeps.what) {
    case "nothing":
      return [items.length, items.length];
    case "from":
      return [indexOf(keeps.marker), items.length];
    case "before":
      return [0, indexOf(keeps.marker)];
    case "recent":
      return [firstKept(items, kept), items.length];
  }
}

/** Finds the item of the oldest kept line. Lines without a marker are attachments of the client. */
function firstKept(items: readonly Item[], kept: readonly Json[]): number {
  for (const line of kept) {
    const text = JSON.stringify(line.message ?? line.attachment ?? "");
    const markers = markersIn(text);
    const at = items.findIndex((item) => {
      if (item.kind === "summary")
        return line.isCompactSummary === true && text.includes(JSON.stringify(item.text).slice(1, -1));
      return item.markers.some((marker) => markers.includes(marker));
    });
    if (at !== -1) return at;
  }
  return items.length;
}

/**
 * Returns the call without an expected result, because both outcomes are correct. The result may be cleared.
 * It may also stay, because the tool cannot return it again.
 */
const withoutResult = (item: CallItem): CallItem => ({ ...item, result: undefined, shows: undefined });

function itemsOf({ prompt, steps }: Turn, provider: Provider): readonly Item[] {
  return [said("user", prompt), ...steps.flatMap((step) => itemsOfStep(step, provider))];
}

function itemsOfStep({ thinking = "", text, calls = [], typed }: Step, provider: Provider): readonly Item[] {
  return [
    ...(text === undefined ? [] : [said("assistant", text, markersIn(thinking))]),
    ...calls.map(({ id, name, input, result }): CallItem => {
      const signature = provider.firstThought(id)?.block.signature;
      return {
        kind: "call",
        id,
        name,
        input,
        markers: [...markersIn(JSON.stringify(input)), ...(result === undefined ? [] : [result])],
        result: provider.firstResult(id)?.text,
        shows: result,
        signature: typeof signature === "string" ? signature : undefined,
      };
    }),
    ...(typed === undefined ? [] : [said("user", typed)]),
  ];
}

const said = (role: "user" | "assistant", text: string, more: readonly string[] = []): Item => ({
  kind: "said",
  role,
  markers: [...markersIn(text), ...more],
  text,
});

/** Runs the built command line. Fails unless the command exits with 0. */
function runLonghaul(args: readonly string[], env: Record<string, string>, cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [LONGHAUL, ...args], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (data: Buffer) => {
        output += data.toString();
      });
    }
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(output);
      else reject(new Error(`longhaul ${args[0]} ended with ${code}: ${output.slice(-400)}`));
    });
  });
}
