import { describe, expect, it } from "vitest";
import type { RequestFrame } from "../compaction/write/shared-prefix.ts";
import { Frame } from "./current-turn.ts";

const recallToolOf = (request: RequestFrame | undefined) => new Frame(request, () => 0).recallTool;

describe("recall tool of a request", () => {
  it("finds the recall tool only if the request has it", () => {
    const tools = [{ name: "Read" }, { name: "recall" }] as never;
    expect(recallToolOf({ tools, max_tokens: 1 })).toBe("recall");
    expect(recallToolOf({ tools: [{ name: "Read" }] as never, max_tokens: 1 })).toBeUndefined();
    expect(recallToolOf(undefined)).toBeUndefined();
  });

  it("finds no recall tool if the tools of a request are not a list of tools", () => {
    for (const tools of ["recall", { name: "recall" }, [null, "recall", 1]])
      expect(recallToolOf({ tools: tools as never, max_tokens: 1 })).toBeUndefined();
  });
});
