import { crc32, inflateSync } from "node:zlib";
import type {
  AssistantEntry,
  ContentBlock,
  Entry,
  ToolResultBlock,
  ToolUseBlock,
  Usage,
  UserEntry,
} from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { entryBlocks } from "../../../core/src/messages/entry.ts";
import { createDemoSession, demoFiles, demoFilesAtStart } from "../demo-session.ts";
import { DEMO_CONTEXT_TOKENS } from "./demo.ts";

const session = createDemoSession();
const assistants = session.filter((entry): entry is AssistantEntry => entry.type === "assistant");
const users = session.filter((entry): entry is UserEntry => entry.type === "user");
const blocksOf = (entries: readonly (UserEntry | AssistantEntry)[]): ContentBlock[] =>
  entries.flatMap((entry) => entryBlocks(entry));
const calls = blocksOf(assistants).filter((block): block is ToolUseBlock => block.type === "tool_use");
const results = blocksOf(users).filter((block): block is ToolResultBlock => block.type === "tool_result");

const inputTokens = (usage: Usage): number =>
  usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);

function usageOf(entry: AssistantEntry | undefined): Usage {
  if (entry?.message.usage === undefined) throw new Error("an assistant entry without usage");
  return entry.message.usage;
}

function reportedContext(entries: readonly Entry[]): number {
  const usage = usageOf(entries.findLast((entry): entry is AssistantEntry => entry.type === "assistant"));
  return inputTokens(usage) + usage.output_tokens;
}

function groupsOf<T>(items: readonly T[], keyOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups.values()];
}

/** Lines of the session file, grouped by response. */
const responses = groupsOf(assistants, (entry) => entry.message.id ?? "");

describe("the demo session as a file", () => {
  it("creates the same demo session for the same seed, byte for byte, and a different session for another seed", () => {
    const bytes = JSON.stringify(session);
    // Compares booleans instead of texts, because a failure would print a diff of two megabytes.
    expect(JSON.stringify(createDemoSession()) === bytes).toBe(true);
    expect(JSON.stringify(createDemoSession({ seed: 7 })) === bytes).toBe(false);
  });

  it("links every entry of the demo session except the first to an earlier entry", () => {
    const seen = new Set<string>();
    const roots = [];
    for (const entry of session) {
      if (entry.uuid === undefined) continue;
      if (entry.parentUuid === null || entry.parentUuid === undefined) roots.push(entry.uuid);
      else expect(seen).toContain(entry.parentUuid);
      seen.add(entry.uuid);
    }
    expect(roots).toHaveLength(1);
  });

  it("the demo session has unique and valid uuids, and its timestamps never decrease", () => {
    const linked = session.filter((entry) => entry.uuid !== undefined);
    expect(new Set(linked.map(({ uuid }) => uuid)).size).toBe(linked.length);
    const valid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    expect(linked.every(({ uuid }) => valid.test(uuid ?? ""))).toBe(true);
    const times = linked.map(({ timestamp }) => timestamp ?? "");
    expect(times).toEqual([...times].sort());
  });

  it("every tool call of the demo session has one result, which is linked to the entry with the call", () => {
    expect(results.map((result) => result.tool_use_id).sort()).toEqual(calls.map(({ id }) => id).sort());
    for (const entry of users.filter((each) => each.sourceToolAssistantUUID !== undefined)) {
      const [result] = entryBlocks(entry);
      const asker = assistants.find(({ uuid }) => uuid === entry.sourceToolAssistantUUID);
      const [call] = asker ? entryBlocks(asker) : [];
      expect(
        result?.type === "tool_result" && call?.type === "tool_use" && call.id === result.tool_use_id,
      ).toBe(true);
    }
  });

  it("the demo session stores some parallel tool calls in a row, and others with results in between", () => {
    const kinds = session.map((entry) => {
      const block = entry.type === "assistant" ? entryBlocks(entry)[0] : undefined;
      return block?.type === "tool_use" && entry.type === "assistant" ? entry.message.id : undefined;
    });
    const isContiguous = kinds.some((id, index) => id !== undefined && kinds[index + 1] === id);
    const isInterleaved = kinds.some(
      (id, index) => id !== undefined && id !== kinds[index + 1] && id === kinds[index + 2],
    );
    expect([isContiguous, isInterleaved]).toEqual([true, true]);
  });
});

