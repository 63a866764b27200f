import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiRuleViolations } from "../../../../../test/support/api-rules.ts";
import { deepFreeze } from "../../../../../test/support/deep-freeze.ts";
import { arbitraryConversation, arbitrarySplit } from "../../../../../test/support/growing-conversation.ts";
import type { ApiMessage, ApiRequest } from "../../messages/message.ts";
import { checkRequest } from "./check.ts";
import { CheckedMessages } from "./growing-check.ts";
import type { CheckOptions, Finding } from "./rule.ts";

const RUNS = { numRuns: 500 };

type Frame = Omit<ApiRequest, "messages">;
type FramedOptions = CheckOptions & Frame;

/** Generates limits so low that the generated conversations reach them. */
function arbitraryOptions(): fc.Arbitrary<FramedOptions> {
  const options = fc.record(
    {
      maxMedia: fc.integer({ min: 0, max: 8 }),
      maxRequestBytes: fc.constantFrom(600, 2_000, 4_000, 12_000),
      requireTools: fc.boolean(),
      apiVersion: fc.constantFrom("2023-06-01", "2026-10-21"),
      consecutiveRoles: fc.constantFrom("reported", "accepted"),
      prefill: fc.constantFrom("report", "add-user-message"),
      model: fc.constantFrom("claude-opus-4-6", "claude-sonnet-4-20250514", "claude-opus-5"),
      thinking: fc.constant({ type: "enabled" }),
      system: fc.constantFrom<unknown>("be kind", " ", [
        { type: "text", text: "s", cache_control: { type: "ephemeral" } },
      ]),
      tools: fc.constant([
        {
          name: "Read",
          input_schema: { type: "object", properties: { lines: { type: "array" } } },
          cache_control: { type: "ephemeral", ttl: "1h" },
        },
      ]),
      cache_control: fc.constantFrom({ type: "ephemeral", ttl: "1h" }, { type: "ephemeral" }),
    },
    { requiredKeys: [] },
  );
  return fc.oneof(fc.constant({}), options) as fc.Arbitrary<unknown> as fc.Arbitrary<FramedOptions>;
}

const arbitraryThinking = (): fc.Arbitrary<Frame> =>
  fc.constantFrom({}, { thinking: { type: "adaptive" } }, { thinking: { type: "enabled" } });

const CHECK_FIELDS = [
  "maxMedia",
  "maxRequestBytes",
  "requireTools",
  "apiVersion",
  "consecutiveRoles",
  "prefill",
];

function frameOf(options: FramedOptions): Frame {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !CHECK_FIELDS.includes(name)));
}

const sorted = (findings: readonly Finding[]): string[] =>
  findings.map((each) => JSON.stringify(each)).sort();

describe("CheckedMessages", () => {
  it("checking messages piece by piece always gives the same result and findings as checking all at once", () => {
    fc.assert(
      fc.property(arbitrarySplit(arbitraryConversation()), arbitraryOptions(), (pieces, options) => {
        const checked = new CheckedMessages(options, frameOf(options));
        const given: ApiMessage[] = [];
        for (const piece of pieces) {
          checked.append(deepFreeze(piece));
          given.push(...piece);
          const { request, findings } = checkRequest({ ...frameOf(options), messages: given }, options);
          expect(checked.messages).toEqual(request.messages);
          expect(sorted(checked.findings)).toEqual(sorted(findings));
          expect(checked.frame).toEqual({ ...request, messages: [] });
          expect(checked.isUntouched).toBe(!findings.some(({ action }) => action !== "reported"));
        }
      }),
      RUNS,
    );
  });

  it("checked messages follow the rules of the API after every append", () => {
    fc.assert(
      fc.property(arbitrarySplit(arbitraryConversation()), arbitraryThinking(), (pieces, frame) => {
        const checked = new CheckedMessages({}, frame);
        for (const piece of pieces) {
          checked.append(piece);
          expect(apiRuleViolations(checked.messages, frame)).toEqual([]);
        }
      }),
      RUNS,
    );
  });

  it("checking messages piece by piece returns the same message objects as checking them at once", () => {
    fc.assert(
      fc.property(arbitrarySplit(arbitraryConversation()), (pieces) => {
        const checked = new CheckedMessages();
        for (const piece of pieces) checked.append(piece);
        const given = new Set(pieces.flat());
        const { messages } = checkRequest({ messages: pieces.flat() }).request;
        for (const [index, message] of messages.entries())
          if (given.has(message)) expect(checked.messages[index]).toBe(message);
      }),
      RUNS,
    );
  });

  it("checking messages piece by piece reports each finding once, when it first appears", () => {
    fc.assert(
      fc.property(arbitrarySplit(arbitraryConversation()), arbitraryThinking(), (pieces, frame) => {
        const checked = new CheckedMessages({}, frame);
        let before = new Set<string>();
        for (const piece of pieces) {
          const key = ({ rule, path, action }: Finding): string => `${rule} ${path} ${action}`;
          const reported = checked.append(piece).map(key);
          const now = new Set(checked.findings.map(key));
          expect(new Set(reported)).toEqual(new Set([...now].filter((each) => !before.has(each))));
          before = now;
        }
      }),
      RUNS,
    );
  });

  it("an outbox still returns the same checked messages after more messages are appended", () => {
    fc.assert(
      fc.property(arbitrarySplit(arbitraryConversation()), arbitraryOptions(), (pieces, options) => {
        const checked = new CheckedMessages(options, frameOf(options));
        const steps = pieces.map((piece) => {
          checked.append(piece);
          return { outbox: checked.outbox(), messages: [...checked.messages] };
        });
        for (const { outbox, messages } of steps) expect(outbox()).toEqual(messages);
      }),
      RUNS,
    );
  });
});
