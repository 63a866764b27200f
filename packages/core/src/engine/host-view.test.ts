import { describe, expect, it } from "vitest";
import type { ApiMessage } from "../messages/message.ts";
import { HostView } from "./host-view.ts";
import type { Message } from "./options.ts";

const message = (text: string): ApiMessage => ({ role: "user", content: text });
const conversation = (length: number): ApiMessage[] =>
  Array.from({ length }, (_, index) => message(String(index)));

function viewOf(messages: readonly Message[]): HostView {
  const view = new HostView();
  view.start(messages);
  return view;
}

const continuedWith = (...added: readonly Message[]): unknown =>
  expect.objectContaining({ kind: "continued", added });
const changedTo = (...since: readonly Message[]): unknown =>
  expect.objectContaining({ kind: "changed", since });
const [a, b, c, d] = ["a", "b", "c", "d"].map(message) as [ApiMessage, ApiMessage, ApiMessage, ApiMessage];

describe("a host with one list", () => {
  it("recognizes a list of any length and its new messages, in the same or another array", () => {
    for (let length = 1; length <= 10; length++) {
      const own = conversation(length);
      const view = viewOf(own);
      own.push(a);
      expect(view.read(own)).toEqual(continuedWith(a));
      expect(view.toHostForm(own)).toBe(own);
      expect(view.read([...own, b])).toEqual(continuedWith(b));
      expect(view.read(structuredClone([...own, b]))).toEqual(continuedWith());
    }
  });

  it("treats a list as another conversation if one message of its start was replaced", () => {
    for (let length = 1; length <= 10; length++) {
      for (let index = 0; index < length; index++) {
        const own = conversation(length);
        const view = viewOf(own);
        own[index] = message("other");
        expect(view.read(own)).toEqual({ kind: "other" });
        expect(view.read([...own, a])).toEqual({ kind: "other" });
      }
    }
  });

  it("treats a list as another conversation if it is shorter than at the start", () => {
    const own = conversation(9);
    const view = viewOf(own);
    expect(view.read(own.slice(0, -1))).toEqual({ kind: "other" });
    expect(view.read([])).toEqual({ kind: "other" });
  });

  it("reports a change when the host removes or replaces a message that came after the start", () => {
    const own = conversation(2);
    const view = viewOf(own);
    view.read([...own, a, b]);
    expect(view.read([...own, a])).toEqual(changedTo(a));
    expect(view.read([...own, a])).toEqual(continuedWith());
    expect(view.read([...own, c, a])).toEqual(changedTo(c, a));
    expect(view.read([...own, d])).toEqual(changedTo(d));
    expect(view.toHostForm([])).toEqual([]);
  });

  it("recognizes messages at the same index, and only the shared beginning if under half are the same", () => {
    const own = conversation(6);
    const view = new HostView();
    expect(view.findKnownObjects(own)).toEqual([]);
    view.start(own.slice(0, 5));
    view.read(own);
    const copies = structuredClone(own);
    expect(view.findKnownObjects([...copies.slice(0, 4), a, ...copies.slice(5)])).toEqual(
      own.map((message, at) => (at === 4 ? undefined : message)),
    );
    expect(view.findKnownObjects([...copies, a])).toEqual(own);
    expect(view.findKnownObjects([copies[0] as ApiMessage, a, b, c, d, copies[5] as ApiMessage])).toEqual([
      own[0],
    ]);
    expect(view.findKnownObjects(copies)[5]).toBe(own[5]);
    const rewritten = [message("rewritten"), ...own.slice(4)];
    view.replace(rewritten);
    expect(view.findKnownObjects([...structuredClone(rewritten.slice(0, 2)), a])).toEqual(
      rewritten.slice(0, 2),
    );
    expect(view.findKnownObjects([...copies.slice(0, 2), a])).toEqual(own.slice(0, 2));
  });
});

