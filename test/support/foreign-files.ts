/** A made-up session file in the format of another agent. */
export interface ForeignFile {
  readonly file: string;
  readonly agent: string;
  /** Matches the name of the format in the error message. */
  readonly name: RegExp;
  readonly bytes: Buffer;
}

const AT = "2026-01-01T00:00:00.000Z";

const lines = (...values: readonly unknown[]): Buffer =>
  Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
const pretty = (value: unknown): Buffer => Buffer.from(JSON.stringify(value, null, 2));

/** Creates the first page of an SQLite database, with this schema. */
export function databaseOf(...tables: readonly string[]): Buffer {
  const page = Buffer.alloc(4096);
  page.write("SQLite format 3\0", 0, "latin1");
  const schema = tables.join("\0\n");
  page.write(schema, page.length - schema.length, "latin1");
  return page;
}

const QWEN = { sessionId: "s", timestamp: AT, cwd: "/p", version: "0.15.10" };
export const QWEN_LINES: readonly object[] = [
  {
    uuid: "q1",
    parentUuid: null,
    ...QWEN,
    type: "user",
    message: { role: "user", parts: [{ text: "hello" }] },
  },
  {
    uuid: "q2",
    parentUuid: "q1",
    ...QWEN,
    type: "assistant",
    model: "qwen3-coder",
    message: { role: "model", parts: [{ text: "hi" }] },
  },
  { uuid: "q3", parentUuid: "q2", ...QWEN, type: "system", subtype: "ui_telemetry", systemPayload: {} },
];

export const CLINE_DOCUMENT: object = {
  version: 1,
  updated_at: AT,
  agent: "lead",
  sessionId: "1767225600000_abcde",
  origin: { source: "cli", mode: "act" },
  messages: [{ id: "m1", role: "user", content: [{ type: "text", text: "hello" }], ts: 1 }],
  system_prompt: "Be brief.",
};

const OPENCODE_EXPORT = {
  info: { id: "ses_1", slug: "quiet-fox", directory: "/p", title: "Greeting", version: "1.18.33" },
  messages: [
    {
      info: { id: "msg_1", role: "user", sessionID: "ses_1" },
      parts: [{ id: "prt_1", type: "text", text: "hello", messageID: "msg_1", sessionID: "ses_1" }],
    },
  ],
};

const GEMINI_HEADER = { sessionId: "5f1c2d3e", projectHash: "ab12", startTime: AT, lastUpdated: AT };

export const FOREIGN_FILES: readonly ForeignFile[] = [
  {
    file: "rollout.jsonl",
    agent: "codex",
    name: /a Codex rollout/,
    bytes: lines(
      {
        timestamp: AT,
        ordinal: 0,
        type: "session_meta",
        payload: { id: "c", cwd: "/p", cli_version: "0.166.0" },
      },
      {
        timestamp: AT,
        ordinal: 1,
        type: "response_item",
        payload: { type: "message", role: "user", content: [] },
      },
    ),
  },
  {
    file: "rollout.jsonl.zst",
    agent: "codex",
    name: /compressed with zstd/,
    bytes: Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0, 1, 0, 0]),
  },
  {
    file: "state_5.sqlite",
    agent: "codex",
    name: /the thread index of Codex/,
    bytes: databaseOf("CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT NOT NULL)"),
  },
  {
    file: "pi.jsonl",
    agent: "pi",
    name: /a session of pi/,
    bytes: lines(
      { type: "session", version: 3, id: "p", timestamp: AT, cwd: "/p" },
      {
        type: "message",
        id: "0badcafe",
        parentId: null,
        timestamp: AT,
        message: { role: "user", content: "hello" },
      },
    ),
  },
  {
    file: "gemini.jsonl",
    agent: "gemini-cli",
    name: /a session of gemini-cli/,
    bytes: lines(
      { ...GEMINI_HEADER, kind: "main" },
      { id: "u1", timestamp: AT, type: "user", content: [{ text: "hello" }] },
      { id: "g1", timestamp: AT, type: "gemini", content: "hi", model: "gemini-2.5-pro" },
      { $set: { lastUpdated: AT } },
    ),
  },
  {
    file: "gemini-old.json",
    agent: "gemini-cli",
    name: /a session of gemini-cli/,
    bytes: pretty({
      ...GEMINI_HEADER,
      messages: [{ id: "u1", timestamp: AT, type: "user", content: "hello" }],
    }),
  },
  { file: "qwen.jsonl", agent: "qwen-code", name: /a session of qwen-code/, bytes: lines(...QWEN_LINES) },
  {
    file: "opencode.db",
    agent: "opencode",
    name: /the database of opencode/,
    bytes: databaseOf("CREATE TABLE `message` (`id` text)", "CREATE TABLE `part` (`id` text, `data` text)"),
  },
  {
    file: "export.json",
    agent: "opencode",
    name: /an export of opencode/,
    bytes: pretty(OPENCODE_EXPORT),
  },
  {
    file: "cline.messages.json",
    agent: "cline",
    name: /a session of Cline/,
    bytes: pretty(CLINE_DOCUMENT),
  },
  {
    file: "api_conversation_history.json",
    agent: "cline",
    name: /the Cline extension/,
    bytes: lines([{ role: "user", content: [{ type: "text", text: "hello" }] }]),
  },
  {
    file: "sessions.db",
    agent: "cline",
    name: /the session index of Cline/,
    bytes: databaseOf("CREATE TABLE sessions (session_id TEXT, messages_path TEXT)"),
  },
];
