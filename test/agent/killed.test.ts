import { spawn } from "node:child_process";
import { join } from "node:path";
import { loadSession } from "@longhaul/sessions";
import { coder, spanSummaries, summaries, textTurn } from "@longhaul/simulator";
import { describe, expect, it } from "vitest";
import { isCollapsedSpan, isSnipMarker, standInUuids } from "../../packages/core/src/messages/stand-ins.ts";
import { FROM_SOURCE } from "../support/from-source.ts";
import { agentScene, ran, toolOf } from "./agent-scene.case.ts";

interface Killed {
  readonly session: string;
  readonly reported: readonly string[];
}

/**
 * Runs an agent in a separate process, and kills the process after the agent has reported this number of
 * messages.
 */
const killAfter = (entries: number, args: readonly string[]): Promise<Killed> =>
  killWhen((printed) => printed.split("\nentry ").length > entries, args);

function killWhen(isEnough: (printed: string) => boolean, args: readonly string[]): Promise<Killed> {
  const program = join(import.meta.dirname, "agent-process.ts");
  const child = spawn(process.execPath, [...FROM_SOURCE, program, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    if (isEnough(printed)) child.kill("SIGKILL");
  });
  return new Promise((resolve) => {
    child.once("close", () => {
      // Drops the last line, which may be incomplete.
      const lines = printed.split("\n").slice(0, -1);
      const reported = lines.flatMap((line) => (line.startsWith("entry ") ? [line.slice(6)] : []));
      resolve({ session: lines[0]?.replace("session ", "") ?? "", reported });
    });
  });
}

describe("killed agents", () => {
  it("an agent that is killed repeatedly loses no reported message and resumes, also after compactions", async () => {
    await using scene = await agentScene({
      windowTokens: 16_000,
      behaviors: [summaries(), coder({ turns: Number.POSITIVE_INFINITY, inventsPaths: true })],
    });
    const home = scene.home;
    let session = "";
    for (const entries of [3, 40, 14]) {
      const killed = await killAfter(entries, [scene.simulator.url, scene.cwd, home, session]);
      session = killed.session;
      expect(killed.reported.length).toBeGreaterThanOrEqual(entries);
      const written = new Set((await loadSession(session)).entries.map(({ uuid }) => uuid));
      expect(killed.reported.filter((uuid) => !written.has(uuid))).toEqual([]);
    }

    expect((await loadSession(session)).boundaries.length).toBeGreaterThan(0);

    const agent = await scene.open({ session, tools: () => [toolOf("Read", () => "nothing")] });
    scene.simulator.reply(textTurn("Here I am."));
    const { result } = await ran(agent, "Are you there?");

    expect(result).toMatchObject({ reason: "answered", text: "Here I am." });
    expect((await agent.prompts()).map(({ text }) => text)).toHaveLength(4);
    expect(scene.simulator.requests.invalid).toEqual([]);
  });

  it.each([
    ["snip", "\nsnipped ", isSnipMarker],
    ["collapse", "\ncommitted ", isCollapsedSpan],
  ] as const)(
    "an agent resumes after a kill that follows a %s, and the file still has the replaced messages",
    async (mode, line, isReplacement) => {
      await using scene = await agentScene({
        windowTokens: 16_000,
        behaviors: [spanSummaries(), coder({ turns: Number.POSITIVE_INFINITY, inventsPaths: true })],
      });
      const args = [scene.simulator.url, scene.cwd, scene.home, "", mode];
      const killed = await killWhen((printed) => printed.includes(line), args);
      const { entries, conversation } = await loadSession(killed.session);
      const written = new Set(entries.map(({ uuid }) => uuid));
      expect(killed.reported.filter((uuid) => !written.has(uuid))).toEqual([]);
      expect(conversation.filter(isReplacement)).not.toEqual([]);
      expect(
        conversation
          .filter(isReplacement)
          .flatMap(standInUuids)
          .filter((uuid) => !written.has(uuid)),
      ).toEqual([]);

      const agent = await scene.open({
        session: killed.session,
        tools: () => [toolOf("Read", () => "nothing")],
      });
      scene.simulator.reply(textTurn("Here I am."));
      const { result } = await ran(agent, "Are you there?");
      expect(result).toMatchObject({ reason: "answered", text: "Here I am." });
      await agent.undo();
      expect(agent.conversation.filter(isReplacement)).toEqual([]);
      expect(scene.simulator.requests.invalid).toEqual([]);
    },
  );
});
