import { BETAS } from "../wording/betas.ts";
import { refuse } from "../wording/refuse.ts";
import {
  asksForCompaction,
  type PlacedBlock,
  pathOf,
  type Role,
  recordField,
  type SentMessage,
} from "./checked-body.ts";
import { SERVER_TOOL_RESULTS } from "./shape/block-shapes.ts";
import type { Inspection } from "./shape/inspection.ts";

/** Checks the start of a conversation. Runs before the contents of the messages are checked. */
export function checkBeginning(messages: readonly SentMessage[], inspection: Inspection): void {
  checkSomethingToSummarize(messages, inspection);
  checkCompactionBlocks(messages, inspection);
  checkOpening(messages);
}

/** Checks the order of messages. Runs after the contents of the messages are checked. */
export function checkOrder(messages: readonly SentMessage[], inspection: Inspection): void {
  const turns = readTurns(messages, inspection);
  checkSystemPlacement(turns);
  checkServerTools(messages, inspection);
  checkToolPairs(turns, inspection);
  checkLastBlocks(turns);
  checkThinkingFirst(turns, inspection);
  checkEnd(turns, inspection);
}

/**
 * Checks that a compaction has something to summarize. There must be a user or assistant message that
 * contains more than the block of a failed compaction.
 */
function checkSomethingToSummarize(messages: readonly SentMessage[], inspection: Inspection): void {
  if (!asksForCompaction(inspection.request)) return;
  const isContent = (placed: PlacedBlock): boolean => placed.type !== "compaction" || isSummary(placed);
  if (!messages.some(({ role, blocks }) => role !== "system" && blocks.some(isContent))) {
    refuse("compactionNothing");
  }
}

/**
 * Checks the position of compaction blocks. An on-demand summary is signed. It must be the only summary and
 * the first block of the conversation. Its message may have any role except system. Summaries of threshold
 * compactions have a separate beta, and stay in the assistant's replies. A block without content is a failed
 * compaction and does not count. `compaction.ts` checks the signature.
 */
function checkCompactionBlocks(messages: readonly SentMessage[], inspection: Inspection): void {
  const summaries = findSummaries(messages);
  if (summaries.length === 0) return;
  const areAskedFor = !inspection.hasBeta(BETAS.thresholdCompaction);
  const [, second] = summaries;
  if (second !== undefined && (areAskedFor || summaries.some(isSigned))) {
    refuse("compactionAmbiguous", { path: pathOf(second.placed) });
  }
  for (const summary of summaries) {
    const isBound = areAskedFor || isSigned(summary) || summary.role === "user";
    if (summary.role === "system" || (isBound && !summary.isFirst)) {
      refuse("compactionMisplaced", { path: pathOf(summary.placed) });
    }
  }
}

function findSummaries(messages: readonly SentMessage[]): readonly Summary[] {
  const found: Summary[] = [];
  let isFirst = true;
  for (const { blocks, role } of messages) {
    for (const placed of blocks) {
      if (isSummary(placed)) found.push({ placed, role, isFirst });
      isFirst = false;
    }
  }
  return found;
}

function isSigned({ placed }: Summary): boolean {
  return typeof placed.block.signature === "string";
}

function isSummary({ type, block }: PlacedBlock): boolean {
  return type === "compaction" && typeof block.content === "string";
}

interface Summary {
  readonly placed: PlacedBlock;
  readonly role: Role;
  readonly isFirst: boolean;
}

/**
 * Checks the first message. It must be a user message or the provider's own summary. Messages that only set
 * the effort may come before it.
 */
function checkOpening(messages: readonly SentMessage[]): void {
  if (messages.length === 0) refuse("noMessages");
  const first = messages.find((message) => !message.isEffortOnly);
  if (first?.role === "user") return;
  if (first?.role === "assistant" && first.blocks[0]?.type === "compaction") return;
  if (first?.role === "system") refuse("systemPlacement", { path: `messages.${first.message}` });
  refuse("firstRole");
}

/** Consecutive messages of one role, which the provider treats as one message. */
interface Turn {
  readonly role: Role;
  readonly messages: readonly SentMessage[];
  readonly blocks: readonly PlacedBlock[];
}

function readTurns(messages: readonly SentMessage[], inspection: Inspection): readonly Turn[] {
  const runs: SentMessage[][] = [];
  for (const message of messages) {
    const run = runs.at(-1);
    const first = run?.[0];
    if (run === undefined || first === undefined || !continues(first, message)) runs.push([message]);
    else {
      if (message.role !== "system" && inspection.switches.consecutiveRoles === "refused") {
        refuse("rolesAlternate");
      }
      run.push(message);
    }
  }
  return runs.map(joinRun);
}

