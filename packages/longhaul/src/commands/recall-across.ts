import type { RecallScope, SessionsRecallHit, SessionsRecallPage } from "@longhaul/sessions";
import { recallAcrossSessions } from "@longhaul/sessions";
import type { Composition } from "../composition.ts";
import type { Terminal } from "../terminal.ts";
import { formatBytes, formatPercent, plural } from "../view/numbers.ts";
import { fitText, foldText, oneLine, shownText, textWidth } from "../view/text-width.ts";
import {
  countOf,
  hitLines,
  INDENT,
  nothingFound,
  type RecallCommandOptions,
  recallQuery,
  whatFor,
} from "./recall-command.ts";

/** Output format of `recall --all-sessions --json`. Stable, because other programs read it. See docs/json.md. */
export interface SessionsRecallReport extends SessionsRecallPage {
  readonly scope: RecallScope;
  readonly query: ReturnType<typeof recallQuery>;
}

/** Searches all sessions of the project or of the machine. Never changes a session. */
export async function recallAcross(
  words: readonly string[],
  scope: RecallScope,
  options: RecallCommandOptions,
  { terminal, places }: Pick<Composition, "terminal" | "places">,
): Promise<void> {
  const query = recallQuery(words.join(" "), options);
  const onProgress = indexingProgress(terminal);
  const page = await recallAcrossSessions(query, { places, scope, onProgress });
  for (const { reason } of page.skipped) terminal.note(`longhaul: left out: ${shownText(reason)}`);
  const report = { scope, query, ...page };
  terminal.print(options.json ? JSON.stringify(report, null, 2) : sessionsRecallView(report, terminal));
}

const indexingProgress =
  ({ progress }: Pick<Terminal, "progress">) =>
  (done: number, total: number): void =>
    progress(
      `Reading new and changed sessions … ${formatPercent(total === 0 ? 1 : done / total)} of ${formatBytes(total)}`,
    );

const SCOPES: Readonly<Record<RecallScope, string>> = {
  project: "all sessions of this project",
  machine: "all sessions on this machine",
};
const NO_SESSIONS: Readonly<Record<RecallScope, string>> = {
  project: "No sessions of this project found. --all-projects searches all sessions on this machine.",
  machine: "No sessions found. Neither Claude Code nor longhaul has written any on this machine.",
};

export function sessionsRecallView(report: SessionsRecallReport, terminal: Terminal): string {
  const { colors, width } = terminal;
  const { hits, query, page, hasMore, searched, scope } = report;
  const title = `${colors.bold("Recall")} ${colors.dim(SCOPES[scope])}`;
  const fold = (line: string): string => foldText(line, width);
  if (searched === 0) return [title, fold(NO_SESSIONS[scope])].join("\n");
  if (hits.length === 0) {
    const hint = query.all === true || page > 1 ? [] : ["--all also searches summaries."];
    const lines = [...nothingFound({ ...report, query: { ...query, all: true } }), ...hint];
    return [title, ...lines.map(fold)].join("\n");
  }
  const notes = [
    `${countOf(report)} ${whatFor({ ...query, all: undefined })}, in ${plural(searched, "session")}${page > 1 ? `, page ${page}` : ""}`,
    ...(report.notSearched > 0
      ? [`${plural(report.notSearched, "text")} skipped: the pattern is too slow on them.`]
      : []),
  ];
  const more = hasMore ? ` --page ${page + 1} shows more.` : "";
  const hint = `These are old messages. Files may have changed since. \`longhaul recall SESSION --id ID\` shows one in full.${more}`;
  return [
    [title, ...notes.map(fold)].join("\n"),
    ...hits.map((hit) => [...hitLines(hit, terminal), sessionLine(hit, terminal)].join("\n")),
    colors.dim(fold(hint)),
  ].join("\n\n");
}

/** Shows the session and its project. Both names come from files. */
function sessionLine({ session }: SessionsRecallHit, { colors, width }: Terminal): string {
  const id = oneLine(session.id);
  const start = `${INDENT}${colors.dim("session")} ${colors.cyan(fitText(id, width - INDENT.length - 8))}`;
  const room = width - textWidth(start) - 2;
  return room < 12 ? start : `${start}  ${colors.dim(fitText(oneLine(session.project), room, "front"))}`;
}
