import { costOf } from "@longhaul/core/measure";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonRecord } from "../../../../core/src/messages/untrusted.ts";
import type { PrefixNode } from "../../prompt/prefix-tree.ts";
import { createTokenCounter, type TokenCounter } from "../../prompt/token-count.ts";
import type { Prompt } from "./model-prompt.ts";
import type { CacheLookup } from "./prompt-cache.ts";
import {
  assistant,
  type Body,
  HOUR,
  MARK,
  MINUTE_MS,
  Scene,
  sumOf,
  text,
  toolResult,
  toolUse,
  user,
} from "./scene.case.ts";

const counter: TokenCounter = await createTokenCounter((value) => value.length);

interface Step {
  readonly body: Body;
  readonly minutesLater: number;
  readonly workspace: string;
  readonly isCommitted: boolean;
}

const arbitraryMark = fc.option(fc.constantFrom(MARK, HOUR), { freq: 3, nil: undefined });

/**
 * One turn: text, thinking, a search, or calls with their results. There are few variants, so that prefixes
 * repeat.
 */
const arbitraryTurn = fc
  .record({
    kind: fc.constantFrom("say", "tool", "parallel", "think", "search"),
    letter: fc.constantFrom("a", "b"),
    size: fc.constantFrom(40, 900),
    mark: arbitraryMark,
  })
  .map(({ kind, letter, size, mark }) => ({ kind, letter, size, mark }));

type Turn = typeof arbitraryTurn extends fc.Arbitrary<infer T> ? T : never;

function messagesOf(turns: readonly Turn[]): readonly JsonRecord[] {
  return turns.flatMap(({ kind, letter, size, mark }, index) => {
    const id = `${letter}${index}`;
    const thinking = { type: "thinking", thinking: letter.repeat(30), signature: `s${id}` };
    const search = { type: "web_search_tool_result", tool_use_id: id, content: [] };
    switch (kind) {
      case "tool":
        return [assistant(toolUse(id)), user(toolResult(id, size, mark))];
      case "parallel":
        return [
          assistant(toolUse(id), toolUse(`${id}+`)),
          user(toolResult(id, size), toolResult(`${id}+`, size, mark)),
        ];
      case "think":
        return [assistant(thinking, text(size, letter)), user(text(9, letter, mark))];
      case "search":
        return [assistant(search), user(text(size, letter, mark))];
      default:
        return [user(text(size, letter, mark))];
    }
  });
}

const arbitraryBody: fc.Arbitrary<Body> = fc
  .record({
    model: fc.constantFrom("claude-sonnet-4-6", "claude-opus-5-5", "claude-haiku-4-5"),
    systemMark: arbitraryMark,
    turns: fc.array(arbitraryTurn, { minLength: 1, maxLength: 12 }),
    automatic: arbitraryMark,
    toolChoice: fc.constantFrom("auto", "none"),
    deleted: fc.option(fc.array(fc.constantFrom("a0", "a1", "b1", "a2", "b2+", "a4")), { nil: undefined }),
  })
  .map(({ model, systemMark, turns, automatic, toolChoice, deleted }) => ({
    model,
    system: [text(600, "s", systemMark)],
    messages: messagesOf(turns),
    tool_choice: { type: toolChoice },
    ...(automatic === undefined ? {} : { cache_control: automatic }),
    ...(deleted === undefined
      ? {}
      : { cache_edits: deleted.map((id) => ({ type: "delete_tool_result", tool_use_id: id })) }),
  }));

/** A sequence of calls. As in a conversation, a call may repeat, shorten or change an earlier call. */
const arbitrarySteps: fc.Arbitrary<readonly Step[]> = fc
  .array(arbitraryBody, { minLength: 1, maxLength: 3 })
  .chain((bodies) =>
    fc.array(
      fc
        .record({
          body: fc.constantFrom(...bodies),
          keep: fc.integer({ min: 1, max: 24 }),
          withEdits: fc.boolean(),
          minutesLater: fc.constantFrom(0, 1, 4, 6, 61),
          workspace: fc.constantFrom("one", "one", "two"),
          isCommitted: fc.constantFrom(true, true, false),
        })
        .map(({ body, keep, withEdits, ...call }) => {
          const { cache_edits: _, ...plain } = body;
          const kept = withEdits ? body : plain;
          return { ...call, body: { ...kept, messages: body.messages.slice(0, keep) } };
        }),
      { minLength: 1, maxLength: 12 },
    ),
  );

function forEachCall(
  steps: readonly Step[],
  check: (lookup: CacheLookup, prompt: Prompt, step: Step, scene: Scene) => void,
): void {
  const scene = new Scene(counter);
  for (const step of steps) {
    scene.clock.advance(step.minutesLater * MINUTE_MS);
    const lookup = scene.begin(step.body, { workspace: step.workspace });
    check(lookup, scene.prompt(step.body), step, scene);
    if (step.isCommitted) lookup.commit();
  }
}

