import type { Agent, AgentEvent } from "@longhaul/agent";
import { LonghaulError } from "@longhaul/core/errors";
import { describe, expect, it, vi } from "vitest";
import { type FakeScreen, fakeAgent, fakeScreen, runOf } from "../../../../test/support/fake-chat.ts";
import { terminal } from "../../../../test/support/terminal.ts";
import { runChat } from "./chat.ts";
import type { AgentWiring, ChatSetup, Guide } from "./chat-setup.ts";
import type { Choice, ScreenHandlers } from "./screen/screen.ts";

interface Held {
  readonly screen: FakeScreen;
  readonly over: Promise<void>;
  person(): ScreenHandlers;
  wiring(): AgentWiring;
  at(now: number): void;
}

/** Creates a chat with this agent. The test plays the person. */
async function held(parts: Partial<Agent>, setup: Partial<ChatSetup> = {}): Promise<Held> {
  const screen = fakeScreen({ chosen: [{ picked: [1] }] });
  let handlers: ScreenHandlers | undefined;
  let wiring: AgentWiring | undefined;
  let now = 0;
  const over = runChat({
    composition: {
      terminal: terminal(80),
      places: { home: "/home", env: {} },
      prices: {},
      now: () => new Date(now),
    },
    version: "1.2.3",
    open: async (given) => {
      wiring = given;
      return fakeAgent(parts);
    },
    modelNamed: async () => {
      throw new LonghaulError("model-unknown-model", "No such model.");
    },
    openScreen: (given) => {
      handlers = given;
      return screen;
    },
    ...setup,
  });
  await vi.waitFor(() => expect(screen.printed).not.toEqual([]));
  return {
    screen,
    over,
    person: () => handlers as ScreenHandlers,
    wiring: () => wiring as AgentWiring,
    at: (time) => {
      now = time;
    },
  };
}

const text = (words: string): AgentEvent => ({ type: "text", text: words });
const shown = ({ printed }: FakeScreen): string => printed.join("\n");

/** A run of the agent that lasts until it is aborted. */
const endless: Agent["run"] = async function* (_, options) {
  yield text("I begin.");
  const { signal } = options ?? {};
  if (!signal?.aborted) await new Promise((resolve) => signal?.addEventListener("abort", resolve));
  yield { type: "ended", reason: "aborted", text: "", turns: 1 };
  return { reason: "aborted", text: "", turns: 1 };
};