describe("the usage in the demo session", () => {
  it.each([60_000, 100_000, DEMO_CONTEXT_TOKENS, 250_000])(
    "creates a demo session within 3% of %d tokens",
    (asked) => {
      const reported = reportedContext(createDemoSession({ approximateTokens: asked }));
      expect(Math.abs(reported - asked) / asked).toBeLessThan(0.03);
    },
  );

  it("the demo session has the same size with a longer folder name and another seed", () => {
    const reported = reportedContext(
      createDemoSession({ seed: 99, cwd: "/private/var/folders/x1/abcdef/T/longhaul-demo" }),
    );
    expect(Math.abs(reported - DEMO_CONTEXT_TOKENS) / DEMO_CONTEXT_TOKENS).toBeLessThan(0.03);
  });

  it("all lines of a response in the demo session report the same input, and the last line reports the most output", () => {
    for (const lines of responses) {
      const usages = lines.map(usageOf);
      expect(new Set(usages.map(inputTokens)).size).toBe(1);
      expect(Math.max(...usages.map((usage) => usage.output_tokens))).toBe(usages.at(-1)?.output_tokens);
    }
    expect(responses.some((lines) => lines.length > 2)).toBe(true);
  });

  it("the reported input grows over the demo session, and earlier input is read from the cache", () => {
    let previous: Usage | undefined;
    for (const usage of responses.map((lines) => usageOf(lines.at(-1)))) {
      if (previous !== undefined) {
        expect(inputTokens(usage)).toBeGreaterThan(inputTokens(previous) + previous.output_tokens - 1);
        const cached = inputTokens(previous) - previous.input_tokens;
        expect([0, cached]).toContain(usage.cache_read_input_tokens);
      }
      previous = usage;
    }
  });
});

describe("the content of the demo session", () => {
  const text = JSON.stringify(session);
  const humans = users.filter((entry) => "permissionMode" in entry);

  it("the demo session contains requests, corrections, an interruption, and a message in Chinese", () => {
    expect(humans.length).toBeGreaterThanOrEqual(10);
    expect(humans.some((entry) => /请把中文/.test(JSON.stringify(entry.message)))).toBe(true);
    expect(text).toContain("[Request interrupted by user for tool use]");
    const attachments = session.flatMap((entry) =>
      entry.type === "attachment" ? [entry.attachment.type] : [],
    );
    expect(attachments).toEqual(
      expect.arrayContaining(["queued_command", "edited_text_file", "task_reminder"]),
    );
    expect(users.some(({ isMeta }) => isMeta === true)).toBe(true);
    expect(text).toContain("<local-command-stdout>");
  });

  it("the demo session contains two images, one pasted by the user and one read by a tool", () => {
    const isImage = (block: ContentBlock): boolean => block.type === "image";
    expect(blocksOf(users).filter(isImage)).toHaveLength(1);
    expect(results.filter(({ content }) => Array.isArray(content) && content.some(isImage))).toHaveLength(1);
  });

  it("the demo session contains tests that fail and then pass after an edit", () => {
    const outcomes = new Map<string, boolean[]>();
    for (const result of results) {
      const call = calls.find(({ id }) => id === result.tool_use_id);
      const command = (call?.input as { command?: string } | undefined)?.command ?? "";
      if (!command.startsWith("npx vitest")) continue;
      expect(result.content).toMatch(result.is_error === true ? /^\w+Error: /m : /Tests {2}\d+ passed/);
      outcomes.set(command, [...(outcomes.get(command) ?? []), result.is_error === true]);
    }
    const fixed = [...outcomes.values()].filter(([first, second]) => first === true && second === false);
    expect(fixed.length).toBeGreaterThanOrEqual(5);
    expect([...outcomes.values()].every((runs) => runs.at(-1) === false)).toBe(true);
  });

  it("the demo session reads files again, both unchanged and edited ones", () => {
    const reads = groupsOf(
      calls.filter(({ name }) => name === "Read"),
      ({ input }) => JSON.stringify(input),
    );
    const texts = reads.map((same) =>
      same.map(({ id }) => results.find((result) => result.tool_use_id === id)?.content),
    );
    expect(texts.some((same) => new Set(same).size < same.length)).toBe(true);
    expect(texts.some((same) => new Set(same).size > 1)).toBe(true);
  });

  it("the demo session ends in the middle of work, with one todo in progress and two pending", () => {
    const todos = calls.filter(({ name }) => name === "TodoWrite").at(-1)?.input as {
      todos: { readonly status: string }[];
    };
    const statuses = todos.todos.map(({ status }) => status);
    expect(statuses).toEqual(["completed", "completed", "in_progress", "pending", "pending"]);
    expect(session.at(-1)).toBe(assistants.at(-1));
  });
});

describe("the project files of the demo session", () => {
  const files = demoFiles();

  it("demoFiles returns the files after all edits of the demo session, by relative path", () => {
    for (const path of files.keys()) expect(path).not.toMatch(/^\/|\\|\.\./);
    expect(files.get("src/http/rate-limit.ts")).toContain("at > now - windowMs");
    expect(files.get("src/config.ts")).toContain("poolSize: 12,");
    expect(files.get("src/locales/zh-CN.json")).toContain("泊位");
    for (const [path, text] of files)
      if (path.endsWith(".json")) expect(() => JSON.parse(text)).not.toThrow();
  });

  it("the agent of the demo session never edits migrations/, as the user demanded", () => {
    const edited = calls.filter(({ name }) => name === "Edit" || name === "Write");
    expect(edited.some(({ input }) => JSON.stringify(input).includes("/migrations/"))).toBe(false);
  });
});

