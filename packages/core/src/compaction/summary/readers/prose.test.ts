import { describe, expect, it } from "vitest";
import { lastSentence, leadSentence, proseSentences } from "./prose.ts";

describe("sentences", () => {
  it("end at the marks of every script, but not inside names and numbers", () => {
    expect(
      proseSentences("Read a.ts first. Version 1.2.3 is out! Why? 好的。问题在于缓存。Готово. Дальше!"),
    ).toEqual([
      "Read a.ts first.",
      "Version 1.2.3 is out!",
      "Why?",
      "好的。",
      "问题在于缓存。",
      "Готово.",
      "Дальше!",
    ]);
  });

  it("do not end inside inline code", () => {
    expect(proseSentences("Make `git checkout .` safe. Then `a? b` too.")).toEqual([
      "Make `git checkout .` safe.",
      "Then `a? b` too.",
    ]);
  });

  it("are not looked for in code, tables and headings", () => {
    expect(proseSentences("# Title\n| a | b |\n|---|---|\n```ts\nconst a = 1;\n```\n- one item")).toEqual([
      "one item",
    ]);
  });

  it("that lead an answer come after its pleasantries", () => {
    expect(leadSentence("🎉 **Perfect!** All tests pass now.")).toBe("All tests pass now.");
    expect(leadSentence("Done. Here's the summary:\n\nThe cache is keyed by path.")).toBe(
      "The cache is keyed by path.",
    );
    expect(leadSentence("好的。缓存已修复。")).toBe("缓存已修复。");
  });

  it("that lead are the first when none says more", () => expect(leadSentence("Done!")).toBe("Done!"));

  it("before a tool call say what it is for", () => {
    expect(lastSentence("The tests fail. Now fix the parser:")).toBe("Now fix the parser:");
    expect(lastSentence("Now fix it:\n```ts\nif (a) {\n  b();\n  c();\n  d();\n  e();\n}\n```")).toBe(
      "Now fix it:",
    );
  });
});
