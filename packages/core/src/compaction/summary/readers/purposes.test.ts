import { describe, expect, it } from "vitest";
import { reasonBefore } from "./purposes.ts";

describe("reasons for a change", () => {
  it.each([
    "Let me find it.",
    "Let me fix this:",
    "Now I need to see more context around line 40.",
    "I'll start with the simpler ones:",
    "Let me check if `parsePrice` is exported.",
    "Amending.",
    "Continuing with phase 2 now.",
    "Perfect!",
    "My plan:\n1. Draw the header\n2. Translate the labels",
    "🎉",
  ])("are no announcements of the next step: %s", (text) => expect(reasonBefore(text)).toBeUndefined());

  it.each([
    ["Let me fix the rounding of prices:", "Let me fix the rounding of prices:"],
    ["**Step 2: Resolve the conflict in the settings**", "Step 2: Resolve the conflict in the settings"],
    ["The cart rounds every price twice. Let me fix this:", "The cart rounds every price twice."],
  ])("are the last sentence that names a subject: %s", (text, reason) => {
    expect(reasonBefore(text)).toBe(reason);
  });
});