describe("a host that uses its own list and the returned list", () => {
  const own = conversation(6);
  const rewritten = [message("rewritten"), ...own.slice(4)];

  function rewrittenView(): HostView {
    const view = viewOf(own);
    view.replace(rewritten);
    return view;
  }

  it("accepts the host's own list and the returned list in turns, with the same new messages", () => {
    const view = rewrittenView();
    expect(view.read([...rewritten, a])).toEqual(continuedWith(a));
    expect(view.read([...own, a])).toEqual(continuedWith());
    expect(view.toHostForm([...own, a])).toEqual([...rewritten, a]);
    expect(view.read([...own, a, b])).toEqual(continuedWith(b));
    expect(view.read([...rewritten, a, b, c])).toEqual(continuedWith(c));
    expect(view.read(structuredClone([...own, a, b, c, d]))).toEqual(continuedWith(d));
    expect(view.toHostForm([])).toEqual([...rewritten, a, b, c, d]);
  });

  it("keeps messages that came through one list when the other list lacks them", () => {
    const view = rewrittenView();
    view.read([...rewritten, a, b]);
    expect(view.read([...own, b])).toEqual(continuedWith());
    expect(view.read([...own, b, c])).toEqual(continuedWith(c));
    expect(view.read([...rewritten, a, b, d])).toEqual(continuedWith(d));
    expect(view.toHostForm([])).toEqual([...rewritten, a, b, c, d]);
  });

  it("inserts a message that one list lacked at its position", () => {
    const view = rewrittenView();
    view.read([...rewritten, b]);
    expect(view.read([...own, a, b, c])).toEqual(changedTo(a, b, c));
    expect(view.toHostForm([])).toEqual([...rewritten, a, b, c]);
    expect(view.read([...rewritten, b, d])).toEqual(continuedWith(d));
  });

  it("keeps the rewritten beginning when the host changes a later message in its own list", () => {
    const view = rewrittenView();
    view.read([...own, a, b]);
    expect(view.read([...own, a, c])).toEqual(changedTo(a, c));
    expect(view.toHostForm([])).toEqual([...rewritten, a, c]);
  });

  it("treats a list as another conversation if a message before the rewrite changed", () => {
    const view = rewrittenView();
    view.read([...rewritten, a]);
    expect(view.read([b, ...own.slice(1), a])).toEqual({ kind: "other" });
    expect(view.read([...own.slice(0, -1), b, a])).toEqual({ kind: "other" });
    expect(view.read(own.slice(0, -1))).toEqual({ kind: "other" });
  });

  it("accepts each list that it ever returned, across several rewrites", () => {
    const view = rewrittenView();
    view.read([...rewritten, a]);
    const second = [message("second")];
    view.replace(second);
    view.read([...second, b]);
    const third = [message("third")];
    view.replace(third);
    expect(view.read([...own, a, b, c])).toEqual(continuedWith(c));
    expect(view.read([...rewritten, a, b, c])).toEqual(continuedWith());
    expect(view.read([...rewritten, a, c, d])).toEqual({ kind: "other" });
    expect(view.read(structuredClone([...second, b]))).toEqual(continuedWith());
    expect(view.toHostForm([])[0]).toBe(third[0]);
  });

  it("treats a shortened last list as another conversation, although an older list begins the same", () => {
    const view = rewrittenView();
    view.read([...rewritten, a]);
    // An undo restores everything.
    view.replace([...own, a]);
    view.read([...own, a]);
    expect(view.read(own)).toEqual({ kind: "other" });
    view.read([...own, a]);
    expect(view.read(structuredClone([...own, b]))).toEqual({ kind: "other" });
  });

  it("continues with the host's own list after an undo", () => {
    const view = rewrittenView();
    view.read([...rewritten, a]);
    view.replace([...own, a]);
    expect(view.read(own)).toEqual(continuedWith());
  });

  it("keeps a message of the engine that only the returned list contains", () => {
    const view = viewOf(own);
    view.read(own);
    view.replace([...own, a]);
    expect(view.read([...own, b])).toEqual(continuedWith(b));
    expect(view.toHostForm([])).toEqual([...own, a, b]);
  });

  it("prefers the longer list if one known list is the beginning of the other", () => {
    const view = viewOf(own);
    view.replace(own.slice(0, 1));
    expect(view.read([...own, a])).toEqual(continuedWith(a));
    expect(view.toHostForm([])).toEqual([own[0], a]);
  });
});

