import { fullAt, fullWords } from "../report-window.ts";
import type { Terminal } from "../terminal.ts";
import type { StepReport, StepsReport, UndoReport } from "../undo-report.ts";
import { beforeAndAfterLines } from "./before-and-after.ts";
import { formatCount, formatTime, plural } from "./numbers.ts";
import { table } from "./table.ts";
import { fitText, foldText, oneLine, textWidth } from "./text-width.ts";
import { writtenLine } from "./written.ts";

/** Enough of an id to tell steps apart, and to give to --to. */
const ID_SHOWN = 8;

export function undoView(report: UndoReport, terminal: Terminal): string {
  const { colours, width } = terminal;
  const { session, direction } = report;
  const title = colours.bold(direction === "undo" ? "Undo" : "Redo");
  return [
    `${title} ${fitText(oneLine(session.id), width - 5)}\n${colours.dim(fitText(session.path, width, "front"))}`,
    foldText(stepLine(report, terminal), width, " ".repeat(12)),
    [...beforeAndAfterLines(report, terminal), foldText(`  ${verdict(report, terminal)}`, width, "  ")].join(
      "\n",
    ),
    foldText(messagesLine(report, terminal), width, " ".repeat(12)),
    writtenLine(report, terminal),
  ].join("\n\n");
}

const KINDS: Readonly<Record<StepReport["kind"], string>> = {
  compaction: "compaction",
  collapse: "collapsed spans",
  expansion: "expanded spans",
  snip: "removed messages",
};

function stepLine({ step, direction }: UndoReport, { colours }: Terminal): string {
  const what = direction === "undo" ? KINDS[step.kind] : `the undo of: ${KINDS[step.kind]}`;
  const facts = [
    what,
    ...(step.trigger === null ? [] : [oneLine(step.trigger)]),
    ...(step.at === null ? [] : [formatTime(step.at)]),
    oneLine(step.uuid ?? "").slice(0, ID_SHOWN),
  ];
  return `${colours.bold("Taken back")}  ${facts.join(" · ")}`;
}

function messagesLine({ messages, thinkingBlocks }: UndoReport, { colours }: Terminal): string {
  const carried =
    messages.carried === 0
      ? "nothing came since"
      : `${plural(messages.carried, "message")} that came since ${messages.carried === 1 ? "follows" : "follow"}`;
  const thinking =
    thinkingBlocks === 0
      ? ""
      : `, without ${plural(thinkingBlocks, "thinking block")} that the model would refuse after it`;
  return `${colours.bold("Messages")}    ${formatCount(messages.restored)} as they were before; ${carried}${thinking}`;
}

function verdict({ after, window, fits, direction }: UndoReport, { colours }: Terminal): string {
  if (fits) return `${formatCount(fullAt(window) - after.tokens)} tokens of room until ${fullWords(window)}`;
  const limit =
    after.tokens >= window.size
      ? `more than the window of ${formatCount(window.size)} holds: it cannot be sent as it is`
      : `over the threshold of ${formatCount(fullAt(window))}: ${window.autoCompact === null ? "compact it" : "the agent will compact it soon"}`;
  return colours.red(direction === "undo" ? limit : `still ${limit}`);
}

export function stepsView({ session, steps }: StepsReport, terminal: Terminal): string {
  const { colours, width } = terminal;
  const title = `${colours.bold("Steps")} of ${fitText(oneLine(session.id), width - 9)}\n${colours.dim(fitText(session.path, width, "front"))}`;
  if (steps.length === 0)
    return `${title}\n\n${foldText("Nothing that led to the conversation was compacted, collapsed or removed: there is nothing to undo.", width)}`;
  const rows = steps.map((step) => [
    colours.cyan(oneLine(step.uuid ?? "").slice(0, ID_SHOWN)),
    formatTime(step.at),
    `${step.isUndo ? "undo of: " : ""}${KINDS[step.kind]}${step.trigger === null ? "" : `, ${oneLine(step.trigger)}`}`,
    sizes(step),
    formatCount(step.messagesSince),
  ]);
  const columns = [
    { title: "id" },
    { title: "when" },
    { title: "what" },
    { title: "tokens", align: "right" },
    { title: "since", align: "right" },
  ] as const;
  const hint = steps[0]?.isUndo ? "--redo takes the newest undo back." : "undo takes the newest back.";
  return `${title}\n\n${table(columns, rows, colours.dim, textWidth)}\n\n${colours.dim(hint)}`;
}

function sizes({ tokensBefore, tokensAfter }: StepReport): string {
  if (tokensBefore === null) return "";
  const after = tokensAfter === null ? "?" : formatCount(tokensAfter);
  return `${formatCount(tokensBefore)} → ${after}`;
}