describe("the prompt cache, for any sequence of calls", () => {
  it("reports usage figures that are whole, not negative, and add up to the tokens of the prompt", () => {
    fc.assert(
      fc.property(arbitrarySteps, (steps) => {
        forEachCall(steps, ({ usage, tokens }, prompt) => {
          const deleted = usage.cache_deleted_input_tokens ?? 0;
          const { ephemeral_5m_input_tokens: minutes, ephemeral_1h_input_tokens: hour } =
            usage.cache_creation;
          expect(sumOf(usage)).toBe(tokens);
          expect(tokens + deleted).toBe(prompt.tokens);
          expect(minutes + hour).toBe(usage.cache_creation_input_tokens);
          for (const figure of [usage.input_tokens, usage.cache_read_input_tokens, minutes, hour, deleted]) {
            expect(Number.isInteger(figure) && figure >= 0).toBe(true);
          }
        });
      }),
    );
  });

  it("the token counts of a prompt never decrease from block to block and end at the total", () => {
    fc.assert(
      fc.property(arbitraryBody, (body) => {
        const { positions, tokens } = new Scene(counter).prompt(body);
        let before = 0;
        for (const position of positions) {
          expect(position.tokens).toBeGreaterThanOrEqual(before);
          before = position.tokens;
        }
        expect(before).toBe(tokens);
      }),
    );
  });

  it("the prompt cache reads only prefixes that an earlier call wrote", () => {
    fc.assert(
      fc.property(arbitrarySteps, (steps) => {
        const written = new Map<PrefixNode, Set<string>>();
        forEachCall(steps, ({ usage }, prompt, step) => {
          const scope = `${step.workspace} ${prompt.model.id}`;
          const read = usage.cache_read_input_tokens + (usage.cache_deleted_input_tokens ?? 0);
          const at = prompt.positions.findLast(({ tokens }) => tokens === read);
          const writers = at === undefined ? undefined : written.get(at.node);
          if (usage.cache_read_input_tokens > 0) expect(writers).toContain(scope);
          if (!step.isCommitted) return;
          for (const { node, mark } of prompt.positions) {
            if (mark !== undefined) written.set(node, new Set(written.get(node)).add(scope));
          }
        });
      }),
    );
  });

  it("a repeated call reads everything up to the last cache mark and writes nothing", () => {
    fc.assert(
      fc.property(arbitrarySteps, (steps) => {
        forEachCall(steps, (lookup, prompt, { body, workspace, isCommitted }, scene) => {
          if (!isCommitted || body.cache_edits !== undefined) return;
          lookup.commit();
          const again = scene.begin(body, { workspace }).usage;
          const { features } = prompt.model;
          const lastMark = prompt.positions.findLast(({ mark }) => mark !== undefined)?.tokens ?? 0;
          expect(again.cache_creation_input_tokens).toBe(0);
          expect(again.cache_read_input_tokens).toBe(lastMark < features.minimumCacheTokens ? 0 : lastMark);
        });
      }),
    );
  });

  it("a call reads nothing from the cache beyond a changed block", () => {
    const arbitraryChange = fc.record({ body: arbitraryBody, at: fc.nat() });
    fc.assert(
      fc.property(arbitraryChange, ({ body, at }) => {
        const scene = new Scene(counter);
        const { cache_edits: _, ...plain } = body;
        scene.send({ ...plain, messages: body.messages });
        const index = at % body.messages.length;
        const changed = body.messages.map((message, place) =>
          place === index
            ? { ...message, content: [text(5, "changed"), ...(message.content as [])] }
            : message,
        );
        const usage = scene.send({ ...plain, messages: changed });
        const before = scene.prompt({ ...plain, messages: body.messages.slice(0, index) });
        expect(usage.cache_read_input_tokens).toBeLessThanOrEqual(before.tokens);
      }),
    );
  });

  it("a call reads nothing from the cache after an hour without calls", () => {
    fc.assert(
      fc.property(arbitrarySteps, (steps) => {
        const late = steps.map((step) => ({ ...step, minutesLater: 60 }));
        forEachCall(late, ({ usage }) => expect(usage.cache_read_input_tokens).toBe(0));
      }),
    );
  });

  it("a call that only reads the cache never costs more than a call without a cache", () => {
    fc.assert(
      fc.property(arbitrarySteps, (steps) => {
        forEachCall(steps, ({ usage, tokens }, { model }) => {
          const cost = costOf({ ...usage, output_tokens: 0 }, model.id);
          const plain = costOf({ input_tokens: tokens, output_tokens: 0 }, model.id) ?? 0;
          if (usage.cache_creation_input_tokens === 0) expect(cost).toBeLessThanOrEqual(plain + 1e-12);
        });
      }),
    );
  });
});

describe("cached edits, which delete tool results from a cached prefix, for any conversation", () => {
  it("cached edits reduce the tokens read from the cache by exactly the deleted tokens", () => {
    fc.assert(
      fc.property(arbitraryBody, fc.boolean(), (body, isWarm) => {
        const scene = new Scene(counter);
        const { cache_edits, ...plain } = body;
        const unedited: Body = { ...plain, messages: body.messages };
        if (isWarm) scene.send(unedited);
        const without = scene.begin(unedited).usage;
        const { usage } = scene.begin({ ...unedited, cache_edits: cache_edits ?? [] });
        const deleted = usage.cache_deleted_input_tokens ?? 0;
        expect(usage.cache_read_input_tokens).toBe(without.cache_read_input_tokens - deleted);
        expect(usage.cache_creation).toEqual(without.cache_creation);
        expect(usage.input_tokens).toBe(without.input_tokens);
        if (!isWarm) expect(deleted).toBe(0);
      }),
    );
  });

  it("calls that repeat cached edits read the same prefix again, and other calls can read the unedited entry", () => {
    fc.assert(
      fc.property(arbitraryBody, (body) => {
        const scene = new Scene(counter);
        const { cache_edits = [], ...plain } = body;
        const unedited: Body = { ...plain, messages: body.messages };
        const pinned: Body = { ...unedited, cache_edits };
        scene.send(unedited);
        const first = scene.send(pinned);
        scene.clock.advance(3 * MINUTE_MS);
        expect(scene.send(pinned)).toEqual(first);
        expect(scene.begin(unedited).usage.cache_creation_input_tokens).toBe(0);
        scene.clock.advance(3 * MINUTE_MS);
        expect(scene.send(pinned).cache_read_input_tokens).toBe(first.cache_read_input_tokens);
      }),
    );
  });
});
