/** A test file may take this long without a reason in the list below. */
export const SLOW_TEST_MS = 10_000;

/**
 * Test files that take longer than ten seconds on two cores. The key is the file, the value is the reason.
 * `docs/testing.md` shows the list.
 */
export const SLOW_TESTS: Readonly<Record<string, string>> = {
  "test/engine/long-run.test.ts": "runs hundreds of turns with faults on five windows against the simulator",
  "test/cli/undo-figures.test.ts":
    "starts the command line about a hundred times, and compares every figure before and after",
  "test/agent/hostile-model.test.ts":
    "lets a hostile model try every tool with hundreds of inputs, in real processes",
  "test/engine/children.test.ts": "lets many subagents compact at once beside their parent",
  "test/engine/killed-compaction.test.ts": "kills real processes at many points of a compaction",
  "test/recall/processes.test.ts": "kills real processes while they index and search sessions",
  "test/engine/killed-background.test.ts":
    "kills real processes while a background summary is written or swapped in",
  "test/agent/killed.test.ts": "kills real agents after each number of messages, and resumes them",
  "test/cli/one-number.test.ts":
    "compares the figures of all commands on the same sessions, each in a separate process",
  "test/evaluate/figures.test.ts": "evaluates recorded sessions under several policies, ten compactions each",
  "test/evaluate/ordering.test.ts":
    "grades good and bad summaries of every recorded session; skipped without the recordings",
  "packages/lab/src/evaluate.test.ts": "evaluates a generated session under every policy several times",
  "packages/lab/src/replay/replay.test.ts": "replays a generated session under every policy",
  "packages/core/src/modules/cached-edits/cached-clearing-rewrites.test.ts":
    "drives random schedules of edits and rewrites through the engine",
  "packages/notes/src/engine-killed-notes.test.ts": "kills real processes while notes are taken",
  "packages/sessions/src/operations/clear-chain.test.ts":
    "clears and compacts a session many times in a row, with every line checked",
  "test/docs-guides.test.ts": "runs every command and every program of the guides",
  "test/examples.test.ts": "runs every example in a separate process",
  "test/first-use.test.ts": "packs the command line and runs it from four kinds of installation",
  "test/cli/foreign-files.test.ts": "starts the command line on the files of every other agent",
  "test/cli/compact-fallback.test.ts": "starts the command line with models that fail in many ways",
  "test/cli/compact-model.test.ts": "starts the command line with models, keys and addresses of many kinds",
  "test/cli/chat-print.test.ts": "starts the chat in a separate process for each case",
  "test/cli/notes.test.ts": "starts the command line dozens of times",
  "test/cli/clear.test.ts": "starts the command line dozens of times, and compares every figure",
  "test/cli/commands.test.ts": "starts the command line dozens of times, once for each command and flag",
  "test/chat/chat.test.ts": "drives the chat in a real terminal",
  "test/chat/tour-pty.test.ts": "takes the whole tour in a real terminal",
  "test/engine/wrong-usage.test.ts": "drives long conversations with wrong reports of usage",
  "packages/lab/src/replay/recorded-sessions.test.ts":
    "replays recorded sessions under every policy; skipped without the recordings",
  "test/bench/peers.test.ts":
    "loads seven libraries and compacts a session with each; skipped without the libraries",
  "test/transcript/processes.test.ts": "lets many real processes write to one session file",
};