/**
 * True if the message belongs to the same turn as `first`. A message after the provider's own summary always
 * begins a new turn, even with the same role.
 */
function continues(first: SentMessage, message: SentMessage): boolean {
  const isSummary = first.blocks.length > 0 && first.blocks.every(({ type }) => type === "compaction");
  return first.role === message.role && !isSummary;
}

function joinRun(messages: readonly SentMessage[]): Turn {
  const first = messages[0];
  if (first === undefined) return { role: "user", messages, blocks: [] };
  const blocks = messages.length === 1 ? first.blocks : messages.flatMap((message) => message.blocks);
  return { role: first.role, messages, blocks };
}

/**
 * Checks the position of system messages. The message before a system message must be a user message or end
 * with the result of a server tool. The message after a system message must not be a user message.
 */
function checkSystemPlacement(turns: readonly Turn[]): void {
  for (const [index, turn] of turns.entries()) {
    const before = turns[index - 1];
    if (turn.role !== "system" || before === undefined) continue;
    const last = before.blocks.at(-1);
    const isAfterServerTool =
      before.role === "assistant" && last !== undefined && RESULT_KINDS.has(last.type);
    const isWellPlaced = before.role === "user" || isAfterServerTool;
    if (isWellPlaced && turns[index + 1]?.role !== "user") continue;
    refuse("systemPlacement", { path: `messages.${turn.messages[0]?.message ?? 0}` });
  }
}

const RESULT_KINDS: ReadonlySet<string> = new Set([...Object.values(SERVER_TOOL_RESULTS), "mcp_tool_result"]);

const isServerUse = (type: string): boolean => type === "server_tool_use" || type === "mcp_tool_use";

/**
 * Checks calls of tools that the provider runs. Each call must have its result in the same assistant turn.
 * User messages with only tool results do not end that turn. The turn at the end of the conversation may be
 * unfinished.
 */
function checkServerTools(messages: readonly SentMessage[], inspection: Inspection): void {
  const open = new Map<unknown, PlacedBlock>();
  for (const { role, blocks } of messages) {
    if (role === "assistant") for (const placed of blocks) visit(placed, open);
    else if (blocks.some(({ type }) => type !== "tool_result"))
      for (const use of open.values()) refuseOpen(use);
  }
  if (open.size > 0 && asksForCompaction(inspection.request)) refuse("compactionIncompleteTurn");
}

function visit(placed: PlacedBlock, open: Map<unknown, PlacedBlock>): void {
  const { type, block } = placed;
  if (isServerUse(type)) {
    const twin = open.get(block.id);
    if (twin !== undefined) refuseOpen(twin);
    open.set(block.id, placed);
    return;
  }
  if (!RESULT_KINDS.has(type)) return;
  const id = block.tool_use_id;
  const use = open.get(id);
  if (use === undefined || expectedResult(use) !== type) {
    const expectedUse = type === "mcp_tool_result" ? "mcp_tool_use" : "server_tool_use";
    refuse("orphanServerResult", { path: pathOf(placed), type, id: String(id), use: expectedUse });
  }
  open.delete(id);
}

function refuseOpen(use: PlacedBlock): never {
  const { id, name } = use.block;
  return refuse("unansweredServerUse", { name: String(name), id: String(id), result: expectedResult(use) });
}

function expectedResult({ type, block }: PlacedBlock): string {
  return type === "mcp_tool_use" ? "mcp_tool_result" : (SERVER_TOOL_RESULTS[String(block.name)] ?? "");
}

/**
 * Checks that every call has one result at the start of the next turn, and every result has its call right
 * before it.
 */
function checkToolPairs(turns: readonly Turn[], inspection: Inspection): void {
  for (const [index, turn] of turns.entries()) {
    if (turn.role === "assistant") checkAnswered(turn, turns[index + 1], inspection);
    else if (turn.role === "user") checkResults(turn, turns[index - 1]);
  }
}

function checkAnswered(turn: Turn, next: Turn | undefined, inspection: Inspection): void {
  if (!turn.blocks.some(isUse)) return;
  const uses = turn.blocks.filter(isUse);
  const answered = new Set(next?.role === "user" ? leadingResults(next).map(resultId) : []);
  const open = uses.filter(({ block }) => !answered.has(block.id));
  const [first] = open;
  if (first === undefined) return;
  if (next === undefined && asksForCompaction(inspection.request)) refuse("compactionIncompleteTurn");
  const ids = open.map(({ block }) => String(block.id)).join(", ");
  refuse("unansweredUse", { path: `messages.${first.message}`, ids });
}

