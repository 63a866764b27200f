import { describe, expect, it } from "vitest";
import { resultSentence } from "./result-sentence.ts";

describe("main sentence of an answer", () => {
  it("uses the first sentence after phrases such as 'Perfect!' or 'Done.' as the main sentence", () => {
    expect(resultSentence("🎉 **Perfect!** All tests pass now.")).toBe("All tests pass now.");
    expect(resultSentence("Done. Here's the summary:\n\nThe cache is keyed by path.")).toBe(
      "The cache is keyed by path.",
    );
    expect(resultSentence("好的。缓存已修复。")).toBe("缓存已修复。");
  });

  it("uses what the answer says is done as the main sentence, also after a remark", () => {
    expect(resultSentence("False alarm, that was a trace. Done. All labels use the new color:")).toBe(
      "All labels use the new color:",
    );
    expect(resultSentence("The footer is still broken.\n\nDone replying to the four reviews:\n- one")).toBe(
      "Done replying to the four reviews:",
    );
  });

  it("uses the sentence before the label of a list as the main sentence", () => {
    expect(
      resultSentence("Here's a list of the review comments.\n\n**Small faults:**\n1. A missing check"),
    ).toBe("Here's a list of the review comments.");
    expect(resultSentence("**Remaining small faults:**\n1. A missing check")).toBe("Remaining small faults:");
    expect(resultSentence("Perfect!\n\nAll tests pass now:\n- cart")).toBe("All tests pass now:");
  });

  it("gives the state after a change as the result, and not the state before it", () => {
    const text =
      "Fixed. The change:\n\n**Before:** A lost file counts as a match\n\n**After:** A lost file is skipped";
    expect(resultSentence(text)).toBe("After: A lost file is skipped");
    expect(resultSentence("**Old behavior:** the cart waits")).toBeUndefined();
  });

  it.each(["Found the issue!", "I see the problem.", "I found the actual cause!"])(
    "skips an opening that names no finding: %s",
    (opening) => expect(resultSentence(`${opening} The cache is stale.`)).toBe("The cache is stale."),
  );

  it("uses the first sentence as the main sentence when no other sentence says more", () =>
    expect(resultSentence("Done!")).toBe("Done!"));

  it("finds the result of an answer after the announcements in it", () => {
    expect(resultSentence("Let me run the tests. All 12 tests pass.")).toBe("All 12 tests pass.");
    expect(resultSentence("Now let me look at the parser.")).toBeUndefined();
  });

  it("gives the next complete sentence instead of a clause that says nothing without its block", () => {
    const text =
      "Looking at the page, I was wrong. The page actually prints:\n\n```\ntotal 3 (two apples)\n```\n\nSo each apple is counted, but not its price.\n\nShould I correct my answer?";
    expect(resultSentence(text)).toBe("So each apple is counted, but not its price.");
    expect(
      resultSentence("I made two changes:\n\n1. Prices\n2. Labels\n\nUpdated the cart to round the prices."),
    ).toBe("Updated the cart to round the prices.");
    expect(resultSentence("Both faults of the cart are fixed:\n\n1. Prices are rounded once.")).toBe(
      "Both faults of the cart are fixed:",
    );
  });

  it("gives the sentence that reports the fix instead of the description of the defect", () => {
    expect(
      resultSentence(
        "### Fault: two totals\nBoth pages printed the total twice. Fixed by printing it in the footer only.",
      ),
    ).toBe("Fixed by printing it in the footer only.");
    expect(resultSentence("The cart is cached. Fixed prices are not.")).toBe("The cart is cached.");
    expect(resultSentence("The push succeeded.\n\n- Fixed the labels of the cart.")).toBe(
      "The push succeeded.",
    );
  });
});
