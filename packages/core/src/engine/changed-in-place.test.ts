import { describe, expect, it } from "vitest";
import type { ApiMessage } from "../messages/message.ts";
import { InPlaceChangeDetector } from "./compare-messages.ts";
import { HostView } from "./host-view.ts";

type Open = { role: "user"; content: string | { type: "text"; text: string }[] };
const asked = (text: string): Open => ({ role: "user", content: text });
const list = (length: number): Open[] => Array.from({ length }, (_, at) => asked(`question ${at}`));
const given = (messages: readonly Open[]): readonly ApiMessage[] => messages as readonly ApiMessage[];

describe("a message that the host changes in place", () => {
  it.each([0, 10, 19])(
    "returns a copy of a message that the host changed in place, at index %i of 20",
    (index) => {
      const changed = new InPlaceChangeDetector();
      const own = list(20);
      expect(changed.replaceIn(given(own))).toBe(own);
      (own[index] as Open).content = [
        { type: "text", text: `question ${index}` },
        { type: "text", text: "more" },
      ];
      const replaced = changed.replaceIn(given(own));
      expect(replaced).toEqual(own);
      expect(replaced[index]).not.toBe(own[index]);
      expect(changed.replaceIn(given(own))[index]).toBe(replaced[index]);
      expect(changed.replacementFor(own[index] as ApiMessage)).toBe(replaced[index]);
    },
  );

  it("detects each of two in-place changes: a longer block, then an added block", () => {
    const changed = new InPlaceChangeDetector();
    const blocks = [{ type: "text" as const, text: "one" }];
    const own: Open[] = [{ role: "user", content: blocks }, ...list(20)];
    changed.replaceIn(given(own));
    (blocks[0] as { text: string }).text += " two";
    const first = changed.replaceIn(given(own));
    blocks.push({ type: "text", text: "three" });
    const second = changed.replaceIn(given(own));
    expect(JSON.stringify([first[0], second[0]])).toBe(
      JSON.stringify([
        { role: "user", content: [{ type: "text", text: "one two" }] },
        { role: "user", content: blocks },
      ]),
    );
  });

  it("detects a change in place in the newest messages even if the length stays the same", () => {
    const changed = new InPlaceChangeDetector();
    const block = { type: "text" as const, text: "one" };
    const own: Open[] = [{ role: "user", content: [block] }];
    changed.replaceIn(given(own));
    block.text = "two";
    expect(changed.replaceIn(given(own))[0]).not.toBe(own[0]);
  });

  it("a message that changed in place no longer matches the list that HostView knows", () => {
    for (const isLogged of [false, true]) {
      const changed = new InPlaceChangeDetector();
      const view = new HostView();
      const own = list(12);
      const take = (messages: readonly Open[]) => view.read(changed.replaceIn(given(messages)));
      view.start(changed.replaceIn(given(isLogged ? own.slice(0, 2) : own)));
      if (isLogged) take(own);
      (own[5] as Open).content = "another question";
      expect(take(own).kind).toBe(isLogged ? "changed" : "other");
      if (isLogged) expect(take(own)).toMatchObject({ kind: "continued", added: [] });
    }
  });

  it("after a message changed in place, a copy of it does not match the list that HostView knows", () => {
    for (const isLogged of [false, true]) {
      const changed = new InPlaceChangeDetector();
      const view = new HostView();
      const own = list(12);
      const take = (messages: readonly Open[]) =>
        view.read(changed.replaceIn(given(structuredClone([...messages]))));
      view.start(changed.replaceIn(given(isLogged ? own.slice(0, 2) : own)));
      if (isLogged) view.read(changed.replaceIn(given(own)));
      (own[5] as Open).content = "another question";
      const reading = take(own);
      expect(reading.kind).toBe(isLogged ? "changed" : "other");
      if (reading.kind === "changed") expect(reading.since).toEqual(own.slice(2));
    }
  });

  it("detects a change in place even if HostView computes the digest of its list after the change", () => {
    const changed = new InPlaceChangeDetector();
    const view = new HostView();
    const own = list(3);
    view.start(changed.replaceIn(given(own)));
    (own[1] as Open).content = "another question";
    view.replace(given([asked("summary")]));
    view.read(given([asked("summary")]));
    expect(view.read(changed.replaceIn(given(structuredClone(own)))).kind).toBe("other");
  });

  it("adding or removing a cache mark does not count as a change of a message", () => {
    const changed = new InPlaceChangeDetector();
    const own = list(20);
    changed.replaceIn(given(own));
    for (const index of [2, 19]) {
      const text = `question ${index}`;
      const marked = { type: "text" as const, text, cache_control: { type: "ephemeral" } };
      (own[index] as Open).content = [marked];
      expect(changed.replaceIn(given(own))).toBe(own);
      (own[index] as Open).content = [{ type: "text", text }];
      expect(changed.replaceIn(given(own))).toBe(own);
    }
  });

  it("replacing the content with an equal object does not count as a change of a message", () => {
    const changed = new InPlaceChangeDetector();
    const own: Open[] = [{ role: "user", content: [{ type: "text", text: "one" }] }];
    changed.replaceIn(given(own));
    (own[0] as Open).content = [{ type: "text", text: "one" }];
    expect(changed.replaceIn(given(own))).toBe(own);
  });
});
