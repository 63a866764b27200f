import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ApiMessage } from "../messages/message.ts";
import { type ContentBlock, contentBlocks } from "../messages/message.ts";
import { markOutdated } from "./compare-messages.ts";
import { HostView } from "./host-view.ts";
import { matchKnownMessages, splitAfter } from "./match-messages.ts";

const text = (words: string): ContentBlock => ({ type: "text", text: words });
const result = (id: string, content: string): ContentBlock => ({
  type: "tool_result",
  tool_use_id: id,
  content,
});
const user = (...content: readonly ContentBlock[]): ApiMessage => ({ role: "user", content });
const said = (...content: readonly ContentBlock[]): ApiMessage => ({ role: "assistant", content });
const call = (id: string): ContentBlock => ({ type: "tool_use", id, name: "Read", input: { path: id } });

const summary: ApiMessage = { role: "user", content: "summary" };
const known = [summary, said(call("a")), user(result("a", "read"), text("restored")), said(text("done"))];

/** Returns each block with its role, as the API sees the request. */
const blocksIn = (messages: readonly ApiMessage[]): readonly unknown[] =>
  messages.flatMap(({ role, content }) => contentBlocks(content).map((block) => [role, block]));

describe("matchKnownMessages and splitAfter", () => {
  it("matches known messages that the host split, merged or rewrote as blocks", () => {
    const split = [
      user(text("summary")),
      said(call("a")),
      user(result("a", "read")),
      user(text("restored")),
      said(text("done")),
      user(text("next")),
    ];
    const recut = matchKnownMessages(split, known);
    expect(recut?.messages).toEqual([...known, split[5]]);
    expect(recut?.messages[2]).toBe(known[2]);
    expect(recut?.replaced.map(({ original }) => original)).toEqual([summary, known[2], known[2]]);
    expect(matchKnownMessages(known, split)?.messages).toEqual(split.slice(0, 5));
  });

  it("matches a known tool result whose fields have another order and whose text is a block", () => {
    const other = user(
      { content: [text("read")], is_error: false, tool_use_id: "a", type: "tool_result" } as ContentBlock,
      text("restored"),
    );
    expect(matchKnownMessages([summary, known[1] as ApiMessage, other], known)?.messages[2]).toBe(known[2]);
  });

  it("returns a separate message with the blocks that the host adds to the last known message", () => {
    const longer = said(text("done"), text("and more"));
    expect(matchKnownMessages([...known.slice(0, 3), longer], known)?.messages).toEqual([
      ...known,
      said(text("and more")),
    ]);
  });

  it("does not match a list in which a block, a role, a cache mark or an error flag differs", () => {
    const rest = known.slice(3);
    const marked = { ...text("restored"), cache_control: { type: "ephemeral" } } as ContentBlock;
    const failed = { ...result("a", "read"), is_error: true } as ContentBlock;
    for (const other of [
      [user(result("a", "changed")), user(text("restored"))],
      [user(result("a", "read")), said(text("restored"))],
      [user(result("a", "read")), user(marked)],
      [user(failed), user(text("restored"))],
    ])
      expect(matchKnownMessages([...known.slice(0, 2), ...other, ...rest], known)).toBeUndefined();
    expect(matchKnownMessages(structuredClone(known), known)).toBeUndefined();
  });

  it("does not match a known message that the host changed in place", () => {
    const changed = user(result("a", "read"), text("restored"));
    markOutdated(changed);
    const list = [...known.slice(0, 2), user(result("a", "read")), user(text("restored"))];
    expect(matchKnownMessages(list, [...known.slice(0, 2), changed])).toBeUndefined();
  });

  it("matchKnownMessages keeps all roles and blocks, however the host splits its messages", () => {
    const run = fc.record({
      role: fc.constantFrom("user" as const, "assistant" as const),
      words: fc.array(fc.constantFrom("one", "two", "three"), { minLength: 1, maxLength: 4 }),
      cuts: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
      knownCuts: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }),
      isString: fc.boolean(),
    });
    type Run = typeof run extends fc.Arbitrary<infer Value> ? Value : never;
    const cutUp = ({ role, words, isString }: Run, sizes: readonly number[]): readonly ApiMessage[] => {
      const messages: ApiMessage[] = [];
      for (let at = 0, piece = 0; at < words.length; piece++) {
        const part = words.slice(at, at + (sizes[piece % sizes.length] ?? 1));
        const [only] = part;
        const isPlain = isString && part.length === 1 && only !== undefined;
        messages.push({ role, content: isPlain ? only : part.map(text) });
        at += part.length;
      }
      return messages;
    };
    fc.assert(
      fc.property(fc.array(run, { maxLength: 6 }), fc.array(run, { maxLength: 2 }), (runs, later) => {
        const list = [...runs, ...later].flatMap((each) => cutUp(each, each.cuts));
        const before = runs.flatMap((each) => cutUp(each, each.knownCuts));
        const recut = (matchKnownMessages(list, before)?.messages ?? list) as readonly ApiMessage[];
        expect(blocksIn(recut)).toEqual(blocksIn(list));
        expect(recut.slice(0, before.length)).toEqual(before);
      }),
    );
  });

  it("splitAfter splits a list only if the position is inside a message", () => {
    const list = [user(text("one"), text("two")), said(text("three"))];
    expect(splitAfter(list, 1)?.messages).toEqual([user(text("one")), user(text("two")), list[1]]);
    for (const blocks of [0, 2, 3, 4]) expect(splitAfter(list, blocks)).toBeUndefined();
  });
});

