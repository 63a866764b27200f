import type { AgentEvent } from "@longhaul/agent";
import type { CompactorEvent } from "@longhaul/core/engine";
import { LonghaulError } from "@longhaul/core/errors";
import type { CompactBoundaryEntry } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { fakeAgent, fakeScreen } from "../../../../../test/support/fake-chat.ts";
import { Folded } from "../folded.ts";
import { EventView } from "./event-view.ts";
import { Live } from "./live.ts";

function viewed(events: readonly (AgentEvent | number)[], agent = fakeAgent(), width = 80) {
  const screen = fakeScreen({ width });
  const folded = new Folded();
  const live = new Live();
  let now = 0;
  const view = new EventView({ screen, live, folded, prices: {}, now: () => now, agent: () => agent });
  for (const event of events) {
    if (typeof event === "number") now += event;
    else view.show(event);
  }
  return { screen, folded, live: () => live.lines(now, 80, screen.colors), view };
}

const text = (piece: string): AgentEvent => ({ type: "text", text: piece });
const said = (words: string): AgentEvent => ({
  type: "entry",
  conversationId: "c",
  entry: {
    type: "assistant",
    uuid: "u",
    parentUuid: null,
    timestamp: "",
    message: { role: "assistant", content: words },
  },
});
const ended = (tool: string, title = "", summary?: string): AgentEvent => ({
  type: "call-ended",
  callId: title,
  tool,
  title,
  isError: false,
  summary,
  display: `what ${tool} said`,
  durationMs: 5,
});
const started = (tool: string, title: string): AgentEvent => ({
  type: "call-started",
  callId: title,
  tool,
  title,
  input: {},
});
const BOUNDARY: CompactBoundaryEntry = {
  type: "system",
  subtype: "compact_boundary",
  uuid: "b",
  parentUuid: null,
  timestamp: "",
  content: "",
  compactMetadata: { trigger: "auto", preTokens: 167_210 },
};
const compactor = (event: object): AgentEvent => ({
  type: "compactor",
  event: { agentId: undefined, turnId: "t", ...event } as CompactorEvent,
});
const COMPACTED = {
  type: "compacted",
  tokensBefore: 167_210,
  tokensAfter: 41_300,
  messagesSummarized: 212,
  messagesKept: 14,
  attempts: [
    {
      step: "fork",
      outcome: "written",
      cuts: 0,
      usage: {
        input_tokens: 1_000,
        output_tokens: 3_000,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
      },
    },
  ],
  durationMs: 18_200,
};

