import { expect, it } from "vitest";
import type { SeenFile } from "../workplace.ts";
import { createReadState, fingerprintOf } from "./seen-files.ts";

const seen = (more: Partial<SeenFile> = {}): SeenFile => ({
  fingerprint: "f1",
  mtimeMs: 1,
  range: undefined,
  callId: "toolu_1",
  ...more,
});

it("what was seen is known until it is forgotten, each file by itself", () => {
  const reads = createReadState();
  reads.saw("/a", seen());
  reads.saw("/b", seen({ fingerprint: "f2" }));
  expect(reads.get("/a")).toEqual(seen());
  reads.forget("/a");
  expect(reads.get("/a")).toBeUndefined();
  expect(reads.get("/b")?.fingerprint).toBe("f2");
  reads.clear();
  expect(reads.get("/b")).toBeUndefined();
});

it("one agent's sight is not another's", () => {
  const [one, other] = [createReadState(), createReadState()];
  one.saw("/a", seen());
  expect(other.get("/a")).toBeUndefined();
});

it("who has seen all of a file still has, after a look at a part of it; not after it changed", () => {
  const reads = createReadState();
  const range = { from: 2, to: 3 };
  reads.saw("/a", seen());
  reads.saw("/a", seen({ range, callId: "toolu_2" }));
  expect(reads.get("/a")).toEqual(seen());
  reads.saw("/a", seen({ range, fingerprint: "f2" }));
  expect(reads.get("/a")).toEqual(seen({ range, fingerprint: "f2" }));
});

it("a fingerprint tells contents apart, and is the same for the same", () => {
  expect(fingerprintOf(Buffer.from("a"))).toBe(fingerprintOf(Buffer.from("a")));
  expect(fingerprintOf(Buffer.from("a"))).not.toBe(fingerprintOf(Buffer.from("a\n")));
});