describe("runChat", () => {
  it("shows version, model and window at the start of a chat, and the command to resume the chat at the end", async () => {
    const chat = await held({
      run: (prompt) => runOf([text(`You said: ${prompt}`)]),
      conversation: [{ type: "x" } as never],
    });
    expect(chat.screen.printed[0]).toContain(
      "longhaul 1.2.3 · claude-sonnet-5-5 · window of 200,000 tokens (from",
    );
    chat.person().submitted("Hello");
    await vi.waitFor(() => expect(shown(chat.screen)).toContain("You said: Hello"));
    chat.person().ended();
    await chat.over;
    expect(chat.screen.printed.at(-1)).toContain("longhaul chat --resume 3fa9c1d0");
  });

  it("queues a prompt while the agent works, and puts the prompt back into the input line after Ctrl-C", async () => {
    const chat = await held({ run: endless });
    chat.person().submitted("one");
    chat.person().submitted("two");
    expect(chat.screen.activity()).toContain("queued: two");
    expect(chat.screen.status()).toContain("1 queued");
    chat.person().interrupted();
    await vi.waitFor(() => expect(chat.screen.suggested).toEqual(["two"]));
    expect(shown(chat.screen)).toContain("Stopped. Your conversation is intact");
    chat.person().ended();
    await chat.over;
  });

  it("exits an idle chat when the person presses Ctrl-C twice within two seconds", async () => {
    const chat = await held({});
    let isOver = false;
    void chat.over.then(() => {
      isOver = true;
    });
    chat.person().interrupted();
    expect(chat.screen.status()).toBe("Press Ctrl-C again to exit.");
    expect(chat.screen.activity()).toEqual([]);
    chat.at(2_001);
    chat.person().interrupted();
    await Promise.resolve();
    expect(isOver).toBe(false);
    chat.at(4_000);
    chat.person().interrupted();
    await chat.over;
  });

  it("Esc stops the agent, but never exits the chat", async () => {
    const chat = await held({ run: endless });
    chat.person().submitted("one");
    chat.person().escaped();
    await vi.waitFor(() => expect(shown(chat.screen)).toContain("Stopped. Your conversation is intact"));
    chat.person().escaped();
    chat.person().escaped();
    chat.person().interrupted();
    expect(chat.screen.status()).toBe("Press Ctrl-C again to exit.");
    expect(chat.screen.activity()).toEqual([]);
    chat.person().ended();
    await chat.over;
  });

  it("rejects /compact while the agent works, because /compact changes the conversation, but runs /todos", async () => {
    const chat = await held({ run: endless });
    chat.person().submitted("one");
    chat.person().submitted("/compact");
    expect(shown(chat.screen)).toContain(
      "✗ /compact cannot run while the agent works.\n  Wait until the agent has finished, or press Ctrl-C to stop it.",
    );
    chat.person().submitted("/todos");
    await vi.waitFor(() => expect(shown(chat.screen)).toContain("There are no to-dos."));
    chat.person().ended();
    await chat.over;
  });

  it("shows the error and remedy of a failed command, and then still answers the next prompt", async () => {
    const compact = async (): Promise<void> => {
      throw new LonghaulError("not-enough-messages", "There is too little.", { remedy: "Go on." });
    };
    const chat = await held({ compact, run: () => runOf([text("Here I am.")]) });
    chat.person().submitted("/compact");
    await vi.waitFor(() => expect(shown(chat.screen)).toContain("✗ There is too little.\n  Go on."));
    chat.person().submitted("/compcat");
    expect(shown(chat.screen)).toContain("Did you mean /compact? /help lists all commands.");
    chat.person().submitted("and now?");
    await vi.waitFor(() => expect(shown(chat.screen)).toContain("Here I am."));
    chat.person().ended();
    await chat.over;
  });

  it("asks the person for permission, and stops the agent when the person leaves the question unanswered", async () => {
    const chat = await held({ run: endless });
    const need = { kind: "shell", title: "Run npm test", key: "shell:npm test", scope: "npm test" } as const;
    const signal = new AbortController().signal;
    const permit = () => chat.wiring().person?.permit(need, { signal, agentId: undefined });
    expect(await permit()).toEqual({ allow: "always" });
    const [asked] = chat.screen.asked;
    expect((asked as Choice).options.map(({ label }) => label)).toEqual([
      "Yes",
      "Yes, and don't ask again for npm test",
      "No",
    ]);
    expect((asked as Choice).declining).toBe("says no and stops");
    chat.person().submitted("one");
    expect(await permit()).toEqual({ allow: "no" });
    await vi.waitFor(() => expect(shown(chat.screen)).toContain("Stopped."));
    chat.person().ended();
    await chat.over;
  });
});

describe("chat with a guide that suggests the next input", () => {
  const guide = (steps: readonly string[]): Guide & { readonly sent: (string | undefined)[] } => {
    const left = [...steps];
    const sent: (string | undefined)[] = [];
    return {
      sent,
      saw: () => undefined,
      next: async (what) => {
        sent.push(what);
        const input = left.shift();
        return input === undefined ? undefined : { words: `Now: ${input}`, input };
      },
    };
  };

  it("shows the text of the guide and puts the suggested input into the input line", async () => {
    const chat = await held({ run: () => runOf([]) }, { guide: guide(["do it"]) });
    await vi.waitFor(() => expect(chat.screen.suggested).toEqual(["do it"]));
    expect(shown(chat.screen)).toContain("Now: do it");
    chat.person().ended();
    await chat.over;
  });

  it("an unattended chat sends the inputs of its guide one after the other, and then ends", async () => {
    const led = guide(["one", "/plan", "two"]);
    const chat = await held(
      { run: (prompt) => runOf([text(`did ${prompt}`)]), planPath: "/nowhere/plan.md" },
      { guide: led, isUnattended: true, farewell: async () => "Over." },
    );
    await chat.over;
    expect(led.sent).toEqual([undefined, "one", "/plan", "two"]);
    const all = shown(chat.screen);
    expect(all).toMatch(/There is no plan\.[\s\S]*Now: two/);
    expect(chat.wiring().person).toBeUndefined();
  });
});
