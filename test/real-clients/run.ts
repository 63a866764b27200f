// npm run test:clients [-- --client VERSION] [--only TEXT] [--latest] [--binding] [--record] [--json]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Place } from "./client.ts";
import { clientRow } from "./client-rows.ts";
import { installAgentSdk, installClaudeCode, newestClaudeCode } from "./install.ts";
import { type LaneReport, runLane } from "./lane.ts";
import { type CellResult, isRed, matrixText } from "./matrix.ts";
import { OPERATIONS } from "./operations.ts";
import { AGENT_SDK_VERSION, CLAUDE_CODE_VERSIONS } from "./pins.ts";
import { type RefusingProxy, startProxy } from "./proxy.ts";
import { record } from "./record.ts";
import { claudeCode, SIM_CLIENTS } from "./sim-clients.ts";
import { SimProcess } from "./sim-process.ts";
import { type SimRowOptions, simRow, talkWith } from "./sim-rows.ts";

/** An older model, for which clients send reminders inside user messages. */
const OLD_MODEL = "claude-sonnet-4-5";
/**
 * A current model, for which clients send reminders as system messages. The newest pinned client gets an
 * additional column with this model.
 */
const CURRENT_MODEL = "claude-opus-5";
/**
 * Window of a current model. A current model counts a quarter more tokens for the same text, so the same
 * prompts exceed this window.
 */
const CURRENT_WINDOW_TOKENS = 250_000;
const OLD_WINDOW_TOKENS = 200_000;
/** A model that binds its thinking, for `--binding`. */
const BINDING_MODEL = "claude-sonnet-5-5";

/** Suffix of a column whose faults do not fail the run. */
const NEWEST = " (newest)";
/** Heading of the column of clients that have no operations on session files. */
const SIM_COLUMN = "longhaul sim";
const NEWEST_PINNED = CLAUDE_CODE_VERSIONS.at(-1) ?? "";

const { values } = parseArgs({
  options: {
    client: { type: "string", multiple: true },
    only: { type: "string", multiple: true },
    latest: { type: "boolean", default: false },
    binding: { type: "boolean", default: false },
    record: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});

interface Run {
  readonly folder: string;
  readonly proxy: RefusingProxy;
  readonly cells: CellResult[];
}

interface Column {
  readonly version: string;
  /** Heading of the column. */
  readonly column: string;
  readonly model: string;
  readonly windowTokens: number;
  /** True if the client also runs against `longhaul sim`. */
  readonly withSim: boolean;
}

async function main(): Promise<number> {
  const startedAt = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "longhaul-clients-"));
  const run: Run = { folder, proxy: await startProxy(), cells: [] };
  const reports = await Promise.all(columns().map((column) => runColumn(run, column)));
  reports.push([await runClientRows(run)]);
  run.proxy.close();
  print(run, reports.flat(), performance.now() - startedAt);
  const { cells } = run;
  if (cells.some(isRed)) process.stderr.write(`clients: the folders of red cells are in ${folder}\n`);
  else rmSync(folder, { recursive: true, force: true });
  const hasFailed = cells.some((cell) => isRed(cell) && !cell.column.endsWith(NEWEST) && !values.binding);
  return hasFailed || cells.length === 0 ? 1 : 0;
}

function columns(): readonly Column[] {
  const pinned = values.client ?? CLAUDE_CODE_VERSIONS;
  const newest = values.latest ? newestClaudeCode() : undefined;
  const shouldReport = newest !== undefined && !pinned.includes(newest);
  const model = values.binding ? BINDING_MODEL : OLD_MODEL;
  const windowTokens = values.binding ? CURRENT_WINDOW_TOKENS : OLD_WINDOW_TOKENS;
  const shared = { model, windowTokens, withSim: !values.binding };
  const hasCurrent = !values.binding && pinned.includes(NEWEST_PINNED);
  const current = { version: NEWEST_PINNED, model: CURRENT_MODEL, windowTokens: CURRENT_WINDOW_TOKENS };
  return [
    ...pinned.map((version) => ({ ...shared, version, column: version })),
    ...(hasCurrent ? [{ ...current, withSim: false, column: `${NEWEST_PINNED} ${CURRENT_MODEL}` }] : []),
    ...(shouldReport ? [{ ...shared, version: newest, column: `${newest}${NEWEST}` }] : []),
  ];
}

/**
 * Runs a column. The column also fails if its client is missing or its base session fails, because then it
 * cannot start.
 */
async function runColumn(run: Run, column: Column): Promise<readonly LaneReport[]> {
  const onCell = (cell: CellResult): void => report(run, cell);
  try {
    return await runRows(run, column, onCell);
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    onCell({ row: "start", column: column.column, messages: 0, pairs: 0, markers: 0, faults: [fault] });
    return [];
  }
}

