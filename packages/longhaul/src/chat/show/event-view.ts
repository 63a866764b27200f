import type { Agent, AgentEvent } from "@longhaul/agent";
import type { CompactorEvent } from "@longhaul/core/engine";
import type { LonghaulError } from "@longhaul/core/errors";
import { isCompactBoundary, isSummaryEntry, undoRecordOf } from "@longhaul/core/internal/messages";
import type { PriceTable } from "@longhaul/core/measure";
import type { CompactBoundaryEntry, Entry } from "@longhaul/core/messages";
import { formatSeconds } from "../../view/numbers.ts";
import { foldText, oneLine, shownText } from "../../view/text-width.ts";
import { type EventHandlers, handle } from "../event-handlers.ts";
import type { Folded } from "../folded.ts";
import type { Screen } from "../screen/screen.ts";
import { summaryIn } from "../summaries.ts";
import { narrowed, viewTerminal } from "../view-terminal.ts";
import {
  type CompactionOutcome,
  compactionLines,
  compactorLine,
  isWarning,
  sizeWords,
} from "./compactor-lines.ts";
import { callLines, callTitle, errorLines, todoLines } from "./event-lines.ts";
import type { Live } from "./live.ts";
import { WordWrap, wrapped } from "./word-wrap.ts";

export interface EventViewOptions {
  readonly screen: Screen;
  readonly live: Live;
  readonly folded: Folded;
  readonly prices: PriceTable;
  readonly now: () => number;
  /** Returns undefined until an agent is open. */
  readonly agent: () => Pick<Agent, "todos" | "model"> | undefined;
}

type CallEnded = Extract<AgentEvent, { type: "call-ended" }>;
type Compacted = Extract<CompactorEvent, { type: "compacted" }>;
type Restored = Extract<CompactorEvent, { type: "restored" }>;

/** Output of the same kind is printed together. A blank line separates different kinds. */
type Kind = "prompt" | "answer" | "work";

interface CompactionPieces {
  readonly compacted?: Compacted | undefined;
  readonly boundary?: CompactBoundaryEntry | undefined;
  readonly summary?: string | undefined;
}

/** Minimum thinking time to show. Shorter thinking gets no line. */
const SHORTEST_THOUGHT_MS = 500;
const SUBAGENT_INDENT = "    ";

/** Shows the agent's events. Prints finished output once. `Live` shows current activity. */
export class EventView {
  readonly #options: EventViewOptions;
  readonly #wrap: WordWrap;
  #last: Kind | undefined;
  /** True while the text of an answer arrives and is shown. */
  #isStreaming = false;
  #hasStreamed = false;
  #thoughts = "";
  /** Subagent whose calls were printed last, so that its heading is not repeated. */
  #agentId: string | undefined;
  #restored: Restored | undefined;
  #compaction: CompactionPieces = {};
  #todos = "[]";
  /**
   * Background output that waits while an answer arrives. It is printed after the answer, not in the middle
   * of a word.
   */
  #held: readonly (() => void)[] = [];

