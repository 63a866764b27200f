import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BodyProblem, parseBody } from "./body.ts";
import { BodyMemory } from "./body-memory.ts";

const outcome = (parse: () => unknown): string => {
  try {
    return JSON.stringify(parse());
  } catch (error) {
    if (error instanceof BodyProblem) return JSON.stringify(error.problem);
    throw error;
  }
};

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom('a "quoted" \\ text', '"messages":[', "]}", "\n\t", "満潮 🌊", "\u2028", "[{,}]"),
);
const message = fc.oneof(
  { weight: 6, arbitrary: fc.record({ role: fc.constantFrom("user", "assistant"), content: text }) },
  {
    weight: 2,
    arbitrary: fc.record({
      role: fc.constant("user"),
      content: fc.array(fc.record({ type: fc.constant("text"), text })),
    }),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
);
const fields = fc.dictionary(
  fc.constantFrom("model", "system", "stream", "tools", "x"),
  fc.jsonValue({ maxDepth: 1 }),
);
const space = fc.constantFrom(undefined, 1, "\t");

interface Sent {
  readonly before: object;
  readonly messages: readonly unknown[];
  readonly after: object;
  readonly space: string | number | undefined;
}

/** A growing conversation: most requests contain the messages of the previous one. */
const talk = fc
  .array(
    fc.record({
      kept: fc.double({ min: 0, max: 1, noNaN: true }),
      added: fc.array(message, { maxLength: 4 }),
      before: fields,
      after: fields,
      space,
    }),
    { minLength: 2, maxLength: 8 },
  )
  .map((turns) => {
    const sent: Sent[] = [];
    for (const turn of turns) {
      const last = sent.at(-1)?.messages ?? [];
      const kept = turn.kept < 0.7 ? last : last.slice(0, Math.floor(last.length * turn.kept));
      const first = turn.kept < 0.5 ? sent[0] : undefined;
      const { before, space } = first ?? turn;
      sent.push({ before, space, after: turn.after, messages: [...kept, ...turn.added] });
    }
    return sent;
  });

const bytesOf = ({ before, messages, after, space }: Sent): Buffer =>
  Buffer.from(JSON.stringify({ ...before, messages, ...after }, undefined, space));

describe("BodyMemory, which parses only the new part of a request body", () => {
  it("BodyMemory returns the same as a plain parser, for any earlier bodies", () => {
    fc.assert(
      fc.property(talk, (sent) => {
        const memory = new BodyMemory();
        for (const one of sent) {
          const content = bytesOf(one);
          expect(outcome(() => memory.parse(content))).toBe(outcome(() => parseBody(content)));
        }
      }),
      { numRuns: 400 },
    );
  });

  it("BodyMemory has the same result or error as a plain parser for damaged bodies", () => {
    fc.assert(
      fc.property(
        talk,
        fc.nat(),
        fc.integer({ min: 0, max: 255 }),
        fc.boolean(),
        (sent, place, byte, isCut) => {
          const memory = new BodyMemory();
          for (const one of sent) {
            const sound = bytesOf(one);
            memory.parse(sound);
            const at = place % sound.length;
            const damaged = isCut ? sound.subarray(0, at) : Buffer.from(sound);
            if (!isCut) damaged[at] = byte;
            expect(outcome(() => memory.parse(damaged))).toBe(outcome(() => parseBody(damaged)));
          }
        },
      ),
      { numRuns: 400 },
    );
  });

  it.each([
    ["a second messages key after the list", ',"messages":[1]'],
    ["a second, escaped messages key", ',"\\u006dessages":[2]'],
    ["a second messages key with an empty list", ',"messages":[]'],
    ["a second, escaped messages key with an empty list", ',"\\u006dessages":[]'],
    ["a second messages key with as many other messages", ',"messages":[1,2]'],
    ["a second, escaped messages key with as many other messages", ',"\\u006dessages":[1,2]'],
    ["a nested messages key", ',"x":{"messages":[3]}'],
    ["a truncated field", ',"x":'],
    ["more text after the body", "} {"],
  ])("BodyMemory returns the same as a plain parser for a body with %s", (_, suffix) => {
    const memory = new BodyMemory();
    const body = (more: string): Buffer =>
      Buffer.from(
        `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"user","content":"b"}]${more}}`,
      );
    memory.parse(body(""));
    expect(outcome(() => memory.parse(body(suffix)))).toBe(outcome(() => parseBody(body(suffix))));
    expect(outcome(() => memory.parse(body("")))).toBe(outcome(() => parseBody(body(""))));
    const afterwards = new BodyMemory();
    outcome(() => afterwards.parse(body(suffix)));
    expect(outcome(() => afterwards.parse(body("")))).toBe(outcome(() => parseBody(body(""))));
  });

  it.each([
    ["a number that gets another digit", '{"messages":[1]}', '{"messages":[12]}'],
    ["a number that became a fraction", '{"messages":[1]}', '{"messages":[1.5]}'],
    ["a number after an item, without a comma", '{"messages":["a" ]}', '{"messages":["a"0]}'],
    ["an item after an item, without a comma", '{"messages":[{}]}', '{"messages":[{}{}]}'],
    ["a comma after the last item", '{"messages":[{}]}', '{"messages":[{},]}'],
    ["a blank that is invalid in JSON", '{"messages":[{}]}', '{"messages":[{}\u00a0,{}]}'],
  ])("BodyMemory returns the same as a plain parser for a body with %s", (_, earlier, later) => {
    const memory = new BodyMemory();
    memory.parse(Buffer.from(earlier));
    const content = Buffer.from(later);
    expect(outcome(() => memory.parse(content))).toBe(outcome(() => parseBody(content)));
  });

  it("BodyMemory refuses invalid UTF-8 in the new part of a body", () => {
    const memory = new BodyMemory();
    const sound = Buffer.from('{"messages":[{"a":"1"},{"a":"2"}]}');
    memory.parse(sound);
    const broken = Buffer.concat([
      sound.subarray(0, -2),
      Buffer.from(',{"a":"'),
      Buffer.from([0xff]),
      Buffer.from('"}]}'),
    ]);
    expect(outcome(() => memory.parse(broken))).toMatch(/not-json.*UTF-8/);
  });

  it("BodyMemory parses two continuations of the same messages correctly", () => {
    const memory = new BodyMemory();
    const parse = (...words: readonly string[]): unknown =>
      (
        memory.parse(Buffer.from(JSON.stringify({ messages: words.map((word) => ({ word })) }))).messages as {
          word: string;
        }[]
      ).map(({ word }) => word);
    parse("a", "b", "c", "d", "e", "f");
    expect(parse("a", "b", "x", "y")).toEqual(["a", "b", "x", "y"]);
    expect(parse("a", "b", "x", "y", "z")).toEqual(["a", "b", "x", "y", "z"]);
    expect(parse("a", "b", "c", "d", "e", "g")).toEqual(["a", "b", "c", "d", "e", "g"]);
  });

  it("BodyMemory returns the same message objects for the messages of an earlier body", () => {
    const memory = new BodyMemory();
    const messages = Array.from({ length: 20 }, (_, index) => ({
      role: "user",
      content: `turn ${index} \\`,
    }));
    const parse = (count: number, more: object = {}): readonly unknown[] =>
      memory.parse(Buffer.from(JSON.stringify({ model: "m", messages: messages.slice(0, count), ...more })))
        .messages as readonly unknown[];
    const first = parse(10);
    const other = memory.parse(Buffer.from('{"model":"other","messages":[{"role":"user","content":"hi"}]}'));
    const second = parse(12, { stream: true });
    expect(second.slice(0, 10).every((one, index) => one === first[index])).toBe(true);
    const third = parse(11);
    expect(third[10]).toBe(second[10]);
    expect(third[10]).not.toBe((other.messages as readonly unknown[])[0]);
  });

  it("BodyMemory replaces the earlier body of a growing conversation, and keeps the body of another conversation", () => {
    const memory = new BodyMemory(1_000);
    const parse = (model: string, ...contents: readonly string[]): readonly unknown[] =>
      memory.parse(
        Buffer.from(
          JSON.stringify({ model, messages: contents.map((content) => ({ role: "user", content })) }),
        ),
      ).messages as readonly unknown[];
    const small = parse("small", "a");
    parse("large", "b".repeat(400));
    parse("large", "b".repeat(400), "c".repeat(200));
    expect(parse("small", "a", "d")[0]).toBe(small[0]);
  });
});