function report(run: Run, cell: CellResult): void {
  run.cells.push(cell);
  const fault = cell.faults[0] === undefined ? "" : `: ${cell.faults[0]}`;
  process.stderr.write(`clients: ${isRed(cell) ? "RED" : "ok "} ${cell.row}, ${cell.column}${fault}\n`);
}

/** Runs every other client with `longhaul sim`, one after the other. */
async function runClientRows(run: Run): Promise<LaneReport> {
  let requests = 0;
  const clients = values.record ? [...SIM_CLIENTS, claudeCode(run.proxy.url)] : SIM_CLIENTS;
  for (const client of values.binding ? [] : clients) {
    if (!isWanted(`sim: ${client.name}`)) continue;
    const folder = join(run.folder, client.name.replaceAll(/[^a-z0-9]+/gi, "-"));
    const { cells, calls } = await clientRow({ client, column: SIM_COLUMN, folder, proxy: run.proxy.url });
    for (const cell of cells) report(run, cell);
    requests += calls.length;
    if (values.record) record(client.name, calls);
  }
  return { requests, examined: 0 };
}

/** Runs the operations on session files, then the conversations with `longhaul sim`. */
async function runRows(
  run: Run,
  { version, column, model, windowTokens, withSim }: Column,
  onCell: (cell: CellResult) => void,
): Promise<readonly LaneReport[]> {
  const binary = installClaudeCode(version);
  const place = { binary, proxy: run.proxy.url, model };
  const operations = OPERATIONS.filter(({ name }) => isWanted(name));
  const folder = join(run.folder, column.replaceAll(" ", "-"));
  const shared = { column, folder, windowTokens, operations, binding: values.binding, onCell };
  const lane = operations.length === 0 ? [] : [await runLane({ ...place, ...shared })];
  const wantsSim = values.only?.some((part) => part.startsWith("sim")) ?? true;
  if (!withSim || !wantsSim) return lane;
  return [...lane, await runSimRows({ column, folder, place }, version, onCell)];
}

/**
 * Runs one row for each model of the simulator, one for the Agent SDK, and one that checks the scripted
 * coder.
 */
async function runSimRows(
  { column, folder, place }: Pick<SimRowOptions, "column" | "folder" | "place">,
  version: string,
  onCell: (cell: CellResult) => void,
): Promise<LaneReport> {
  const sim = await SimProcess.start();
  const add = async (name: string, model: string, talk?: SimRowOptions["talk"]): Promise<void> => {
    const row = `sim: ${name}`;
    if (!isWanted(row)) return;
    const own = join(folder, row.replaceAll(/[^a-z0-9]+/gi, "-"));
    const options = { row, column, sim, folder: own, place: { ...place, model } };
    onCell(await simRow(talk === undefined ? options : { ...options, talk }));
  };
  try {
    await add("the coder is harmless", OLD_MODEL);
    if (version === NEWEST_PINNED) await add(`Agent SDK ${AGENT_SDK_VERSION}`, OLD_MODEL, await agentSdk());
    for (const model of await sim.models()) await add(model, model);
    return { requests: sim.calls(0).length, examined: 0 };
  } finally {
    sim.stop();
  }
}

async function agentSdk(): Promise<(place: Place, prompt: string) => Promise<string>> {
  return talkWith(await import(installAgentSdk(AGENT_SDK_VERSION)));
}

function isWanted(name: string): boolean {
  return values.only?.some((part) => name.includes(part)) ?? true;
}

function print({ cells, proxy }: Run, reports: readonly LaneReport[], ms: number): void {
  const sum = (read: (report: LaneReport) => number): number =>
    reports.reduce((all, one) => all + read(one), 0);
  const requests = sum((report) => report.requests);
  const examined = sum((report) => report.examined);
  const seconds = Math.round(ms / 1000);
  const refused = Object.fromEntries(proxy.refused);
  if (values.json) {
    process.stdout.write(
      `${JSON.stringify({ cells, requests, examined, refusedHosts: refused, seconds })}\n`,
    );
    return;
  }
  const order = columns().map(({ column }) => column);
  const sorted = cells.toSorted((one, other) => order.indexOf(one.column) - order.indexOf(other.column));
  const hosts = Object.entries(refused).map(([host, tries]) => `${host} (${tries})`);
  const red = cells.filter(isRed).length;
  process.stdout.write(
    `${matrixText(sorted)}\n\n${cells.length} cells, ${red} red; ${requests} requests, ${examined} examined; ${seconds} s\n`,
  );
  if (hosts.length > 0) process.stdout.write(`Refused connections beyond loopback: ${hosts.join(", ")}\n`);
}

process.once("SIGINT", () => process.exit(130));
process.exitCode = await main();
