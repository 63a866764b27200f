import type { ApiMessage } from "@longhaul/core";

type Json = { readonly [field: string]: unknown };

/**
 * Checks the API's rules for messages a second time, for tests only. It shares no code with the checker in
 * core. It states each rule as briefly as possible, even if the check is slow.
 */
export function apiRuleViolations(
  messages: readonly ApiMessage[],
  { thinking }: { readonly thinking?: { readonly type: string } | undefined } = {},
): string[] {
  const violations: string[] = [];
  const fail = (index: number, text: string): void => void violations.push(`messages.${index}: ${text}`);
  const bodies = messages.map((message) => blocksOf(message));
  if (messages.length === 0) return [];
  const startsWithSummary = messages[0]?.role === "assistant" && bodies[0]?.[0]?.type === "compaction";
  if (messages[0]?.role !== "user" && !startsWithSummary) fail(0, "first role");
  const uses = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const body = bodies[index] ?? [];
    const previous = messages[index - 1];
    const isLast = index === messages.length - 1;
    if (!["user", "assistant", "system"].includes(message.role)) fail(index, "role");
    const afterSummary = bodies[index - 1]?.every((block) => block.type === "compaction");
    if (message.role !== "system" && previous?.role === message.role && !afterSummary)
      fail(index, "alternation");
    if (body.length === 0 && !(isLast && message.role === "assistant")) fail(index, "empty");
    for (const block of [...body, ...body.flatMap(nestedOf)]) {
      if (block.type === "text" && String(block.text).trim() === "") fail(index, "blank text");
    }
    if (message.role === "assistant")
      checkAssistant(body, index, bodies[index + 1], messages[index + 1], fail, uses);
    if (message.role === "user") checkUser(body, index, previous, bodies[index - 1], fail);
    if (message.role === "system") checkSystem(index, messages, bodies, fail);
  }
  if (thinking?.type === "enabled") checkThinkingTurn(messages, bodies, fail);
  return violations;
}

type Fail = (index: number, text: string) => void;

function checkAssistant(
  body: readonly Json[],
  index: number,
  next: readonly Json[] | undefined,
  nextMessage: ApiMessage | undefined,
  fail: Fail,
  seen: Set<unknown>,
): void {
  const last = body.at(-1);
  if (last?.type === "thinking" || last?.type === "redacted_thinking") fail(index, "ends in thinking");
  if (body.some((block) => ["tool_result", "image", "document"].includes(String(block.type)))) {
    fail(index, "user's block in assistant message");
  }
  for (const [at, block] of body.entries()) {
    if (block.type === "server_tool_use") seen.add(block);
    if (!/._tool_result$/.test(String(block.type))) continue;
    const isCalled = [...seen].some((use) => (use as Json).id === block.tool_use_id);
    if (!isCalled) fail(index, `orphan server result at ${at}`);
  }
  for (const use of body.filter((block) => block.type === "tool_use")) {
    if (typeof use.id !== "string" || !/^[a-zA-Z0-9_-]+$/.test(use.id)) fail(index, "id");
    if (seen.has(use.id)) fail(index, "duplicate id");
    seen.add(use.id);
    if (typeof use.input !== "object" || use.input === null || Array.isArray(use.input)) fail(index, "input");
    const answers = next?.filter((block) => block.type === "tool_result" && block.tool_use_id === use.id);
    if (nextMessage?.role !== "user" || answers?.length !== 1) fail(index, `unanswered ${String(use.id)}`);
  }
}

function checkUser(
  body: readonly Json[],
  index: number,
  previous: ApiMessage | undefined,
  called: readonly Json[] | undefined,
  fail: Fail,
): void {
  const kinds = body.map((block) => block.type === "tool_result");
  if (kinds.lastIndexOf(true) > kinds.indexOf(false) && kinds.includes(false))
    fail(index, "results not first");
  for (const result of body.filter((block) => block.type === "tool_result")) {
    const isCalled = called?.some((block) => block.type === "tool_use" && block.id === result.tool_use_id);
    if (previous?.role !== "assistant" || !isCalled) fail(index, "orphan result");
  }
  const foreign = ["thinking", "redacted_thinking", "tool_use", "server_tool_use"];
  if (body.some((block) => foreign.includes(String(block.type))))
    fail(index, "assistant's block in user message");
}

function checkSystem(
  index: number,
  messages: readonly ApiMessage[],
  bodies: readonly (readonly Json[])[],
  fail: Fail,
): void {
  let before = index - 1;
  while (messages[before]?.role === "system") before--;
  let after = index + 1;
  while (messages[after]?.role === "system") after++;
  const ending = String(bodies[before]?.at(-1)?.type ?? "");
  const isAfterServerTool = messages[before]?.role === "assistant" && /._tool_result$/.test(ending);
  if (messages[before]?.role !== "user" && !isAfterServerTool) fail(index, "system not after user");
  if (messages[after]?.role === "user") fail(index, "system before user");
}

/** Checks that the last turn begins with thinking. Tool results continue a turn and never begin one. */
function checkThinkingTurn(
  messages: readonly ApiMessage[],
  bodies: readonly (readonly Json[])[],
  fail: Fail,
): void {
  const holds = (at: number, type: string): boolean =>
    bodies[at]?.some((block) => block.type === type) ?? false;
  const spoken = [...messages.keys()].filter((at) => messages[at]?.role !== "system");
  if (messages[spoken.at(-1) ?? -1]?.role !== "user" || !holds(spoken.at(-2) ?? -1, "tool_use")) return;
  let first = spoken.length - 2;
  const isSummary = (place: number): boolean => holds(spoken[place] ?? -1, "compaction");
  while (first >= 2 && !isSummary(first) && holds(spoken[first - 1] ?? -1, "tool_result")) first -= 2;
  const at = spoken[first] ?? 0;
  const own = bodies[at]?.find(({ type }) => type !== "compaction" && type !== "fallback");
  if (own !== undefined && !String(own.type).endsWith("thinking")) fail(at, "turn without thinking");
}

function blocksOf(message: ApiMessage): readonly Json[] {
  if (typeof message.content === "string") {
    return message.content === "" ? [] : [{ type: "text", text: message.content }];
  }
  return message.content as unknown as readonly Json[];
}

function nestedOf(block: Json): readonly Json[] {
  return block.type === "tool_result" && Array.isArray(block.content) ? block.content : [];
}
