import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import type { ModelRequest } from "@longhaul/core/models";
import * as sdk from "ai";
import { modelMessageSchema } from "ai";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { arbitraryRequest } from "../../../test/support/arbitraries.ts";
import { deepFreeze } from "../../../test/support/deep-freeze.ts";
import { encodeProviderData } from "../../core/src/models/provider-memory.ts";
import type { PromptMessage, PromptPart } from "./block-parts.ts";
import { type MappedCall, mapCall } from "./call.ts";
import { type Dialect, dialectOf } from "./dialect.ts";

const DIALECTS: readonly Dialect[] = [
  "anthropic.messages",
  "openai.responses",
  "openai.chat",
  "google.generative-ai",
  "harbour.chat",
  "mistral.chat",
].map((provider) => dialectOf({ specificationVersion: "v3", provider, modelId: "m" }));

const dialect = (): fc.Arbitrary<Dialect> => fc.constantFrom(...DIALECTS);
const version = (): fc.Arbitrary<typeof sdk> =>
  fc.constantFrom(sdk, { ...sdk, isStepCount: sdk.stepCountIs } as typeof sdk);

const map = (request: ModelRequest, target: Dialect, module: typeof sdk = sdk, images = true): MappedCall =>
  mapCall(deepFreeze(request), target, module, { images });

const messagesOf = ({ options }: MappedCall): readonly PromptMessage[] =>
  options.messages as readonly PromptMessage[];

const partsOf = ({ content }: PromptMessage): readonly PromptPart[] =>
  typeof content === "string" ? [] : content;

/**
 * Generates conversations. Every text contains a unique word (`w7.`), so that a test can check whether the
 * text is still present.
 */
function arbitraryConversation(): fc.Arbitrary<readonly ApiMessage[]> {
  const shape = fc.array(
    fc.tuple(fc.constantFrom<ApiMessage["role"]>("user", "assistant", "system"), blocks()),
    {
      maxLength: 8,
    },
  );
  return shape.map((list) => {
    let count = 0;
    const word = (): string => `w${++count}.`;
    return list.map(([role, kinds]) => ({ role, content: kinds.map((kind) => kind(word)) }));
  });
}

type MakeBlock = (word: () => string) => ContentBlock;

function blocks(): fc.Arbitrary<readonly MakeBlock[]> {
  const id = fc.constantFrom("a", "b", "toolu_c", "esc-_2e_", "an id. of another kind", "x".repeat(70));
  const text: MakeBlock = (word) => ({ type: "text", text: word() });
  const picture: MakeBlock = () => ({
    type: "image",
    source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
  });
  const paper: MakeBlock = (word) => ({
    type: "document",
    source: { type: "text", media_type: "text/plain", data: word() },
    title: word(),
  });
  const nested = fc.array(fc.constantFrom(text, picture, paper, unknownBlock), { maxLength: 3 });
  const block = fc.oneof(
    { weight: 4, arbitrary: fc.constant(text) },
    { weight: 3, arbitrary: id.map((value): MakeBlock => callBlock(value)) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(id, nested, fc.boolean())
        .map(([value, inner, isError]): MakeBlock => resultBlock(value, inner, isError)),
    },
    { weight: 2, arbitrary: fc.constantFrom<MakeBlock>(picture, paper, unknownBlock, compaction) },
    { weight: 1, arbitrary: fc.constantFrom<MakeBlock>(signedThinking, foreignThinking) },
  );
  return fc.array(block, { maxLength: 5 });
}

const callBlock =
  (id: string): MakeBlock =>
  (word) => ({ type: "tool_use", id, name: "read", input: { path: word() } });

const resultBlock =
  (id: string, inner: readonly MakeBlock[], isError: boolean): MakeBlock =>
  (word) => ({
    type: "tool_result",
    tool_use_id: id,
    content: inner.map((make) => make(word)),
    ...(isError ? { is_error: true } : {}),
  });

const unknownBlock: MakeBlock = (word) => ({ type: "novel", said: word() }) as unknown as ContentBlock;
const compaction: MakeBlock = (word) => ({ type: "compaction", content: word() }) as unknown as ContentBlock;
const signedThinking: MakeBlock = () => ({ type: "thinking", thinking: "hm", signature: "sig" });
const foreignThinking: MakeBlock = () => ({
  type: "thinking",
  thinking: "hm",
  signature: encodeProviderData({ maker: "harbour", metadata: {} }),
});