describe("a demo session of another size", () => {
  it.each([1, 75_000, 120_000, 300_000])(
    "creates a complete demo session for %d tokens",
    (approximateTokens) => {
      const resized = createDemoSession({ approximateTokens });
      const uuids = resized.flatMap(({ uuid }) => uuid ?? []);
      expect(new Set(uuids).size).toBe(uuids.length);
      const orphans = resized.filter(
        ({ parentUuid }, index) =>
          typeof parentUuid === "string" && !resized.slice(0, index).some(({ uuid }) => uuid === parentUuid),
      );
      expect(orphans).toEqual([]);
      const blocks = resized.flatMap((entry) =>
        entry.type === "user" || entry.type === "assistant" ? entryBlocks(entry) : [],
      );
      const asked = blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
      const answered = blocks.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id] : []));
      expect(answered.sort()).toEqual(asked.sort());
      expect(JSON.stringify(resized)).not.toMatch(/#[umrts]\d/);
    },
  );

  it.each([1, 120_000, 300_000])(
    "a demo session of %d tokens reads earlier input from the cache",
    (tokens) => {
      const lines = createDemoSession({ approximateTokens: tokens }).filter(
        (entry): entry is AssistantEntry => entry.type === "assistant",
      );
      const usages = groupsOf(lines, ({ message }) => message.id ?? "").map((each) => usageOf(each.at(-1)));
      for (const [index, usage] of usages.entries()) {
        const previous = usages[index - 1];
        if (previous === undefined) continue;
        expect(inputTokens(usage)).toBeGreaterThan(inputTokens(previous) + previous.output_tokens - 1);
        expect([0, inputTokens(previous) - previous.input_tokens]).toContain(usage.cache_read_input_tokens);
      }
    },
  );

  it("a demo session never has fewer tokens than its required parts", () => {
    const shortest = createDemoSession({ approximateTokens: 1 });
    expect(createDemoSession({ approximateTokens: 30_000 })).toEqual(shortest);
    expect(reportedContext(shortest)).toBeGreaterThan(50_000);
  });

  it("the demo session uses the given folder, even if its name contains quotes and backslashes", () => {
    const cwd = 'C:\\Users\\Ma "ra"\\harbour';
    const resized = createDemoSession({ cwd });
    expect(resized.filter((entry) => "cwd" in entry && entry.cwd !== cwd)).toEqual([]);
    expect(JSON.stringify(resized)).not.toContain("/home/mara");
  });
});

describe("the images in the demo session", () => {
  const shown: readonly unknown[] = [
    ...blocksOf(users),
    ...results.flatMap(({ content = [] }) => [content].flat()),
  ];
  const pictures = shown.flatMap((block) => {
    const data = (block as { source?: { data?: string } }).source?.data;
    return data === undefined ? [] : [chunksOf(Buffer.from(data, "base64"))];
  });

  it("the demo images are PNG files with intact chunks in the order of the format", () => {
    expect(pictures).toHaveLength(2);
    for (const chunks of pictures) {
      expect(chunks.map(({ name }) => name)).toEqual(["IHDR", "PLTE", "IDAT", "IEND"]);
      expect(chunks.every(({ isIntact }) => isIntact)).toBe(true);
    }
  });

  it("the demo images contain data for every pixel", () => {
    for (const [header, , data] of pictures) {
      const [width = 0, height = 0] = [header?.data.readUInt32BE(0), header?.data.readUInt32BE(4)];
      expect([width, height]).toEqual([400, 300]);
      expect(inflateSync(data?.data ?? Buffer.alloc(0))).toHaveLength((1 + Math.ceil(width / 4)) * height);
    }
  });
});

function chunksOf(bytes: Buffer): { name: string; data: Buffer; isIntact: boolean }[] {
  const chunks = [];
  for (let at = 8; at < bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at);
    const isIntact = crc32(bytes.subarray(at + 4, end)) === bytes.readUInt32BE(end);
    chunks.push({
      name: bytes.toString("latin1", at + 4, at + 8),
      data: bytes.subarray(at + 8, end),
      isIntact,
    });
    at = end + 4;
  }
  return chunks;
}

interface Change {
  readonly filePath: string;
  readonly originalFile: string | null;
  readonly oldString?: string;
  readonly newString?: string;
  readonly content?: string;
  readonly structuredPatch: readonly {
    readonly oldStart: number;
    readonly oldLines: number;
    readonly newLines: number;
    readonly lines: readonly string[];
  }[];
}