describe("a host that converts its lists and alternates between them", () => {
  const own: readonly ApiMessage[] = [
    { role: "user", content: "task" },
    said(call("a")),
    user(result("a", "read")),
  ];
  const rewritten: readonly ApiMessage[] = [
    summary,
    said(call("a")),
    user(result("a", "read"), text("continue")),
  ];
  const split = [summary, said(call("a")), user(result("a", "read")), user(text("continue"))];
  const next = said(text("next"));

  it("recognizes two differently split lists of the host as one conversation", () => {
    const view = new HostView();
    view.start(own);
    view.replace(rewritten);
    expect(view.read([...split, next])).toMatchObject({ kind: "continued", added: [next] });
    expect(view.read(structuredClone([...own, next]))).toMatchObject({ kind: "continued", added: [] });
    expect(view.toHostForm([])).toEqual([...rewritten, next]);
    expect(view.read(structuredClone([...split, next]))).toMatchObject({ kind: "continued", added: [] });
  });

  it("recognizes a differently split list even if the original list is no longer in memory", () => {
    const view = new HostView();
    view.start(own);
    view.replace(rewritten);
    view.read([...rewritten, next]);
    view.replace([summary]);
    view.read([...own, next]);
    view.read([summary]);
    const list = [user(text("task")), own[1] as ApiMessage, user(result("a", "read")), next];
    expect(view.read(list)).toMatchObject({ kind: "continued", added: [] });
  });

  it("after two rewrites, reports only the messages that the host changed", () => {
    const first = [user(text("one"), text("two")), said(text("three"))];
    const view = new HostView();
    view.start(first);
    view.replace([summary]);
    view.read([...first, next]);
    view.replace([{ role: "user", content: "second summary" }]);
    const later = [user(text("four")), said(text("five"))];
    view.read([...first, next, ...later]);
    expect(view.read([...first, next, later[0] as ApiMessage])).toMatchObject({
      kind: "changed",
      since: [later[0]],
    });
    expect(view.toHostForm([])).toEqual([{ role: "user", content: "second summary" }, later[0]]);
  });

  it("finds the known message from which the host split off a message", () => {
    const view = new HostView();
    view.start(rewritten);
    view.read(split);
    expect(view.knownMessageFor(split[3] as ApiMessage)).toBe(rewritten[2]);
  });
});

describe("a host that decorates its messages again each turn", () => {
  const reminder = text("<system-reminder>Mind the tests.</system-reminder>");
  const marked = (block: ContentBlock): ContentBlock =>
    ({ ...block, cache_control: { type: "ephemeral" } }) as ContentBlock;
  const shown = [user(text("task"), reminder), said(call("a")), user(marked(result("a", "read")), reminder)];
  const next = said(text("next"));
  const bare = [
    user(text("task")),
    said({ input: { path: "a" }, name: "Read", id: "a", type: "tool_use" } as ContentBlock),
    user(result("a", "read")),
  ];

  function rewrittenView(isUsed: boolean): HostView {
    const view = new HostView();
    view.start(shown);
    view.replace([summary]);
    if (isUsed) view.read(shown);
    return view;
  }

  it("recognizes a compacted list even if the host no longer adds its reminders and cache marks", () => {
    for (const isUsed of [true, false]) {
      const view = rewrittenView(isUsed);
      expect(view.read([...bare, next])).toMatchObject({ kind: "continued", added: [next] });
      expect(view.toHostForm([])).toEqual([summary, next]);
      expect(view.read(structuredClone([...shown, next]))).toMatchObject({ kind: "continued", added: [] });
    }
  });

  it("treats a compacted list as another conversation if one of its texts changed", () => {
    for (const isUsed of [true, false]) {
      const [, ...others] = bare;
      expect(rewrittenView(isUsed).read([user(text("another task")), ...others])).toEqual({ kind: "other" });
      expect(rewrittenView(isUsed).read([user(reminder), ...others])).toEqual({ kind: "other" });
    }
  });

  it("reports a change if the host removes a reminder that is newer than the last compaction", () => {
    const view = rewrittenView(true);
    view.read([...shown, next, user(text("question"), reminder)]);
    const question = user(text("question"));
    expect(view.read([...shown, next, question])).toMatchObject({ kind: "changed", since: [next, question] });
  });
});