const words = (value: unknown): readonly string[] =>
  JSON.stringify(value, (_key, inner: unknown) =>
    inner instanceof Uint8Array ? new TextDecoder().decode(inner) : inner,
  ).match(/w\d+\./g) ?? [];

describe("a conversation mapped for any provider", () => {
  it("mapCall keeps every word of a conversation for every provider", () => {
    fc.assert(
      fc.property(arbitraryConversation(), dialect(), version(), (messages, target, module) => {
        const call = map({ messages }, target, module);
        expect(new Set(words(call.options.messages))).toEqual(new Set(words(messages)));
      }),
    );
  });

  it("mapCall reports a change whenever it omits a block or sends a block as another block type", () => {
    fc.assert(
      fc.property(arbitraryConversation(), dialect(), fc.boolean(), (messages, target, images) => {
        const call = map({ messages }, target, sdk, images);
        const sent = messagesOf(call).flatMap(partsOf);
        const given = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
        const counts = (type: string): number => given.filter((block) => block.type === type).length;
        const kinds = (type: string): number => sent.filter((part) => part.type === type).length;
        const isWhole =
          kinds("tool-call") === counts("tool_use") &&
          kinds("tool-result") === counts("tool_result") &&
          kinds("reasoning") === counts("thinking") &&
          counts("novel") === 0;
        if (call.changes.length === 0) expect(isWhole).toBe(true);
      }),
    );
  });

  it("every mapped tool call has its result in the next message, and no result lacks a call", () => {
    fc.assert(
      fc.property(arbitraryConversation(), dialect(), (messages, target) => {
        const sent = messagesOf(map({ messages }, target));
        for (const [index, message] of sent.entries()) {
          const ids = (of: PromptMessage | undefined, type: string): readonly unknown[] =>
            of === undefined
              ? []
              : partsOf(of).flatMap((part) => (part.type === type ? [part.toolCallId] : []));
          const calls = message.role === "assistant" ? ids(message, "tool-call") : [];
          const next = sent[index + 1];
          const answers = next?.role === "tool" ? ids(next, "tool-result") : [];
          expect([...answers].sort()).toEqual([...calls].sort());
          if (message.role === "tool") expect(sent[index - 1]?.role).toBe("assistant");
        }
      }),
    );
  });

  it("user and assistant messages alternate for a provider that allows no system messages between them", () => {
    fc.assert(
      fc.property(arbitraryConversation(), (messages) => {
        const sent = messagesOf(map({ messages }, dialectOf("groq/llama")));
        for (const [index, { role }] of sent.entries()) {
          expect(role).not.toBe("system");
          const next = sent[index + 1]?.role;
          if (hasVanishingMessage(messages)) continue;
          expect(next === role).toBe(false);
        }
      }),
    );
  });

  it("mapCall produces messages that match the AI SDK's own schema", () => {
    fc.assert(
      fc.property(arbitraryConversation(), dialect(), (messages, target) => {
        for (const message of messagesOf(map({ messages }, target))) {
          expect(modelMessageSchema.safeParse(message).error).toBeUndefined();
        }
      }),
    );
  });

  it("mapping a request twice returns equal AI SDK calls", () => {
    fc.assert(
      fc.property(arbitraryConversation(), dialect(), (messages, target) => {
        const first = map({ messages }, target);
        expect(map({ messages }, target)).toEqual(first);
      }),
    );
  });
});

describe("mapping of malformed requests", () => {
  it("mapCall maps a malformed request without an error", () => {
    fc.assert(
      fc.property(arbitraryRequest(), dialect(), version(), (request, target, module) => {
        const messages = request.messages.filter(
          (message) => message !== null && typeof message === "object",
        );
        map({ ...request, messages } as ModelRequest, target, module);
      }),
    );
  });
});

/**
 * Returns true if a message has no blocks or only thinking. Such a message can disappear, and its neighbors
 * become adjacent.
 */
function hasVanishingMessage(messages: readonly ApiMessage[]): boolean {
  return messages.some(
    ({ content }) =>
      typeof content !== "string" &&
      content.every((block) => block.type === "thinking" || block.type === "redacted_thinking"),
  );
}