function isUse({ type }: PlacedBlock): boolean {
  return type === "tool_use";
}

function leadingResults({ blocks }: Turn): readonly PlacedBlock[] {
  const end = blocks.findIndex(({ type }) => type !== "tool_result");
  return end < 0 ? blocks : blocks.slice(0, end);
}

function resultId({ block }: PlacedBlock): unknown {
  return block.tool_use_id;
}

function checkResults(turn: Turn, previous: Turn | undefined): void {
  const results = turn.blocks.filter(({ type }) => type === "tool_result");
  if (results.length === 0) return;
  const called = new Set<unknown>();
  if (previous?.role === "assistant") {
    for (const { type, block } of previous.blocks) if (type === "tool_use") called.add(block.id);
  }
  const seen = new Set<unknown>();
  for (const result of results) {
    const id = resultId(result);
    if (!called.has(id)) refuse("orphanResult", { path: pathOf(result), id: String(id) });
    if (seen.has(id)) refuse("secondResult", { path: pathOf(result), id: String(id) });
    seen.add(id);
  }
}

function checkLastBlocks(turns: readonly Turn[]): void {
  for (const { role, blocks } of turns) {
    const last = blocks.at(-1);
    if (role === "assistant" && last !== undefined && isThinking(last)) {
      refuse("thinkingLast", { path: `messages.${last.message}`, type: last.type });
    }
  }
}

function isThinking({ type }: PlacedBlock): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

/**
 * Checks the turn whose tool results the request sends. With thinking of the type `enabled`, this turn must
 * begin with thinking. Later replies of the turn need no thinking, because many models think only once,
 * before their first call.
 */
function checkThinkingFirst(turns: readonly Turn[], inspection: Inspection): void {
  if (recordField(inspection.request.body, "thinking")?.type !== "enabled") return;
  const spoken = turns.filter(({ role }) => role !== "system");
  if (!asksForCompaction(inspection.request)) checkPrefilledThinking(spoken.at(-1));
  const call = spoken.at(-2);
  if (call?.role !== "assistant" || !call.blocks.some(({ type }) => type === "tool_use")) return;
  const start = spoken.slice(0, -1).findLastIndex(({ role, blocks }) => {
    const holds = (wanted: string): boolean => blocks.some(({ type }) => type === wanted);
    return role === "user" ? !holds("tool_result") : holds("compaction");
  });
  const replies = spoken.slice(Math.max(0, start)).filter(({ role }) => role === "assistant");
  const first = replies.flatMap(({ blocks }) => blocks).find(isByModel);
  if (first !== undefined && !isThinking(first)) {
    refuse("thinkingFirst", { path: pathOf(first), type: first.type });
  }
}

const isByModel = ({ type }: PlacedBlock): boolean => type !== "compaction" && type !== "fallback";

/** Checks the beginning of an answer that the model should continue. A paused turn may have any beginning. */
function checkPrefilledThinking(turn: Turn | undefined): void {
  const first = turn?.role === "assistant" ? turn.blocks.find(isByModel) : undefined;
  if (first === undefined || isThinking(first) || isResumable(turn?.blocks.at(-1))) return;
  refuse("thinkingFirst", { path: pathOf(first), type: first.type });
}

/**
 * Checks the end of the conversation. For a compaction, the last message may be any message, because no
 * answer follows.
 */
function checkEnd(turns: readonly Turn[], inspection: Inspection): void {
  const { model } = inspection.request;
  const turn = turns.at(-1);
  if (turn?.role !== "assistant" || asksForCompaction(inspection.request)) return;
  const last = turn.blocks.at(-1);
  if (model?.features.prefill === false && !isResumable(last)) refuse("prefill");
  if (last?.type === "text" && /\s$/.test(String(last.block.text).slice(-1))) refuse("finalWhitespace");
}

/**
 * True if the provider paused the turn. It can pause during a tool that it runs, or after its own summary. A
 * client may send such a turn back unchanged.
 */
function isResumable(last: PlacedBlock | undefined): boolean {
  if (last === undefined) return false;
  return isServerUse(last.type) || RESULT_KINDS.has(last.type) || last.type === "compaction";
}
