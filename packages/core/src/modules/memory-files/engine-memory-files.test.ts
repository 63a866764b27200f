import { describe, expect, it } from "vitest";
import { toolResult, toolUse } from "../../../../../test/support/builders.ts";
import {
  type Compactor,
  type CompactorOptions,
  createCompactor,
} from "../../../../../test/support/full-compactor.ts";
import type { CompactorEvent } from "../../engine/events.ts";
import type { Entry } from "../../messages/entry.ts";
import type { ApiMessage } from "../../messages/message.ts";
import { checkRequest } from "../../request/check/check.ts";
import type { MemoryFilesOptions } from "./memory-reader.ts";

interface Setup {
  readonly compactor: Compactor;
  readonly events: CompactorEvent[];
  readonly files: Map<string, string>;
  readonly written: Entry[];
}

function setUp(options: Partial<CompactorOptions> = {}, memory: Partial<MemoryFilesOptions> = {}): Setup {
  const files = new Map([
    ["/p/AGENTS.md", "Be kind."],
    ["/p/src/AGENTS.md", "Mind the tides."],
    ["/p/.claude/rules/tests.md", "---\npaths: '**/*.test.ts'\n---\nOne rule each."],
  ]);
  const written: Entry[] = [];
  const events: CompactorEvent[] = [];
  const memoryFiles: MemoryFilesOptions = {
    cwd: "/p",
    port: {
      read: async (path) => {
        const text = files.get(path);
        return text === undefined
          ? { state: "unavailable", reason: "gone" }
          : { state: "read", text, displayPath: path };
      },
      list: async (folder) => [...files.keys()].filter((path) => path.startsWith(`${folder}/`)),
    },
    ...memory,
  };
  const compactor = createCompactor({
    memoryFiles,
    host: { onEvent: (event) => events.push(event) },
    transcript: { path: "/t.jsonl", append: async (entries) => void written.push(...entries) },
    ...options,
    settings: { environment: {}, ...options.settings },
  });
  return { compactor, events, files, written };
}

const readOf = (id: string, path: string, content = `content of ${path}`): readonly ApiMessage[] => [
  { role: "assistant", content: [toolUse(id, "Read", { file_path: path })] },
  { role: "user", content: [toolResult(id, content)] },
];

const START: readonly ApiMessage[] = [{ role: "user", content: "go" }];
const asText = (messages: readonly ApiMessage[]): string => JSON.stringify(messages);
const times = (text: string, part: string): number => text.split(part).length - 1;

const attachedIn = ({ events }: Setup): readonly string[] =>
  events.flatMap((event) => (event.type === "memory-attached" ? event.files.map(({ path }) => path) : []));

