import type { Agent, RunResult } from "@longhaul/agent";
import { contentText, rawContent } from "@longhaul/core/internal/messages";
import type { Entry } from "@longhaul/core/messages";
import { promptsOf } from "../prompts-report.ts";
import type { Terminal } from "../terminal.ts";
import { formatShort, plural } from "../view/numbers.ts";
import { fitText, foldText, shownText } from "../view/text-width.ts";
import { windowWords } from "../window-report.ts";
import { SUMMARY_HINT } from "./show/compactor-lines.ts";
import { wrapped } from "./show/word-wrap.ts";
import { compactedWords, currentSummary } from "./summaries.ts";

type Style = Pick<Terminal, "width" | "colours">;

/** What one should know before the first word. */
export function chatHeader(agent: Agent, version: string, home: string, { width, colours }: Style): string {
  const folder = agent.cwd.startsWith(`${home}/`) ? `~${agent.cwd.slice(home.length)}` : agent.cwd;
  const lines = [
    foldText(
      `${colours.bold("longhaul")} ${version} · ${fitText(agent.model.name, 40)} · ${windowWords(agent.reading.thresholds)}`,
      width,
      "  ",
    ),
    colours.dim(fitText(folder, width, "front")),
    colours.dim(fitText(`session ${agent.sessionId}`, width)),
    colours.dim(foldText("/help lists the commands · Ctrl-C stops · Ctrl-D leaves", width)),
    ...(agent.isWideFolder ? [colours.yellow(foldText(WIDE_FOLDER, width))] : []),
    ...(agent.permissionMode === "allow-all" ? [colours.yellow(foldText(ALLOW_ALL, width))] : []),
  ];
  return lines.join("\n");
}

const WIDE_FOLDER =
  "This is your home folder, or it contains it. The agent asks before everything it does, each time. " +
  "Start in a project folder to be asked less.";
const ALLOW_ALL = "Mode allow-all: the agent does everything without asking.";

/** Of a run that ended before it was done, and did not fail. */
export function stopWords({ reason, turns }: RunResult): string {
  if (reason === "aborted") return "Stopped. Nothing is lost: say how to go on.";
  return reason === "turn-limit" ? `Stopped after ${plural(turns, "turn")}. Say "go on" for more.` : "";
}

export const goOnWords = ({ sessionId }: Agent): string =>
  `To go on with this session:\n  longhaul chat --resume ${sessionId}`;

/** Of the last answer, enough to remember what it was about. */
const RECAP_LINES = 8;

/** How a session that is gone on with ended. */
export function recap(agent: Agent, { width, colours }: Style): string {
  const { conversation, reading } = agent;
  const size = `${plural(conversation.length, "entry").replace("entrys", "entries")}, ${formatShort(reading.tokens)} tokens`;
  const prompt = promptsOf({ conversation, clearedToolUseIds: new Set() }).at(-1)?.text;
  const answer = lastAnswer(conversation);
  const lines = wrapped(answer, width).split("\n");
  const shown = lines.slice(0, RECAP_LINES).join("\n");
  const compacted = currentSummary(conversation);
  return [
    colours.dim(`Gone on with: ${size}.`),
    ...(compacted === undefined
      ? []
      : [colours.dim(foldText(`${compactedWords(compacted.boundary)}. ${SUMMARY_HINT}`, width))]),
    ...(prompt === undefined ? [] : ["", colours.bold(`› ${fitText(prompt, width - 2)}`)]),
    ...(answer === "" ? [] : ["", shown]),
    ...(lines.length > RECAP_LINES
      ? [colours.dim(`… ${plural(lines.length - RECAP_LINES, "more line")}`)]
      : []),
  ].join("\n");
}

function lastAnswer(conversation: readonly Entry[]): string {
  const texts = conversation.flatMap((entry) =>
    entry.type === "assistant" ? [shownText(contentText(rawContent(entry))).trim()] : [],
  );
  return texts.findLast((text) => text !== "") ?? "";
}
