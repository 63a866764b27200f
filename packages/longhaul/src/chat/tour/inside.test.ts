import { join, relative, sep } from "node:path";
import type { TurnBlock } from "@longhaul/simulator";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { insideOf } from "./stand-in.ts";

const FOLDER = join("/", "tmp", "tour", "harbour");
const REQUEST = {
  model: "m",
  messages: [],
  system: "",
  tools: [],
  maxTokens: 1,
  body: {},
  purpose: "conversation" as const,
  provider: "anthropic" as const,
  index: 0,
};

const read = (input: Readonly<Record<string, unknown>>): TurnBlock | undefined =>
  insideOf(FOLDER, () => ({ blocks: [{ type: "tool_use", name: "Read", input }] }))(REQUEST)?.blocks[0];
const pathOf = (path: string): string => {
  const block = read({ file_path: path });
  return block?.type === "tool_use" ? String(block.input.file_path) : "";
};

describe("insideOf, the limit for paths of the demo model", () => {
  it("keeps the path of every tool call inside the folder of the tour", () => {
    const start = fc.constantFrom(FOLDER, `${FOLDER}2`, "", "..", "src");
    const part = fc.oneof({ weight: 3, arbitrary: fc.constantFrom("..", ".", "src") }, fc.string());
    fc.assert(
      fc.property(start, fc.array(part), (first, parts) => {
        const way = relative(FOLDER, pathOf([first, ...parts].join("/")));
        expect(way.split(sep)[0]).not.toBe("..");
      }),
    );
  });

  it("leaves tool inputs unchanged if they are not paths, or if they are paths inside the folder of the tour", () => {
    expect(pathOf(join(FOLDER, "src", "a.ts"))).toBe(join(FOLDER, "src", "a.ts"));
    expect(pathOf("/validator.ts")).toBe(join(FOLDER, "validator.ts"));
    expect(read({ pattern: "/x", limit: 3 })).toMatchObject({ input: { pattern: "/x", limit: 3 } });
  });
});