describe("memory files that apply to files that the agent touched", () => {
  it("before the next call, attaches the memory files and rules for a file that the agent touched", async () => {
    const one = setUp();
    await one.compactor.before(START);
    const { request } = await one.compactor.before([...START, ...readOf("a", "/p/src/tide.test.ts")]);
    const sent = asText(request.messages);
    for (const text of ["Be kind.", "Mind the tides.", "One rule each."]) expect(sent).toContain(text);
    expect(attachedIn(one)).toEqual(["/p/AGENTS.md", "/p/src/AGENTS.md", "/p/.claude/rules/tests.md"]);
    expect(checkRequest({ messages: request.messages }).findings).toEqual([]);
    await one.compactor.close();
    const lines = one.written.filter(({ type }) => type === "attachment");
    expect(lines).toMatchObject(Array(3).fill({ attachment: { type: "nested_memory" } }));
  });

  it("attaches each memory file once, whether or not the host continues with the returned messages", async () => {
    for (const takesOurs of [true, false]) {
      const one = setUp();
      let messages = START;
      for (const [at, path] of ["/p/src/a.ts", "/p/src/b.ts", "/p/src/a.ts"].entries()) {
        const turn = await one.compactor.before(messages);
        messages = [...(takesOurs ? turn.messages : messages), ...readOf(`t${at}`, path)];
      }
      const { request } = await one.compactor.before(messages);
      expect(times(asText(request.messages), "Mind the tides.")).toBe(1);
    }
  });

  it("attaches no memory file that the agent has read or that is in the system prompt", async () => {
    const one = setUp({}, { loaded: ["/p/AGENTS.md"] });
    await one.compactor.before([...START, ...readOf("a", "/p/src/AGENTS.md"), ...readOf("b", "/p/src/x.ts")]);
    expect(attachedIn(one)).toEqual([]);
  });

  it("attaches only memory files that the permission callback allows", async () => {
    const one = setUp({}, { mayRead: (path) => path !== "/p/src/AGENTS.md" });
    await one.compactor.before([...START, ...readOf("a", "/p/src/x.ts")]);
    expect(attachedIn(one)).toEqual(["/p/AGENTS.md"]);
    expect(one.events).toContainEqual(
      expect.objectContaining({ skipped: [expect.objectContaining({ path: "/p/src/AGENTS.md" })] }),
    );
  });

  it("attaches memory files again after a compaction, with their current content", async () => {
    const one = setUp();
    let messages: readonly ApiMessage[] = [...START, ...readOf("a", "/p/src/x.ts")];
    messages = (await one.compactor.before(messages)).messages;
    one.files.set("/p/src/AGENTS.md", "Mind the moon.");
    const page = "The tide tables of the harbor. ".repeat(10);
    const work = Array.from({ length: 40 }, (_, at) => readOf(`w${at}`, `/p/docs/${at}.md`, page)).flat();
    const { messages: after } = await one.compactor.compact([...messages, ...work], {
      keepRecentTokens: 200,
      force: true,
    });
    const sent = asText(
      (await one.compactor.before([...after, { role: "user", content: "on" }])).request.messages,
    );
    expect(times(sent, "Mind the moon.")).toBe(1);
    expect(sent).not.toContain("Mind the tides.");
    expect(times(sent, "Be kind.")).toBe(1);
  });

  it("attaches memory files again when the host changes earlier messages and so loses the attachments", async () => {
    const one = setUp();
    const own = [...START, ...readOf("a", "/p/src/x.ts")];
    await one.compactor.before(own);
    const changed: readonly ApiMessage[] = [{ role: "user", content: "go on" }, ...own.slice(1)];
    const { request } = await one.compactor.before([...changed, ...readOf("b", "/p/docs/y.md")]);
    for (const text of ["Be kind.", "Mind the tides."]) expect(times(asText(request.messages), text)).toBe(1);
  });

  it("attaches no memory file after a prefilled answer or between a tool call and its result", async () => {
    const [call, result] = readOf("b", "/p/src/y.ts") as [ApiMessage, ApiMessage];
    const cases: readonly (readonly [ApiMessage, ApiMessage])[] = [
      [call, result],
      [
        { role: "assistant", content: "{" },
        { role: "user", content: "on" },
      ],
    ];
    for (const [open, next] of cases) {
      const one = setUp();
      const messages = [...START, ...readOf("a", "/p/src/x.ts"), open];
      expect(asText((await one.compactor.before(messages)).request.messages)).not.toContain("Be kind.");
      const { request } = await one.compactor.before([...messages, next]);
      expect(times(asText(request.messages), "Be kind.")).toBe(1);
    }
  });

  it("attached memory files change only the newest message of the request", async () => {
    const one = setUp();
    const first = await one.compactor.before(START);
    const second = await one.compactor.before([...first.messages, ...readOf("a", "/p/src/x.ts")]);
    const third = await one.compactor.before([...second.messages, ...readOf("b", "/p/src/y.ts")]);
    expect(third.messages.slice(0, second.messages.length)).toEqual(second.messages);
    expect(second.messages.slice(0, 2)).toEqual([...first.messages, readOf("a", "/p/src/x.ts")[0]]);
  });
});
