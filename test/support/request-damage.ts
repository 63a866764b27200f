import fc from "fast-check";
import { PNG } from "./builders.ts";
import type { Json, RequestBody } from "./sound-request.ts";

/** Random numbers that select the places to damage. Every number is valid. */
type Dice = readonly [number, number, number];

type Damage = (body: RequestBody, dice: Dice) => void;

const pick = <T>(list: readonly T[], die: number): T | undefined => list[die % Math.max(1, list.length)];

const blocksOf = (message: Json | undefined): Json[] => {
  if (message === undefined) return [];
  if (!Array.isArray(message.content)) {
    message.content =
      typeof message.content === "string" && message.content !== ""
        ? [{ type: "text", text: message.content }]
        : [];
  }
  return message.content as Json[];
};

const isOpen = (value: unknown): value is Json => typeof value === "object" && value !== null;

const allBlocks = (body: RequestBody): Json[] =>
  body.messages
    .filter(isOpen)
    .flatMap((message) => (Array.isArray(message.content) ? message.content.filter(isOpen) : []));

const ofType = (body: RequestBody, type: string): Json[] =>
  allBlocks(body).filter((block) => block.type === type);

const insert = (body: RequestBody, die: number, message: Json): void =>
  void body.messages.splice(die % (body.messages.length + 1), 0, message);

const place = (body: RequestBody, [a, b]: Dice, block: unknown): void => {
  const blocks = blocksOf(pick(body.messages.filter(isOpen), a));
  blocks.splice(b % (blocks.length + 1), 0, block as Json);
};

