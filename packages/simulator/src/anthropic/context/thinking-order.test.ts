import { expect, it } from "vitest";
import { type ThinkingSignature, thinkingDigest } from "./signatures.ts";
import { type SentThinking, thinkingDisorders } from "./thinking-binding.ts";

const SIGNATURE: ThinkingSignature = {
  id: "first",
  model: "claude-fable-5-1",
  toolsDigest: "",
  systemDigest: "",
  prefixDigest: "",
  prefixBlocks: 1,
  thinkingBefore: 0,
  previousId: "",
  thinkingDigest: thinkingDigest([]),
  textDigest: "",
};

it("checks the order of thinking in linear time when one block is sent a thousand times", () => {
  let looks = 0;
  const repeated = Array.from(
    { length: 1_000 },
    (_, index): SentThinking => ({
      message: 1,
      index,
      type: "thinking",
      signature: SIGNATURE,
      isIntact: true,
      get id() {
        looks++;
        return SIGNATURE.id;
      },
    }),
  );
  const disorders = thinkingDisorders(repeated);
  expect(disorders.slice(0, 3)).toEqual([undefined, "put-back", "put-back"]);
  expect(looks).toBeLessThan(5 * repeated.length);
});
