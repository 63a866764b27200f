import type { ApiMessage, ContentBlock } from "@longhaul/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../../../../core/src/messages/untrusted.ts";
import {
  CONTROLS,
  newTalk,
  reparsed,
  result,
  said,
  type Talk,
  TestProvider,
  thought,
  used,
  withMessages,
} from "./talk.case.ts";

/** Actions of the user and the model in one exchange. */
const exchange = fc.record({
  says: fc.string({ minLength: 1, maxLength: 8 }),
  reply: fc.array(fc.constantFrom("thinks", "speaks"), { maxLength: 3 }),
  reads: fc.nat(2),
});
type Exchange = typeof exchange extends fc.Arbitrary<infer T> ? T : never;
const exchanges = fc.array(exchange, { minLength: 1, maxLength: 6 });

function play(provider: TestProvider, talk: Talk, planned: readonly Exchange[]): Talk {
  let current = talk;
  for (const { says, reply, reads } of planned) {
    const turn = current.messages.length;
    const open = openCalls(current.messages);
    const spoken: ApiMessage = {
      role: "user",
      content: [...open.map((id) => result(id)), said(`${turn} ${says}`)],
    };
    current = withMessages(current, [...current.messages, spoken]);
    const blocks = reply.map((kind, index) =>
      kind === "thinks" ? thought(`${turn}/${index}`) : said(`${turn}/${index}`),
    );
    const uses = Array.from({ length: reads }, (_, index) => used(`toolu_${turn}_${index}`));
    const content = provider.reply(current, [...blocks, said("so"), ...uses]);
    current = withMessages(current, [...current.messages, { role: "assistant", content }]);
  }
  return withMessages(current, [
    ...current.messages,
    { role: "user", content: [...openCalls(current.messages).map((id) => result(id)), said("next")] },
  ]);
}

function openCalls(messages: readonly ApiMessage[]): readonly string[] {
  const content = messages.at(-1)?.content ?? "";
  if (typeof content === "string") return [];
  return content.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
}

/** Returns the paths of the thinking blocks that are invalid. */
function failing(provider: TestProvider, talk: JsonRecord, checksRules = true): readonly string[] {
  const thinking = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } };
  const { inputTransformations } = provider.call({ ...talk, thinking }, { betas: CONTROLS, checksRules });
  return (inputTransformations ?? []).map(({ path }) => path);
}

interface Place {
  readonly message: number;
  readonly block: number;
}

function places(talk: Talk, isWanted: (block: ContentBlock) => boolean): readonly Place[] {
  return talk.messages.flatMap(({ content }, message) =>
    typeof content === "string"
      ? []
      : content.flatMap((block, index) => (isWanted(block) ? [{ message, block: index }] : [])),
  );
}

const pathOf = ({ message, block }: Place): string => `messages.${message}.content.${block}`;
const isBefore = (one: Place, other: Place): boolean =>
  one.message < other.message || (one.message === other.message && one.block < other.block);

describe("thinking that is bound to its conversation, for any conversation", () => {
  it("all thinking stays valid when messages are appended to the conversation", () => {
    fc.assert(
      fc.property(exchanges, exchanges, (first, second) => {
        const provider = new TestProvider();
        const talk = play(provider, newTalk(), first);
        expect(failing(provider, reparsed(talk))).toEqual([]);
        const longer = play(provider, withMessages(talk, talk.messages.slice(0, -1)), second);
        expect(failing(provider, reparsed(longer))).toEqual([]);
      }),
    );
  });

  it("a change of one block makes exactly the thinking after that block invalid", () => {
    fc.assert(
      fc.property(exchanges, fc.nat(), fc.constantFrom("change", "remove"), (planned, pick, kind) => {
        const provider = new TestProvider();
        const talk = play(provider, newTalk(), planned);
        const others = places(talk, ({ type }) => type !== "thinking");
        const target = others[pick % others.length];
        if (target === undefined) return;
        const lost = places(talk, ({ type }) => type === "thinking").filter((place) =>
          isBefore(target, place),
        );
        const changed = withMessages(
          talk,
          talk.messages.map((message, index) =>
            index === target.message
              ? { ...message, content: damaged(message, target.block, kind) }
              : message,
          ),
        );
        const shift = (place: Place): Place =>
          kind === "remove" && place.message === target.message
            ? { ...place, block: place.block - 1 }
            : place;
        expect(failing(provider, changed, false)).toEqual(lost.map(shift).map(pathOf));
      }),
    );
  });

  it("the remaining thinking stays valid when a client removes thinking blocks from the start and the end", () => {
    fc.assert(
      fc.property(exchanges, fc.nat(), fc.nat(), (planned, a, b) => {
        const provider = new TestProvider();
        const talk = play(provider, newTalk(), planned);
        const count = places(talk, ({ type }) => type === "thinking").length;
        const [from, to] = [a % (count + 1), b % (count + 1)];
        let number = 0;
        const messages = talk.messages.map((message): ApiMessage => {
          if (typeof message.content === "string") return message;
          const isKept = (block: ContentBlock): boolean =>
            block.type !== "thinking" || (number++ >= from && number <= to);
          return { ...message, content: message.content.filter(isKept) };
        });
        expect(failing(provider, withMessages(talk, messages))).toEqual([]);
      }),
    );
  });

  it("checking thinking never changes the request body", () => {
    fc.assert(
      fc.property(exchanges, (planned) => {
        const provider = new TestProvider();
        const talk = play(provider, newTalk(), planned);
        const before = JSON.stringify(talk);
        failing(provider, { ...talk, system: "other" });
        expect(JSON.stringify(talk)).toBe(before);
      }),
    );
  });
});

function damaged(message: ApiMessage, index: number, kind: "change" | "remove"): readonly ContentBlock[] {
  const content = typeof message.content === "string" ? [] : message.content;
  if (kind === "remove") return content.filter((_, at) => at !== index);
  return content.map((block, at) => {
    if (at !== index) return block;
    if (block.type === "text") return { ...block, text: `${block.text}!` };
    if (block.type === "tool_use") return { ...block, input: { other: true } };
    return block.type === "tool_result" ? { ...block, content: "other" } : block;
  });
}
