import { describe, expect, it } from "vitest";
import type { ApiMessage } from "../conversation/message.ts";
import { HostView } from "./host-view.ts";

const message = (text: string): ApiMessage => ({ role: "user", content: text });
const conversation = (length: number): ApiMessage[] =>
  Array.from({ length }, (_, index) => message(String(index)));

describe("the conversation as the host holds it", () => {
  it("is known however long it is, in its own array or in another, with what was added", () => {
    for (let length = 1; length <= 10; length++) {
      const own = conversation(length);
      const view = new HostView();
      view.begin(own);
      own.push(message("new"));
      expect(view.knownLength(own)).toBe(length);
      expect(view.knownLength([...own, message("newer")])).toBe(length);
    }
  });

  it("is another one as soon as a single message was exchanged, wherever it stands", () => {
    for (let length = 1; length <= 10; length++) {
      for (let index = 0; index < length; index++) {
        const own = conversation(length);
        const view = new HostView();
        view.begin(own);
        own[index] = message("other");
        expect(view.knownLength(own)).toBeUndefined();
        expect(view.knownLength([...own, message("new")])).toBeUndefined();
      }
    }
  });

  it("is another one when it has become shorter", () => {
    const own = conversation(9);
    const view = new HostView();
    view.begin(own);
    expect(view.knownLength(own.slice(0, -1))).toBeUndefined();
    expect(view.knownLength([])).toBeUndefined();
  });

  it("is known in the form that was handed back, and in its own until that was taken over", () => {
    const own = conversation(6);
    const rewritten = [message("rewritten"), ...own.slice(1)];
    const view = new HostView();
    view.begin(own);
    view.replace(rewritten);
    expect(view.knownLength(own)).toBe(6);
    const handed = [...view.handBack(own)];
    expect(handed).toEqual(rewritten);
    handed.push(message("new"));
    expect(view.knownLength(handed)).toBe(6);
    expect(view.knownLength(own)).toBeUndefined();
  });

  it("is shared up to the first message that says something else, in the form of which there is more", () => {
    const own = conversation(6);
    const view = new HostView();
    expect(view.sharedWith(own)).toEqual([]);
    view.begin(own);
    const copies = structuredClone(own);
    expect(view.sharedWith([...copies.slice(0, 4), message("other"), ...copies.slice(5)])).toEqual(
      own.slice(0, 4),
    );
    expect(view.sharedWith(copies.slice(0, 3))).toEqual(own.slice(0, 3));
    expect(view.sharedWith([...copies, message("new")])).toEqual(own);
    expect(view.sharedWith(copies)[2]).toBe(own[2]);
    const rewritten = [message("rewritten"), ...own.slice(4)];
    view.replace(rewritten);
    expect(view.sharedWith([...structuredClone(rewritten.slice(0, 2)), message("other")])).toEqual(
      rewritten.slice(0, 2),
    );
    expect(view.sharedWith([...copies.slice(0, 2), message("other")])).toEqual(own.slice(0, 2));
  });
});