describe("EventView, the output of a chat", () => {
  it("wraps text between words on a narrow terminal", () => {
    const { screen, view } = viewed([], fakeAgent(), 20);
    view.say("  Best left as it is: a rewrite costs more.");
    expect(screen.printed.slice(1)).toEqual(["  Best left as it\n  is: a rewrite\n  costs more."]);
  });

  it("shows a streamed answer only once, without control characters", () => {
    const { screen } = viewed([text("\n\nHel\u0007lo "), text("world."), said("Hello world.")]);
    expect(screen.printed).toEqual(["", "Hello world."]);
  });

  it("shows a background event after the streamed answer, not in the middle of it", () => {
    const started = compactor({ type: "background-started", tokens: 18_000, isRefresh: false });
    const { screen } = viewed([text("Hello wo"), started, text("rld."), said("Hello world."), ended("Read")]);
    expect(screen.printed.slice(0, 2)).toEqual(["", "Hello world."]);
    expect(screen.printed.slice(2).join("\n")).toMatch(/18,000 tokens.*Read/su);
  });

  it("does not print a message again if a compaction or an undo kept the message", () => {
    expect(viewed([said("Hello world.")]).screen.printed).toEqual([]);
  });

  it("drops a partial answer and says so when the model starts the answer again", () => {
    const { screen } = viewed([text("Hel"), { type: "restarted" }, text("Hello."), said("Hello.")]);
    expect(screen.printed).toEqual(["", "", "The answer was cut off. The model starts again.", "", "Hello."]);
  });

  it("shows thinking as one line with its duration, and keeps the text of the thinking for /unfold", () => {
    const thinking: AgentEvent = { type: "thinking", text: "hm" };
    const { screen, folded } = viewed([thinking, 3_000, thinking, text("Yes."), said("Yes.")]);
    expect(screen.printed).toEqual(["", "✻ thought for 3.0 s", "", "Yes."]);
    expect(folded.back(1)).toEqual({ title: "thought for 3.0 s", body: "hmhm" });
    expect(viewed([thinking, 3_000]).live()).toEqual(["✻ thinking · 3.0 s"]);
  });

  it("shows a running tool call in the live lines, and prints one line when the call has ended", () => {
    const progress: AgentEvent = {
      type: "call-progress",
      callId: "npm test",
      text: "12 passed\n13 passed\n",
    };
    const running = viewed([started("Bash", "npm test"), 12_000, progress]);
    expect(running.live()).toEqual(["○ Bash npm test · 12 s · 13 passed"]);
    const { screen, folded, live } = viewed([started("Read", "a.ts"), ended("Read", "a.ts", "3 lines")]);
    expect(screen.printed).toEqual(["", "● Read a.ts · 3 lines"]);
    expect(folded.back(1)).toEqual({ title: "Read a.ts", body: "what Read said" });
    expect(live()).toEqual([]);
  });

  it("shows the to-dos after a TodoWrite call", () => {
    const agent = fakeAgent({
      todos: [
        { content: "one", status: "completed" },
        { content: "two", status: "in_progress" },
        { content: "three", status: "pending" },
      ],
    });
    const { screen } = viewed([ended("TodoWrite"), ended("Read")], agent);
    expect(screen.printed).toEqual(["", "● TodoWrite", "  ✓ one\n  ▸ two\n  ○ three", "● Read"]);
  });

  it("groups the tool calls of a subagent under its description", () => {
    const agent = (id: string, event: AgentEvent): AgentEvent => ({
      type: "agent",
      agentId: id,
      description: `task ${id}`,
      event,
    });
    const events = [
      agent("a", ended("Read", "1")),
      agent("a", ended("Read", "2")),
      agent("b", ended("Read", "3")),
    ];
    expect(viewed(events).screen.printed).toEqual([
      "",
      "  ┆ task a\n    ● Read 1",
      "    ● Read 2",
      "  ┆ task b\n    ● Read 3",
    ]);
    expect(viewed([agent("a", started("Read", "1"))]).live()).toEqual(["  ┆ task a · 1 call · Read 1"]);
  });

  it("shows the result of a compaction once, whether its boundary entry or its figures arrive first", () => {
    const restored = compactor({
      type: "restored",
      items: [
        { kind: "files", name: "a", tokens: 1 },
        { kind: "files", name: "b", tokens: 1 },
        { kind: "todos", name: "c", tokens: 1 },
      ],
      skipped: [],
    });
    const entry: AgentEvent = { type: "entry", conversationId: "d", entry: BOUNDARY };
    const figures = compactor(COMPACTED);
    for (const events of [
      [entry, restored, figures],
      [restored, figures, entry],
    ]) {
      const { screen } = viewed(events);
      expect(screen.printed).toEqual([
        "",
        `${"─".repeat(80)}\nCompacted: 167,210 → 41,300 tokens · 212 messages summarized, 14 kept · 2 files,\n  to-dos restored · summary in a cached call · 18 s · $0.0320`,
      ]);
    }
  });

  it("keeps the summary of a compaction for Ctrl-O, and says that Ctrl-O shows it", () => {
    const entry = (given: unknown): AgentEvent =>
      ({ type: "entry", conversationId: "d", entry: given }) as AgentEvent;
    const content = "The summary says that the quota is 4,711 ships.\u001b[2J";
    const summary = { ...BOUNDARY, type: "user", isCompactSummary: true, message: { role: "user", content } };
    const { screen, folded } = viewed([entry(BOUNDARY), entry(summary), compactor(COMPACTED)]);
    expect(screen.printed.join()).toContain("/summary or Ctrl-O shows the summary.");
    expect(folded.back(1)).toEqual({
      title: "Compacted: 167,210 → 41,300 tokens",
      body: "The summary says that the quota is 4,711 ships.",
    });
    const next = viewed([entry(BOUNDARY), entry(summary), compactor(COMPACTED), entry(BOUNDARY)]);
    expect(next.folded.size).toBe(1);
  });

  it("shows the figures of a compaction even if its boundary entry never arrives", () => {
    const { screen } = viewed([
      compactor(COMPACTED),
      { type: "ended", reason: "answered", text: "", turns: 1 },
    ]);
    expect(screen.printed.join()).toContain("Compacted: 167,210 → 41,300 tokens");
  });

  it("shows the progress of a compaction in the live lines until the compaction ends", () => {
    const events: readonly (AgentEvent | number)[] = [
      { type: "compacting", progress: undefined },
      12_000,
      { type: "compacting", progress: { phase: "writing", characters: 4_213 } },
    ];
    expect(viewed(events).live()).toEqual(["Compacting… writing the summary · 4,213 characters · 12 s"]);
    expect(viewed([...events, { type: "compacting-ended" }]).live()).toEqual([]);
  });

  it("describes retries, notices, hooks and problems in words", () => {
    const { screen } = viewed([
      { type: "retry", attempt: 1, delayMs: 2_000, code: "model-overloaded" },
      { type: "notice", text: "An agent has ended." },
      { type: "hook", text: "PreCompact said hi" },
      { type: "problem", error: new LonghaulError("window-full", "It is full.", { remedy: "Compact it." }) },
    ]);
    expect(screen.printed).toEqual([
      "",
      "No answer (overloaded). Retrying in 2.0 s.",
      "An agent has ended.",
      "PreCompact said hi",
      "✗ It is full.\n  Compact it.",
    ]);
  });
});
