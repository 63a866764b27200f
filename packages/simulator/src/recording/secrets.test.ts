import { expect, it } from "vitest";
import { KeyRemover } from "./secrets.ts";

it("a key that begins with another key disappears completely", () => {
  const headers = { "x-api-key": "abcdefghijklmnop", authorization: "Bearer abcdefghijklmnop-and-more" };
  const remover = new KeyRemover(headers, new URLSearchParams());
  expect(remover.clean("one abcdefghijklmnop-and-more, two abcdefghijklmnop")).toBe(
    "one [key removed], two [key removed]",
  );
});

it("a value that is too short for a key stays in the text", () => {
  const remover = new KeyRemover({ "x-api-key": "simulated", cookie: "theme=dark" }, new URLSearchParams());
  expect(remover.clean("a simulated dark theme")).toBe("a simulated dark theme");
});
