// npm run test:clients [-- --client VERSION] [--only TEXT] [--latest] [--binding] [--json]
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { installClaudeCode, newestClaudeCode } from "./install.ts";
import { type LaneReport, runLane } from "./lane.ts";
import { type CellResult, isRed, matrixText } from "./matrix.ts";
import { OPERATIONS } from "./operations.ts";
import { CLAUDE_CODE_VERSIONS } from "./pins.ts";
import { type RefusingProxy, startProxy } from "./proxy.ts";

/** A model with a window of 200K that does not bind its thinking. */
const MODEL = "claude-sonnet-4-5";
/** One that binds it, for `--binding`. */
const BINDING_MODEL = "claude-sonnet-5-5";

const { values } = parseArgs({
  options: {
    client: { type: "string", multiple: true },
    only: { type: "string", multiple: true },
    latest: { type: "boolean", default: false },
    binding: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});

process.once("SIGINT", () => process.exit(130));
process.exitCode = await main();

async function main(): Promise<number> {
  const startedAt = performance.now();
  const folder = mkdtempSync(join(tmpdir(), "longhaul-clients-"));
  const proxy = await startProxy();
  const cells: CellResult[] = [];
  const reports = await Promise.all(
    columns().map(({ version, column }) => lane(version, column, folder, proxy, cells)),
  );
  proxy.close();
  const failed = cells.filter((cell) => isRed(cell) && !cell.column.endsWith(NEWEST));
  print(cells, reports, proxy, performance.now() - startedAt);
  if (cells.some(isRed)) process.stderr.write(`clients: the folders of red cells are in ${folder}\n`);
  else rmSync(folder, { recursive: true, force: true });
  return failed.length > 0 || cells.length === 0 ? 1 : 0;
}

/** A column of the newest version reports and never fails. */
const NEWEST = " (newest)";

function columns(): readonly { readonly version: string; readonly column: string }[] {
  const pinned = values.client ?? CLAUDE_CODE_VERSIONS;
  const newest = values.latest ? newestClaudeCode() : undefined;
  return [
    ...pinned.map((version) => ({ version, column: version })),
    ...(newest === undefined || pinned.includes(newest)
      ? []
      : [{ version: newest, column: `${newest}${NEWEST}` }]),
  ];
}

function lane(
  version: string,
  column: string,
  folder: string,
  proxy: RefusingProxy,
  cells: CellResult[],
): Promise<LaneReport> {
  const operations = OPERATIONS.filter(({ name }) => isWanted(name));
  return runLane({
    column,
    binary: installClaudeCode(version),
    model: values.binding ? BINDING_MODEL : MODEL,
    folder: join(folder, version),
    proxy: proxy.url,
    operations,
    binding: values.binding,
    onCell: (cell) => {
      cells.push(cell);
      process.stderr.write(`clients: ${isRed(cell) ? "RED" : "ok "} ${cell.row}, ${cell.column}\n`);
    },
  });
}

const isWanted = (name: string): boolean => values.only?.some((part) => name.includes(part)) ?? true;

function print(
  cells: readonly CellResult[],
  reports: readonly LaneReport[],
  proxy: RefusingProxy,
  ms: number,
): void {
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
  const hosts = Object.entries(refused).map(([host, tries]) => `${host} (${tries})`);
  const red = cells.filter(isRed).length;
  process.stdout.write(
    `${matrixText(cells)}\n\n${cells.length} cells, ${red} red; ${requests} requests, ${examined} examined; ${seconds} s\n`,
  );
  if (hosts.length > 0) process.stdout.write(`Refused connections beyond loopback: ${hosts.join(", ")}\n`);
}
