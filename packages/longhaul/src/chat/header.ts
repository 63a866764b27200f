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

type Style = Pick<Terminal, "width" | "colors">;

/** Returns the text that the person sees before the first prompt. */
export function chatHeader(agent: Agent, version: string, home: string, { width, colors }: Style): string {
  const folder = agent.cwd.startsWith(`${home}/`) ? `~${agent.cwd.slice(home.length)}` : agent.cwd;
  const lines = [
    foldText(
      `${colors.bold("longhaul")} ${version} · ${fitText(agent.model.name, 40)} · ${windowWords(agent.reading.thresholds)}`,
      width,
      "  ",
    ),
    colors.dim(fitText(folder, width, "front")),
    colors.dim(fitText(`session ${agent.sessionId}`, width)),
    colors.dim(foldText("/help lists commands · Ctrl-C stops the agent · Ctrl-D exits", width)),
    ...(agent.isWideFolder ? [colors.yellow(foldText(WIDE_FOLDER, width))] : []),
    ...(agent.permissionMode === "allow-all" ? [colors.yellow(foldText(ALLOW_ALL, width))] : []),
  ];
  return lines.join("\n");
}

const WIDE_FOLDER =
  "This is your home folder, or a folder above it. The agent asks before every action. " +
  "Start in a project folder to get fewer questions.";
const ALLOW_ALL = "Permission mode allow-all: the agent acts without asking.";

/** Describes a run that stopped early without an error. */
export function stopWords({ reason, turns }: RunResult): string {
  if (reason === "aborted") return "Stopped. Your conversation is intact. You can continue.";
  return reason === "turn-limit" ? `Stopped after ${plural(turns, "turn")}. Send "continue" to resume.` : "";
}

export const resumeHint = ({ sessionId }: Agent): string =>
  `To resume this session:\n  longhaul chat --resume ${sessionId}`;

/** Number of lines of the last answer to show, enough to remember its topic. */
const RECAP_LINES = 8;

/** Shows how the resumed session ended. */
export function recap(agent: Agent, { width, colors }: Style): string {
  const { conversation, reading } = agent;
  const size = `${plural(conversation.length, "entry").replace("entrys", "entries")}, ${formatShort(reading.tokens)} tokens`;
  const prompt = promptsOf({ conversation, clearedToolUseIds: new Set() }).at(-1)?.text;
  const answer = lastAnswer(conversation);
  const lines = wrapped(answer, width).split("\n");
  const shown = lines.slice(0, RECAP_LINES).join("\n");
  const compacted = currentSummary(conversation);
  return [
    colors.dim(`Resumed: ${size}.`),
    ...(compacted === undefined
      ? []
      : [colors.dim(foldText(`${compactedWords(compacted.boundary)}. ${SUMMARY_HINT}`, width))]),
    ...(prompt === undefined ? [] : ["", colors.bold(`› ${fitText(prompt, width - 2)}`)]),
    ...(answer === "" ? [] : ["", shown]),
    ...(lines.length > RECAP_LINES
      ? [colors.dim(`… ${plural(lines.length - RECAP_LINES, "more line")}`)]
      : []),
  ].join("\n");
}

function lastAnswer(conversation: readonly Entry[]): string {
  const texts = conversation.flatMap((entry) =>
    entry.type === "assistant" ? [shownText(contentText(rawContent(entry))).trim()] : [],
  );
  return texts.findLast((text) => text !== "") ?? "";
}
