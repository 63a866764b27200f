import { describe, expect, it } from "vitest";
import { TourEvents } from "./tour-events.ts";
import type { TourStep } from "./tour-guide.ts";
import { type GuideParts, tourGuide } from "./tour-guide.ts";

const STEPS: readonly TourStep[] = [
  { words: () => "Hello.", input: "Look around." },
  { words: ({ turns }) => `${turns} so far.`, input: "/compact" },
  { words: () => "The end.", input: "" },
];

const parts = (): GuideParts => ({ seen: new TourEvents(), settled: async () => undefined });

const USAGE = {
  input_tokens: 1,
  output_tokens: 1,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
};

describe("tourGuide", () => {
  it("shows the next step of the tour after each completed step, with current figures, until the last step", async () => {
    const guide = tourGuide(STEPS, parts());
    expect(await guide.next(undefined)).toEqual({ words: "Hello.", input: "Look around." });
    guide.saw({ type: "usage", usage: USAGE, model: "m" });
    expect(await guide.next("Look around. ")).toEqual({ words: "1 so far.", input: "/compact" });
    expect(await guide.next("/compact")).toEqual({ words: "The end.", input: "" });
    expect(await guide.next("")).toBeUndefined();
    expect(await guide.next("and then")).toBeUndefined();
  });

  it("repeats the current step of the tour while the person does something else", async () => {
    const guide = tourGuide(STEPS, parts());
    await guide.next(undefined);
    expect(await guide.next("Something else.")).toMatchObject({ input: "Look around." });
    expect(await guide.next("/help")).toMatchObject({ input: "Look around." });
    expect(await guide.next("Look around.")).toMatchObject({ words: "0 so far." });
  });

  it("runs the preparation of a tour step once, right before the text of the step is shown", async () => {
    const done: string[] = [];
    const before = async (): Promise<void> => {
      done.push("noon");
    };
    const guide = tourGuide([{ words: () => done.join(), input: "a", before }], parts());
    expect(await guide.next(undefined)).toEqual({ words: "noon", input: "a" });
    await guide.next("b");
    expect(done).toEqual(["noon"]);
  });
});
