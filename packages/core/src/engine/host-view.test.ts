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

describe("a host that passes only its own list", () => {
  it("recognizes a known list with new messages at its end, in the same array, a new array or as copies", () => {
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

  it("treats a list as another conversation if a message of the first known list was replaced", () => {
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

  it("treats a list as another conversation if it is shorter than the first known list", () => {
    const own = conversation(9);
    const view = viewOf(own);
    expect(view.read(own.slice(0, -1))).toEqual({ kind: "other" });
    expect(view.read([])).toEqual({ kind: "other" });
  });

  it("reports a change when the host removes or replaces a message that it added after the start", () => {
    const own = conversation(2);
    const view = viewOf(own);
    view.read([...own, a, b]);
    expect(view.read([...own, a])).toEqual(changedTo(a));
    expect(view.read([...own, a])).toEqual(continuedWith());
    expect(view.read([...own, c, a])).toEqual(changedTo(c, a));
    expect(view.read([...own, d])).toEqual(changedTo(d));
    expect(view.toHostForm([])).toEqual([]);
  });

  it("recognizes copied messages by index, but if fewer than half match, recognizes only the shared beginning", () => {
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

describe("a host that passes its own list and the list that the engine returned", () => {
  const own = conversation(6);
  const rewritten = [message("rewritten"), ...own.slice(4)];

  function rewrittenView(): HostView {
    const view = viewOf(own);
    view.replace(rewritten);
    return view;
  }

  it("recognizes the same new messages in the host's own list and in the list that the engine returned", () => {
    const view = rewrittenView();
    expect(view.read([...rewritten, a])).toEqual(continuedWith(a));
    expect(view.read([...own, a])).toEqual(continuedWith());
    expect(view.toHostForm([...own, a])).toEqual([...rewritten, a]);
    expect(view.read([...own, a, b])).toEqual(continuedWith(b));
    expect(view.read([...rewritten, a, b, c])).toEqual(continuedWith(c));
    expect(view.read(structuredClone([...own, a, b, c, d]))).toEqual(continuedWith(d));
    expect(view.toHostForm([])).toEqual([...rewritten, a, b, c, d]);
  });

  it("keeps messages that only one of the host's two lists contains", () => {
    const view = rewrittenView();
    view.read([...rewritten, a, b]);
    expect(view.read([...own, b])).toEqual(continuedWith());
    expect(view.read([...own, b, c])).toEqual(continuedWith(c));
    expect(view.read([...rewritten, a, b, d])).toEqual(continuedWith(d));
    expect(view.toHostForm([])).toEqual([...rewritten, a, b, c, d]);
  });

  it("inserts a message at its position if only the second of the host's two lists contains it", () => {
    const view = rewrittenView();
    view.read([...rewritten, b]);
    expect(view.read([...own, a, b, c])).toEqual(changedTo(a, b, c));
    expect(view.toHostForm([])).toEqual([...rewritten, a, b, c]);
    expect(view.read([...rewritten, b, d])).toEqual(continuedWith(d));
  });

  it("keeps the rewritten messages when the host changes a later message in its own list", () => {
    const view = rewrittenView();
    view.read([...own, a, b]);
    expect(view.read([...own, a, c])).toEqual(changedTo(a, c));
    expect(view.toHostForm([])).toEqual([...rewritten, a, c]);
  });

  it("treats a list as another conversation if a message that was rewritten changes", () => {
    const view = rewrittenView();
    view.read([...rewritten, a]);
    expect(view.read([b, ...own.slice(1), a])).toEqual({ kind: "other" });
    expect(view.read([...own.slice(0, -1), b, a])).toEqual({ kind: "other" });
    expect(view.read(own.slice(0, -1))).toEqual({ kind: "other" });
  });

  it("recognizes every list that it has returned, even after several rewrites", () => {
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

  it("treats the last list without its last message as another conversation, even if an older list matches", () => {
    const view = rewrittenView();
    view.read([...rewritten, a]);
    // An undo restores everything.
    view.replace([...own, a]);
    view.read([...own, a]);
    expect(view.read(own)).toEqual({ kind: "other" });
    view.read([...own, a]);
    expect(view.read(structuredClone([...own, b]))).toEqual({ kind: "other" });
  });

  it("recognizes the host's own list after an undo", () => {
    const view = rewrittenView();
    view.read([...rewritten, a]);
    view.replace([...own, a]);
    expect(view.read(own)).toEqual(continuedWith());
  });

  it("keeps a message that the engine added to a returned list", () => {
    const view = viewOf(own);
    view.read(own);
    view.replace([...own, a]);
    expect(view.read([...own, b])).toEqual(continuedWith(b));
    expect(view.toHostForm([])).toEqual([...own, a, b]);
  });

  it("matches the longer of two known lists if one is the beginning of the other", () => {
    const view = viewOf(own);
    view.replace(own.slice(0, 1));
    expect(view.read([...own, a])).toEqual(continuedWith(a));
    expect(view.toHostForm([])).toEqual([own[0], a]);
  });
});

describe("a list of the host that ends before the newest reply", () => {
  const own = conversation(6);
  const rewritten = [message("rewritten"), ...own.slice(4)];
  const reply: ApiMessage = { role: "assistant", content: "reply" };
  const entry = (type: "user" | "assistant", text: string): Message =>
    ({ type, uuid: text, message: { role: type, content: text } }) as unknown as Message;

  it("drops the newest reply if only the returned list had it and the host's own list ends before it", () => {
    const view = viewOf(own);
    view.replace(rewritten);
    view.read([...rewritten, a, reply]);
    expect(view.read([...own, a])).toEqual(changedTo(a));
    expect(view.toHostForm([])).toEqual([...rewritten, a]);
    expect(view.read([...own, a, b])).toEqual(continuedWith(b));
    expect(view.read([...rewritten, a, b])).toEqual(continuedWith());
  });

  it("drops all messages after the end of the host's list, but keeps earlier ones from the returned list", () => {
    const view = viewOf(own);
    view.replace(rewritten);
    view.read([...rewritten, a, b, reply, c, reply]);
    expect(view.read([...own, b])).toEqual(changedTo(a, b));
    expect(view.toHostForm([])).toEqual([...rewritten, a, b]);
  });

  it("drops a reply when the host removes the question that follows the reply", () => {
    const view = viewOf(own);
    view.replace(rewritten);
    view.read([...rewritten, a, reply, b]);
    expect(view.read([...own, a, b])).toEqual(continuedWith());
    expect(view.read([...own, a])).toEqual(changedTo(a));
    expect(view.toHostForm([])).toEqual([...rewritten, a]);
  });

  it("treats a list without the newest reply as another conversation if an undo restored that reply", () => {
    const view = viewOf(own);
    view.replace(rewritten);
    view.read([...rewritten, a, reply]);
    // An undo restores everything. The host drops the reply before it passes the restored list.
    view.replace([...own, a, reply]);
    expect(view.read([...own, a])).toEqual({ kind: "other" });
    expect(view.read(structuredClone([...own, a]))).toEqual({ kind: "other" });
    expect(view.read([...own, a, reply, b])).toEqual(continuedWith(b));
  });

  it("treats a list without the newest reply as another conversation if the last rewrite added that reply", () => {
    const view = viewOf([...own, a]);
    view.replace([...own, a, reply]);
    expect(view.read([...own, a])).toEqual({ kind: "other" });
    expect(view.read([...own, a, reply, b])).toEqual(continuedWith(b));
  });

  it("keeps a rewrite even if it covers messages that the host's own list never contained", () => {
    const view = viewOf(own);
    view.replace(rewritten);
    view.read([...rewritten, a, reply, b]);
    const second = [message("second"), b];
    view.replace(second);
    view.read([...second, reply]);
    expect(view.read(own)).toEqual(changedTo());
    expect(view.toHostForm([])).toEqual(second);
  });

  it("drops the newest reply of a list of entries even if a system entry follows it", () => {
    const [question, answer] = [entry("user", "question"), entry("assistant", "answer")];
    const mark = { type: "system", uuid: "mark" } as unknown as Message;
    const view = viewOf(own);
    view.replace(rewritten);
    view.read([...rewritten, question, answer, mark]);
    expect(view.read([...own, question])).toEqual(changedTo(question));
  });

  it("reports no change if the host's list ends with an earlier reply", () => {
    const view = viewOf(own);
    view.replace(rewritten);
    view.read([...rewritten, reply, a, reply]);
    expect(view.read([...own, reply])).toEqual(continuedWith());
  });
});

describe("a list that the engine returned", () => {
  it("after a rewrite, recognizes a list that was returned earlier, even if the host never passed that list", () => {
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
