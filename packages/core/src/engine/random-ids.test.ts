import { afterEach, describe, expect, it, vi } from "vitest";
import type { Entry } from "../messages/entry.ts";
import { createCompactor } from "./create-compactor.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

/** Returns the ids that a compactor without ports gives to new entries. */
async function newIds(): Promise<readonly string[]> {
  const stored: Entry[] = [];
  const compactor = createCompactor({
    transcript: { path: "memory", append: async (entries) => void stored.push(...entries) },
  });
  const count = 200;
  await compactor.before(
    Array.from({ length: count }, (_, index) => ({
      role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
      content: `Message ${index}`,
    })),
  );
  await compactor.close();
  expect(stored).toHaveLength(count);
  return stored.map(({ uuid }) => uuid ?? "");
}

const VERSION_4 = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;

describe("a compactor without ports", () => {
  const { getRandomValues } = globalThis.crypto;

  it.each([
    ["the runtime has randomUUID", globalThis.crypto],
    [
      "a page without HTTPS has only getRandomValues",
      { getRandomValues: getRandomValues.bind(globalThis.crypto) },
    ],
    ["the runtime has no crypto", undefined],
  ])("new entries have different UUIDs of version 4 if %s", async (_, crypto) => {
    vi.stubGlobal("crypto", crypto);
    const ids = await newIds();
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !VERSION_4.test(id))).toEqual([]);
  });

  it("new entries have ids from getRandomValues in a page without HTTPS, which has no randomUUID", async () => {
    let calls = 0;
    vi.stubGlobal("crypto", { getRandomValues: (bytes: Uint8Array) => bytes.fill(++calls) });
    const ids = await newIds();
    expect(ids.filter((id) => !/^(\w\w)\1{3}-\1{2}-/.test(id))).toEqual([]);
  });
});