describe("a list that ends before the newest reply", () => {
  const own = conversation(6);
  const rewritten = [message("rewritten"), ...own.slice(4)];
  const reply: ApiMessage = { role: "assistant", content: "reply" };
  const entry = (type: "user" | "assistant", text: string): Message =>
    ({ type, uuid: text, message: { role: type, content: text } }) as unknown as Message;

  it("drops the newest reply if the host's list ends before it, although only another list had it", () => {
    const view = viewOf(own);
    view.replace(rewritten);
    view.read([...rewritten, a, reply]);
    expect(view.read([...own, a])).toEqual(changedTo(a));
    expect(view.toHostForm([])).toEqual([...rewritten, a]);
    expect(view.read([...own, a, b])).toEqual(continuedWith(b));
    expect(view.read([...rewritten, a, b])).toEqual(continuedWith());
  });

  it("removes all messages after the end of the list, and keeps earlier ones from another list", () => {
    const view = viewOf(own);
    view.replace(rewritten);
    view.read([...rewritten, a, b, reply, c, reply]);
    expect(view.read([...own, b])).toEqual(changedTo(a, b));
    expect(view.toHostForm([])).toEqual([...rewritten, a, b]);
  });

  it("drops a reply when the host withdraws the question after it", () => {
    const view = viewOf(own);
    view.replace(rewritten);
    view.read([...rewritten, a, reply, b]);
    expect(view.read([...own, a, b])).toEqual(continuedWith());
    expect(view.read([...own, a])).toEqual(changedTo(a));
    expect(view.toHostForm([])).toEqual([...rewritten, a]);
  });

  it("treats a list without the newest reply as another conversation if the last rewrite kept it", () => {
    const view = viewOf(own);
    view.replace(rewritten);
    view.read([...rewritten, a, reply]);
    // An undo restores everything. The host drops the reply before it passes this list once.
    view.replace([...own, a, reply]);
    expect(view.read([...own, a])).toEqual({ kind: "other" });
    expect(view.read(structuredClone([...own, a]))).toEqual({ kind: "other" });
    expect(view.read([...own, a, reply, b])).toEqual(continuedWith(b));
  });

  it("treats a list without the newest reply as another conversation if an undo restored it", () => {
    const view = viewOf([...own, a]);
    view.replace([...own, a, reply]);
    expect(view.read([...own, a])).toEqual({ kind: "other" });
    expect(view.read([...own, a, reply, b])).toEqual(continuedWith(b));
  });

  it("keeps a rewrite that covers messages from another list", () => {
    const view = viewOf(own);
    view.replace(rewritten);
    view.read([...rewritten, a, reply, b]);
    const second = [message("second"), b];
    view.replace(second);
    view.read([...second, reply]);
    expect(view.read(own)).toEqual(changedTo());
    expect(view.toHostForm([])).toEqual(second);
  });

  it("drops the newest reply in a list of entries, despite a mark after it", () => {
    const [question, answer] = [entry("user", "question"), entry("assistant", "answer")];
    const mark = { type: "system", uuid: "mark" } as unknown as Message;
    const view = viewOf(own);
    view.replace(rewritten);
    view.read([...rewritten, question, answer, mark]);
    expect(view.read([...own, question])).toEqual(changedTo(question));
  });

  it("continues unchanged if the list ends with an earlier reply", () => {
    const view = viewOf(own);
    view.replace(rewritten);
    view.read([...rewritten, reply, a, reply]);
    expect(view.read([...own, reply])).toEqual(continuedWith());
  });
});

describe("a list that the engine returned", () => {
  it("recognizes a returned list after a rewrite, although no turn has used it before", () => {
    const view = viewOf([a]);
    view.replace([b]);
    view.read([a, c]);
    view.read([b, d]);
    const back = view.toHostForm([b, d]);
    expect(back).toEqual([b, c, d]);
    view.read([a, c, d]);
    view.replace([a]);
    expect(view.read([...back, b])).toEqual(continuedWith(b));
  });
});