const STRAY_BLOCKS: readonly unknown[] = [
  { type: "text", text: "stray" },
  { type: "text", text: "" },
  { type: "text", text: " \n" },
  { type: "text", text: "cited", citations: [{ type: "char_location" }] },
  { type: "text", text: "uncited", citations: [] },
  { type: "thinking", thinking: "hm", signature: "s" },
  { type: "thinking", thinking: "unsigned" },
  { type: "thinking", thinking: "hm", signature: "s", cache_control: { type: "ephemeral" } },
  { type: "redacted_thinking", data: "d" },
  { type: "tool_use", id: "toolu_1", name: "Read", input: {} },
  { type: "tool_use", id: "new", name: "Read", input: {} },
  { type: "tool_use", id: "bad id", name: "Read", input: {} },
  { type: "tool_use", id: "new_2", name: "a b", input: {} },
  { type: "tool_use", id: "new_3", name: "Read", input: "{}" },
  { type: "tool_result", tool_use_id: "toolu_1", content: "again" },
  { type: "tool_result", tool_use_id: "gone", content: [{ type: "text", text: "orphan" }] },
  { type: "tool_result", tool_use_id: "toolu_2", content: null },
  { type: "server_tool_use", id: "srvtoolu_9", name: "web_search", input: {} },
  { type: "web_search_tool_result", tool_use_id: "srvtoolu_9", content: [] },
  { type: "web_fetch_tool_result", tool_use_id: "srvtoolu_1", content: {} },
  { type: "mcp_tool_use", id: "mcptoolu_1", name: "x", server_name: "s", input: {} },
  { type: "mcp_tool_result", tool_use_id: "mcptoolu_1", content: "ok" },
  { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
  { type: "image", source: { type: "base64", media_type: "image/jpeg", data: PNG } },
  {
    type: "image",
    source: { type: "base64", media_type: "image/png", data: "bm90IGFuIGltYWdlIGF0IGFsbA==" },
  },
  { type: "image", source: { type: "base64", media_type: "image/png", data: "not base64!" } },
  { type: "image", source: { type: "base64", media_type: "image/tiff", data: "x" } },
  { type: "image", source: { type: "base64", media_type: "image/png", data: "" } },
  { type: "image", source: { type: "url" } },
  { type: "image" },
  { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0=" } },
  { type: "document", source: { type: "base64", media_type: "text/plain", data: "YQ==" } },
  { type: "document", source: { type: "file", file_id: "f" } },
  { type: "search_result", source: "s", title: "t", content: [{ type: "text", text: "found" }] },
  {
    type: "search_result",
    source: "s",
    title: "t",
    content: [{ type: "text", text: "found", citations: [{ type: "char_location" }] }],
  },
  { type: "container_upload", file_id: "f" },
  { type: "compaction", content: "summary" },
  { type: "compaction", content: "summary", signature: "s" },
  { type: "compaction", content: null },
  { type: "compaction", content: "" },
  { type: "fallback", from: { model: "a" }, to: { model: "b" } },
  { type: "tool_addition", tool: { type: "mcp_toolset_reference", server_name: "s" } },
  { type: "tool_reference", tool_name: "Read" },
  { type: "browser_state", tabs: [] },
  null,
  "loose",
  { text: "untagged" },
];

const MARKS: readonly Json[] = [{ type: "ephemeral" }, { type: "ephemeral", ttl: "1h" }];

const DAMAGES: Readonly<Record<string, Damage>> = {
  dropMessage: (body, [a]) => void body.messages.splice(a % body.messages.length, 1),
  repeatMessage: (body, [a, b]) => {
    const message = pick(body.messages, a);
    if (isOpen(message)) insert(body, b, structuredClone(message));
  },
  swapMessages: (body, [a, b]) => {
    const [one, other] = [a % body.messages.length, b % body.messages.length];
    const [first, second] = [body.messages[one], body.messages[other]];
    if (first !== undefined && second !== undefined)
      [body.messages[one], body.messages[other]] = [second, first];
  },
  splitMessage: (body, [a, b]) => {
    const at = a % body.messages.length;
    const message = body.messages[at];
    const blocks = isOpen(message) ? blocksOf(message) : [];
    if (message === undefined || blocks.length < 2) return;
    const rest = blocks.splice(1 + (b % (blocks.length - 1)));
    body.messages.splice(at + 1, 0, { role: message.role, content: rest });
  },
  dropBlock: (body, [a, b]) => {
    const blocks = blocksOf(pick(body.messages.filter(isOpen), a));
    blocks.splice(b % Math.max(1, blocks.length), 1);
  },
  moveBlock: (body, [a, b, c]) => {
    const blocks = blocksOf(pick(body.messages.filter(isOpen), a));
    const [block] = blocks.splice(b % Math.max(1, blocks.length), 1);
    if (block !== undefined) place(body, [c, a, b], block);
  },
  reverseBlocks: (body, [a]) => void blocksOf(pick(body.messages.filter(isOpen), a)).reverse(),
  strayBlock: (body, dice) => place(body, dice, structuredClone(pick(STRAY_BLOCKS, dice[2]))),
  strayInResult: (body, [a, b]) => {
    const result = pick(ofType(body, "tool_result"), a);
    if (result !== undefined) result.content = [structuredClone(pick(STRAY_BLOCKS, b))];
  },
  dropResult: (body, [a]) => {
    const doomed = pick(ofType(body, "tool_result"), a);
    for (const message of body.messages.filter(isOpen)) {
      if (Array.isArray(message.content))
        message.content = message.content.filter((block) => block !== doomed);
    }
  },
  repeatId: (body, [a, b]) => {
    const [one, other] = [pick(ofType(body, "tool_use"), a), pick(ofType(body, "tool_use"), b)];
    if (one !== undefined && other !== undefined) one.id = other.id;
  },
  renameResult: (body, [a]) => {
    const result = pick(ofType(body, "tool_result"), a);
    if (result !== undefined) result.tool_use_id = "other";
  },
  blankText: (body, [a, b]) => {
    const block = pick(ofType(body, "text"), a);
    if (block !== undefined) block.text = pick(["", " ", "\n\t", "fine"], b);
  },
  emptyMessage: (body, [a, b]) => {
    const message = pick(body.messages.filter(isOpen), a);
    if (message !== undefined) message.content = pick<unknown>(["", [], "  ", null, 4, {}], b);
  },
  wrongRole: (body, [a, b]) => {
    const message = pick(body.messages.filter(isOpen), a);
    if (message === undefined) return;
    message.role = pick(["user", "assistant", "system", "narrator"], b);
    // Only system messages have this field. The request checker leaves the fields of a message to the API.
    if (message.role !== "system") delete message.output_config;
  },
  strayMessage: (body, [a, b]) => {
    const stray: readonly unknown[] = [
      { role: "system", content: "a rule" },
      { role: "system", content: [] },
      { role: "system", output_config: { effort: "low" } },
      { role: "system", output_config: {} },
      { role: "user", content: "again" },
      { role: "assistant", content: "again" },
      { role: "assistant", content: [{ type: "compaction", content: "s", signature: "s" }] },
      null,
    ];
    insert(body, a, structuredClone(pick(stray, b)) as Json);
  },
  endWithAssistant: (body, [a]) => {
    const content = pick<unknown>(["The", "The ", "", [{ type: "compaction", content: "s" }]], a);
    body.messages.push({ role: "assistant", content });
  },
  markBlocks: (body, [a, b, c]) => {
    const holders = [...allBlocks(body), body, ...((body.tools as Json[] | undefined) ?? [])];
    for (let count = 0; count <= a % 6; count++) {
      const holder = pick(holders, b + count * (1 + (c % 3)));
      if (holder !== undefined) holder.cache_control = pick(MARKS, c >> count);
    }
  },
  markLastTwice: (body, [a, b]) => {
    const last = blocksOf(body.messages.filter(isOpen).at(-1)).at(-1);
    if (isOpen(last)) last.cache_control = pick(MARKS, a);
    body.cache_control = pick(MARKS, b);
  },
  manyPictures: (body, [a, b]) => {
    const picture = { type: "image", source: { type: "file", file_id: "f" } };
    for (let count = 0; count <= 98 + (a % 4); count++) place(body, [b, 999, 0], { ...picture });
  },
  citeText: (body, [a]) => {
    const block = pick(ofType(body, "text"), a);
    if (block !== undefined) block.citations = [{ type: "char_location" }];
  },
  strayDocument: (body, dice) =>
    place(body, dice, { type: "document", source: { type: "file", file_id: "f" } }),
  thinkByHand: (body) => void Object.assign(body, { thinking: { type: "enabled", budget_tokens: 1_024 } }),
  dropAll: (body) => void Object.assign(body, { messages: [] }),
};

/** Generates up to `most` damages in sequence. Without any damage, the body stays unchanged. */
export function arbitraryDamage(most: number): fc.Arbitrary<(body: RequestBody) => RequestBody> {
  const die = fc.nat({ max: 10_000 });
  const one = fc.tuple(fc.constantFrom(...Object.keys(DAMAGES)), fc.tuple(die, die, die));
  return fc.array(one, { maxLength: most }).map((damages) => {
    const apply = (body: RequestBody): RequestBody => {
      const damaged = structuredClone(body);
      for (const [name, dice] of damages) if (damaged.messages.length > 0) DAMAGES[name]?.(damaged, dice);
      return JSON.parse(JSON.stringify(damaged));
    };
    return Object.assign(apply, { toString: () => JSON.stringify(damages) });
  });
}
