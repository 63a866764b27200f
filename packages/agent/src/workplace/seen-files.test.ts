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

it("the read state remembers each file until forget or clear removes it", () => {
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

it("the read state of one agent does not contain the files that another agent has read", () => {
  const [one, other] = [createReadState(), createReadState()];
  one.saw("/a", seen());
  expect(other.get("/a")).toBeUndefined();
});

it("a file that was read completely still counts as completely read after a partial read, unless it changed", () => {
  const reads = createReadState();
  const range = { from: 2, to: 3 };
  reads.saw("/a", seen());
  reads.saw("/a", seen({ range, callId: "toolu_2" }));
  expect(reads.get("/a")).toEqual(seen());
  reads.saw("/a", seen({ range, fingerprint: "f2" }));
  expect(reads.get("/a")).toEqual(seen({ range, fingerprint: "f2" }));
});

it("different contents have different fingerprints, and equal contents have equal fingerprints", () => {
  expect(fingerprintOf(Buffer.from("a"))).toBe(fingerprintOf(Buffer.from("a")));
  expect(fingerprintOf(Buffer.from("a"))).not.toBe(fingerprintOf(Buffer.from("a\n")));
});
