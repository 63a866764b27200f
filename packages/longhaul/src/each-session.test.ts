import { LonghaulError } from "@longhaul/core/errors";
import type { Session } from "@longhaul/sessions";
import { expect, it } from "vitest";
import { terminal } from "../../../test/support/terminal.ts";
import { eachSession } from "./each-session.ts";

const notes: string[] = [];
const composition = {
  terminal: { ...terminal(80), note: (text: string) => notes.push(text) },
  load: async (query: string): Promise<Session> => {
    if (query.startsWith("bad")) throw new LonghaulError("session-not-found", `No ${query}\u001b[2J.`, {});
    return { id: query } as Session;
  },
};
const idOf = async ({ id }: Session): Promise<string> => id;

it("eachSession skips an unreadable session with a note, and processes the others", async () => {
  expect(await eachSession(["one", "bad", "two"], composition, idOf)).toEqual(["one", "two"]);
  expect(notes).toEqual(["longhaul: left out: No bad."]);
});

it("eachSession throws the first error if no session can be read", async () => {
  await expect(eachSession(["bad-1", "bad-2"], composition, idOf)).rejects.toThrow("No bad-1");
  expect(await eachSession([], composition, idOf)).toEqual([]);
});

it("eachSession throws an unexpected error instead of skipping the session", async () => {
  const broken = async (): Promise<string> => {
    throw new TypeError("broken");
  };
  await expect(eachSession(["one", "two"], composition, broken)).rejects.toThrow(TypeError);
});