interface Shown {
  readonly filePath: string;
  readonly content: string;
  readonly startLine: number;
  readonly totalLines: number;
}

/** Replays the edits of the session. Each tool result must match the files at that moment. */
describe("tool results of the demo session compared with the project files at the time of each call", () => {
  const cwd = "/home/mara/code/harbour/";
  const config = "src/config.ts";
  const atStart = new Map(demoFilesAtStart());
  // The user edited this line manually. It is the only change that no tool made.
  atStart.set(config, (atStart.get(config) ?? "").replace("poolSize: 12,", "poolSize: 8,"));

  function replay(seen: {
    readonly changed?: (change: Change, path: string, before: string | undefined) => void;
    readonly read?: (file: Shown, printed: unknown, text: string) => void;
    readonly found?: (line: string, files: ReadonlyMap<string, string>) => void;
  }): ReadonlyMap<string, string> {
    const files = new Map(atStart);
    for (const entry of session) {
      if (entry.type === "attachment" && entry.attachment.type === "edited_text_file") {
        files.set(config, (files.get(config) ?? "").replace("poolSize: 8,", "poolSize: 12,"));
      }
      const result = (entry as { toolUseResult?: Partial<Change> & { file?: Shown; mode?: string } })
        .toolUseResult;
      const block = entry.type === "user" ? entryBlocks(entry)[0] : undefined;
      const printed = block?.type === "tool_result" ? block.content : undefined;
      if (result?.filePath !== undefined && result.structuredPatch !== undefined) {
        const path = result.filePath.slice(cwd.length);
        seen.changed?.(result as Change, path, files.get(path));
        const { originalFile, oldString = "", newString = "", content } = result as Change;
        files.set(path, content ?? (originalFile ?? "").split(oldString).join(newString));
      }
      if (result?.file?.filePath !== undefined) {
        seen.read?.(result.file, printed, files.get(result.file.filePath.slice(cwd.length)) ?? "");
      }
      if (result?.mode === "content" && printed !== "No matches found") {
        for (const line of String(printed).split("\n")) seen.found?.(line, files);
      }
    }
    return files;
  }

  it("the edits of the demo session turn the files at its start into the files that demoFiles returns", () => {
    expect(replay({})).toEqual(demoFiles());
  });

  it("each edit of the demo session replaces a text that occurs once in the file at the time of the edit", () => {
    let edits = 0;
    replay({
      changed: ({ originalFile, oldString }, _path, before) => {
        expect(originalFile ?? undefined).toBe(before);
        if (oldString === undefined) return;
        edits += 1;
        expect(before?.split(oldString)).toHaveLength(2);
      },
    });
    expect(edits).toBeGreaterThan(100);
  });

  it("the patch of each change in the demo session turns the old text of the file into the new text", () => {
    replay({
      changed: ({ originalFile, oldString, newString, content, structuredPatch }) => {
        if (originalFile === null) return;
        const after = content ?? originalFile.split(oldString ?? "").join(newString);
        expect(patched(originalFile, structuredPatch)).toBe(after);
      },
    });
  });

  it("each read in the demo session shows the file at the time of the read, with line numbers and tabs", () => {
    let reads = 0;
    replay({
      read: ({ content, startLine, totalLines }, printed, text) => {
        reads += 1;
        const lines = text.replace(/\n$/, "").split("\n");
        const shown = lines.slice(startLine - 1, startLine - 1 + content.split("\n").length);
        expect([content, totalLines]).toEqual([shown.join("\n"), lines.length]);
        expect(printed).toBe(shown.map((line, index) => `${startLine + index}\t${line}`).join("\n"));
      },
    });
    expect(reads).toBeGreaterThan(50);
  });

  it("each search in the demo session finds lines of the files at the time of the search", () => {
    let hits = 0;
    replay({
      found: (line, files) => {
        const [, path = "", number, text] = /^([^:]+):(\d+):(.*)$/.exec(line) ?? [];
        hits += 1;
        expect(files.get(path)?.split("\n")[Number(number) - 1]).toBe(text);
      },
    });
    expect(hits).toBeGreaterThan(5);
  });
});

function patched(before: string, hunks: Change["structuredPatch"]): string {
  const lines = before.split("\n");
  for (const hunk of hunks) {
    const pick = (mark: string): string[] =>
      hunk.lines.filter((line) => line.startsWith(" ") || line.startsWith(mark)).map((line) => line.slice(1));
    expect(lines.slice(hunk.oldStart - 1, hunk.oldStart - 1 + hunk.oldLines)).toEqual(pick("-"));
    expect(pick("+")).toHaveLength(hunk.newLines);
    lines.splice(hunk.oldStart - 1, hunk.oldLines, ...pick("+"));
  }
  return lines.join("\n");
}
