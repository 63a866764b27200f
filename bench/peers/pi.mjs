import { versionOf } from "./version.mjs";

// Imports single files. The package does not export everything, and takes a second to load as a whole.
const part = (path) =>
  import(new URL(`../node_modules/@mariozechner/pi-coding-agent/dist/core/${path}`, import.meta.url));
const { estimateContextTokens, prepareCompaction, shouldCompact } = await part("compaction/index.js");

const version = versionOf("@mariozechner/pi-coding-agent");
const TIMESTAMP = "2026-04-01T08:00:00.000Z";

/** @param usage the usage that the provider reported on every response, or undefined */
export function messageOf(turn, usage) {
  const timestamp = Date.parse(TIMESTAMP);
  if (turn.kind === "user") return { role: "user", content: [{ type: "text", text: turn.text }], timestamp };
  if (turn.kind === "result") {
    const content = [{ type: "text", text: turn.text }];
    return {
      role: "toolResult",
      toolCallId: turn.id,
      toolName: turn.name,
      content,
      isError: false,
      timestamp,
    };
  }
  const calls = turn.calls.map(({ id, name, input }) => ({ type: "toolCall", id, name, arguments: input }));
  const content = [
    ...(turn.thinking ? [{ type: "thinking", thinking: turn.thinking }] : []),
    ...(turn.text ? [{ type: "text", text: turn.text }] : []),
    ...calls,
  ];
  return { role: "assistant", content, ...(usage ? { usage } : {}), stopReason: "stop", timestamp };
}

export const entryOf = (message, index) => ({
  type: "message",
  id: `e${index}`,
  parentId: index === 0 ? null : `e${index - 1}`,
  timestamp: TIMESTAMP,
  message,
});

const settings = (keepTokens) => ({ enabled: true, reserveTokens: 16_384, keepRecentTokens: keepTokens });

function opened({ turns, keepTokens, tokens }, usage) {
  const messages = turns.map((turn) => messageOf(turn, usage));
  const entries = messages.map(entryOf);
  return {
    check: {
      run: () => shouldCompact(estimateContextTokens(messages).tokens, 2 * tokens, settings(keepTokens)),
    },
    keep: { run: () => prepareCompaction(entries, settings(keepTokens)) },
  };
}

export const peers = [
  {
    name: "pi, usage on the messages",
    version,
    open: (conversation) =>
      opened(conversation, { input: conversation.tokens, output: 0, cacheRead: 0, cacheWrite: 0 }),
  },
  { name: "pi, no usage", version, open: (conversation) => opened(conversation, undefined) },
];