  readonly #handlers: EventHandlers = {
    text: ({ text }) => this.#text(text),
    thinking: ({ text }) => {
      this.#thoughts += text;
    },
    restarted: () => this.#restarted(),
    entry: ({ entry }) => this.#entry(entry),
    "call-ended": (call) => this.#callEnded(call),
    compactor: ({ event }) => this.#compactor(event),
    agent: ({ agentId, description, event }) => this.#agent(agentId, description, event),
    problem: ({ error }) => this.error(error),
    ended: () => {
      this.#endStream();
      this.#endCompaction();
    },
    hook: ({ text }) => this.dim(text),
    notice: ({ text }) => this.dim(text),
    retry: ({ code, delayMs }) => {
      const why = code.replace(/^model-/, "").replaceAll("-", " ");
      this.dim(`No answer (${why}). Retrying in ${formatSeconds(delayMs)}.`);
    },
  };

  constructor(options: EventViewOptions) {
    this.#options = options;
    this.#wrap = new WordWrap(() => options.screen.width);
  }

  show(event: AgentEvent): void {
    const { live, now } = this.#options;
    live.event(event, now());
    if (event.type !== "thinking" && event.type !== "window" && event.type !== "usage") this.#endThinking();
    handle(event, this.#handlers);
  }

  /** Shows the person's prompt when its turn starts. */
  prompt(text: string): void {
    const { colors, width } = this.#options.screen;
    const lines = wrapped(shownText(text), width - 2).split("\n");
    const marked = lines.map((line, at) => colors.bold(`${at === 0 ? "›" : " "} ${line}`));
    this.#print("prompt", marked.join("\n"));
  }

  /** Shows the text of a command or a guide. */
  say(text: string): void {
    this.#print("work", narrowed(text, this.#options.screen.width));
    this.#last = undefined;
  }

  dim(text: string): void {
    this.#line(oneLine(text), this.#options.screen.colors.dim);
  }

  error(error: Pick<LonghaulError, "message" | "remedy">): void {
    const { colors, width } = this.#options.screen;
    this.#print("work", errorLines(error, { colors, width }));
  }

  #line(text: string, color: (text: string) => string): void {
    this.#agentId = undefined;
    this.#print("work", color(foldText(text, this.#options.screen.width, "  ")));
  }

  #print(kind: Kind, text: string): void {
    const { screen } = this.#options;
    this.#endStream();
    this.#separate(kind);
    screen.print(text);
  }

  #separate(kind: Kind): void {
    if (this.#last !== kind) this.#options.screen.print("");
    this.#last = kind;
  }

  #text(text: string): void {
    const clean = shownText(text);
    if (!this.#isStreaming && clean.trim() === "") return;
    if (!this.#isStreaming) this.#separate("answer");
    this.#agentId = undefined;
    const shown = this.#wrap.push(this.#isStreaming ? clean : clean.trimStart());
    if (shown !== "") this.#options.screen.stream(shown);
    this.#isStreaming = true;
    this.#hasStreamed = true;
  }

  #endStream(): void {
    const rest = this.#wrap.end();
    if (rest !== "") this.#options.screen.stream(rest);
    this.#options.screen.endStream();
    this.#isStreaming = false;
    const held = this.#held;
    this.#held = [];
    for (const printLine of held) printLine();
  }

  #restarted(): void {
    this.#wrap.end();
    this.#options.screen.dropStream();
    this.#isStreaming = false;
    if (this.#hasStreamed) this.dim("The answer was cut off. The model starts again.");
    this.#hasStreamed = false;
  }

  #endThinking(): void {
    const { live, folded, now, screen } = this.#options;
    const thought = live.endThinking(now());
    if (thought === undefined) return;
    const title = `thought for ${formatSeconds(thought)}`;
    if (this.#thoughts.trim() !== "") folded.add({ title, body: this.#thoughts });
    this.#thoughts = "";
    if (thought >= SHORTEST_THOUGHT_MS) this.#line(`✻ ${title}`, screen.colors.dim);
  }

  /**
   * Handles an entry without printing its text. Either the text was already streamed, or a compaction or an
   * undo kept the entry.
   */
  #entry(entry: Entry): void {
    if (isCompactBoundary(entry)) {
      if (undoRecordOf(entry) === undefined) this.#compactionOver({ boundary: entry });
    } else if (isSummaryEntry(entry)) {
      this.#compaction = { ...this.#compaction, summary: summaryIn([entry]) };
    } else if (entry.type === "assistant" && this.#hasStreamed) {
      this.#endStream();
      this.#hasStreamed = false;
    }
  }

  #callEnded(call: CallEnded): void {
    const { screen, folded } = this.#options;
    this.#agentId = undefined;
    folded.add({ title: callTitle(call.tool, call.title), body: call.display });
    this.#print("work", callLines(call, screen).join("\n"));
    this.#showTodos();
  }

  #showTodos(): void {
    const { screen, agent } = this.#options;
    const todos = agent()?.todos ?? [];
    const now = JSON.stringify(todos);
    if (now === this.#todos) return;
    this.#todos = now;
    if (todos.length > 0) this.#print("work", todoLines(todos, screen.width, screen.colors).join("\n"));
  }

  #compactor(event: CompactorEvent): void {
    if (event.agentId !== undefined) return;
    if (event.type === "restored") this.#restored = event;
    else if (event.type === "compacted") this.#compactionOver({ compacted: event });
    const line = compactorLine(event);
    const { colors } = this.#options.screen;
    if (line === undefined) return;
    const printLine = (): void => this.#line(line, isWarning(event) ? colors.yellow : colors.dim);
    if (this.#isStreaming) this.#held = [...this.#held, printLine];
    else printLine();
  }

  /**
   * Shows the result of a compaction when both of its parts have arrived. One part is its figures, and the
   * other is the boundary with its ledger.
   */
  #compactionOver(pieces: CompactionPieces): void {
    this.#compaction = { ...this.#compaction, ...pieces };
    const { compacted, boundary } = this.#compaction;
    if (compacted !== undefined && boundary !== undefined) this.#showCompaction(compacted, boundary);
  }

  /** Shows the figures of a compaction even if its boundary has not arrived. */
  #endCompaction(): void {
    const { compacted, boundary } = this.#compaction;
    if (compacted !== undefined) this.#showCompaction(compacted, boundary);
  }

  #showCompaction(compacted: Compacted, boundary: CompactBoundaryEntry | undefined): void {
    const { screen, agent, prices, folded } = this.#options;
    const { summary } = this.#compaction;
    const outcome: CompactionOutcome = {
      ...{ compacted, restored: this.#restored, boundary, prices, hasSummary: summary !== undefined },
      model: agent()?.model.name ?? "",
    };
    this.#compaction = {};
    this.#restored = undefined;
    const view = viewTerminal(screen);
    const terminal = { ...view, width: Math.min(screen.width, view.width) };
    const rule = screen.colors.dim("─".repeat(terminal.width));
    this.#print("work", [rule, ...compactionLines(outcome, terminal)].join("\n"));
    if (summary !== undefined)
      folded.add({ title: sizeWords(compacted), body: wrapped(summary, screen.width) });
    this.#last = undefined;
  }

  /** Shows a subagent's calls below its description. */
  #agent(agentId: string, description: string, event: AgentEvent): void {
    const { screen, folded } = this.#options;
    const { colors } = screen;
    const lines = subagentLines(event, screen);
    if (event.type === "call-ended")
      folded.add({
        title: `${oneLine(description)}: ${callTitle(event.tool, event.title)}`,
        body: event.display,
      });
    if (lines.length === 0) return;
    const heading = this.#agentId === agentId ? [] : [colors.dim(`  ┆ ${oneLine(description)}`)];
    this.#print("work", [...heading, ...lines].join("\n"));
    this.#agentId = agentId;
  }
}

function subagentLines(event: AgentEvent, { width, colors }: Screen): readonly string[] {
  const say = (text: string): readonly string[] => [
    colors.dim(foldText(`${SUBAGENT_INDENT}${oneLine(text)}`, width, SUBAGENT_INDENT)),
  ];
  switch (event.type) {
    case "call-ended":
      return callLines(event, { width, colors, indent: SUBAGENT_INDENT });
    case "compactor": {
      if (event.event.type === "compacted") return say(sizeWords(event.event));
      const line = compactorLine(event.event);
      return line === undefined ? [] : say(line);
    }
    case "problem":
      return say(event.error.message);
    case "notice":
      return say(event.text);
    default:
      return [];
  }
}
