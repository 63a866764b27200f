import { cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Cell } from "./cell.ts";
import type { Place } from "./client.ts";
import { type CellResult, isRed } from "./matrix.ts";
import type { Operation } from "./operations.ts";
import { Provider } from "./provider.ts";
import { Scenario } from "./scenario.ts";

export interface LaneOptions {
  /** Heading of the column. */
  readonly column: string;
  readonly binary: string;
  readonly model: string;
  readonly windowTokens: number;
  /** A separate, empty folder. */
  readonly folder: string;
  readonly proxy: string;
  readonly operations: readonly Operation[];
  /** True if thinking is bound to its history, as on a real account. */
  readonly binding: boolean;
  onCell(cell: CellResult): void;
}

export interface LaneReport {
  /** All model calls of the client and of longhaul. */
  readonly requests: number;
  /** Requests that the examiner compared. */
  readonly examined: number;
}

/** Ways to make the client continue. Each way gets a copy of the session in its own HOME. */
const RESUMES: readonly { readonly name: string; args(id: string): readonly string[] }[] = [
  { name: "resume", args: (id) => ["--resume", id] },
  { name: "continue", args: () => ["--continue"] },
  { name: "fork", args: (id) => ["--resume", id, "--fork-session"] },
];

/** Builds the session once, then applies each operation to a copy of it and resumes the copy. */
export async function runLane(options: LaneOptions): Promise<LaneReport> {
  const lane = new Lane(options, await startProvider(options));
  try {
    return await lane.run();
  } finally {
    await lane.close();
  }
}

async function startProvider(options: LaneOptions): Promise<readonly [Provider, Scenario]> {
  const { folder, binding, windowTokens } = options;
  const workspace = join(folder, "workspace");
  mkdirSync(workspace, { recursive: true });
  const scenario = new Scenario(workspace);
  return [
    await Provider.start({ markers: scenario.markers, enforceBinding: binding, windowTokens }),
    scenario,
  ];
}

class Lane {
  readonly #options: LaneOptions;
  readonly #provider: Provider;
  readonly #scenario: Scenario;
  #examined = 0;

  constructor(options: LaneOptions, [provider, scenario]: readonly [Provider, Scenario]) {
    this.#options = options;
    this.#provider = provider;
    this.#scenario = scenario;
  }

  async run(): Promise<LaneReport> {
    const { folder, operations, onCell } = this.#options;
    const base = this.#cell(join(folder, "base"));
    await base.work(this.#scenario.work());
    cpSync(this.#workspace, join(folder, "workspace-base"), { recursive: true });
    for (const operation of operations) onCell(await this.#run(base, operation));
    onCell(this.#refusals());
    return { requests: this.#provider.requests.length, examined: this.#examined };
  }

  close(): Promise<void> {
    return this.#provider.simulator.close();
  }

  async #run(base: Cell, { name, run }: Operation): Promise<CellResult> {
    const { folder, column, binding } = this.#options;
    const home = join(folder, name.replaceAll(/[^a-z0-9]+/gi, "-"));
    rmSync(this.#workspace, { recursive: true, force: true });
    cpSync(join(folder, "workspace-base"), this.#workspace, { recursive: true });
    const total = { row: name, column, messages: 0, pairs: 0, markers: 0 };
    const faults: string[] = [];
    const firstRequest = this.#provider.requests.length;
    try {
      const cell = base.copy(home);
      await run(cell);
      for (const resume of RESUMES) {
        const { faults: found, ...compared } = await this.#resume(cell, resume);
        total.messages += compared.messages;
        total.pairs += compared.pairs;
        total.markers += compared.markers;
        faults.push(...found.map((fault) => `${resume.name}: ${fault}`));
      }
    } catch (error) {
      faults.push(error instanceof Error ? error.message : String(error));
    }
    // If thinking is bound to its history, the result is only the list of refusals. A refusal is no fault
    // there, because longhaul drops thinking after its changes and the client retries.
    const result = binding
      ? { ...total, faults: [], notes: counted(this.#provider.refusals(firstRequest)) }
      : { ...total, faults };
    if (!isRed(result))
      for (const one of [home, ...RESUMES.map((resume) => `${home}-${resume.name}`)]) {
        rmSync(one, { recursive: true, force: true });
      }
    return result;
  }

  /** Resumes a copy twice. The second resume sees the lines that the first one added to the file. */
  async #resume(cell: Cell, { name, args }: (typeof RESUMES)[number]): Promise<Compared> {
    const copy = cell.copy(`${cell.place.home}-${name}`);
    const first = await copy.probe(args(copy.sessionId));
    const second = await copy.probe(["--resume", copy.sessionId]);
    this.#examined += 2;
    return {
      messages: first.messages + second.messages,
      pairs: first.pairs + second.pairs,
      markers: first.markers + second.markers,
      faults: [...first.faults, ...second.faults.map((fault) => `again: ${fault}`)],
    };
  }

  /** Builds the last row, which lists the requests of this lane that the provider refused. */
  #refusals(): CellResult {
    const { column, binding } = this.#options;
    const messages = this.#provider.requests.length;
    const faults = binding ? [] : this.#provider.refusals(0);
    return { row: "no refused request", column, messages, pairs: 0, markers: 0, faults };
  }

  #cell(home: string): Cell {
    mkdirSync(home, { recursive: true });
    const { binary, model, proxy } = this.#options;
    const url = this.#provider.simulator.url;
    const place: Place = { binary, home, workspace: this.#workspace, url, proxy, model };
    return new Cell(this.#provider, this.#scenario, place);
  }

  get #workspace(): string {
    return join(this.#options.folder, "workspace");
  }
}

/** Returns each text once, with its number of occurrences. */
function counted(texts: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].map(([text, count]) => `refused ${count} times: ${text}`);
}

interface Compared {
  readonly messages: number;
  readonly pairs: number;
  readonly markers: number;
  readonly faults: readonly string[];
}
