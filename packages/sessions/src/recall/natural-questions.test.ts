import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sessionFiles } from "../../../../test/recall/session-file.ts";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { openRecall } from "./open-recall.ts";
import type { RecallHit } from "./query.ts";

const sessionFile = sessionFiles();

/** Asks a question about a conversation that is no longer in the context. */
async function ask(
  question: string,
  say: (builder: ConversationBuilder) => void,
): Promise<readonly RecallHit[]> {
  const builder = new ConversationBuilder();
  say(builder);
  builder.boundary();
  builder.summary("Summary of the work.");
  builder.user("Go on.");
  return (await openRecall(sessionFile(builder.entries)).search({ words: question })).hits;
}

const FILLER = ["The build is green.", "I read the next file now.", "The list has three parts."];

describe("natural questions", () => {
  it("finds a sentence by other forms of the words of a question", async () => {
    const [first] = await ask("which spelling does the user prefer?", (builder) => {
      for (const text of FILLER) builder.assistant(text);
      builder.user("Please note my preference: words are spelled the American way.");
      for (const text of FILLER) builder.assistant(`${text} The user interface does its work.`);
    });
    expect(first?.text).toContain("American");
  });

  it("function words of a question do not count, however often a text has them", async () => {
    const [first, ...others] = await ask("what is the port of the metrics server", (builder) => {
      builder.assistant("The port for metrics is 9102.");
      builder.tool("t1", "Bash", { command: "cat notes" }, "what is the of the is what ".repeat(200));
    });
    expect(first?.text).toContain("9102");
    expect(others.map(({ text }) => text)).not.toContainEqual(expect.stringContaining("what is the of"));
  });

  it("ranks a sentence above a tool result of 2,000 lines that has all words of the question", async () => {
    const lines = Array.from({ length: 2_000 }, (_, nth) =>
      nth % 3 === 0 ? `${nth} retry limit` : nth % 3 === 1 ? `${nth} upload worker` : `${nth} chosen value`,
    );
    const [first] = await ask("which retry limit was chosen for the upload worker", (builder) => {
      builder.tool("t1", "Bash", { command: "cat log" }, lines.join("\n"));
      builder.assistant("We chose a retry limit of five for uploads, because the worker restarts.");
      builder.tool("t2", "Bash", { command: "cat log" }, lines.toReversed().join("\n"));
    });
    expect(first?.kind).toBe("assistant");
  });

  it("ranks words that stand together above the same words far apart", async () => {
    const far = `The cache is here. ${"Other work goes on and on. ".repeat(60)} The eviction is there.`;
    const [first] = await ask("cache eviction", (builder) => {
      builder.assistant(far);
      builder.assistant(`${"Other work goes on and on. ".repeat(60)} The cache eviction runs at night.`);
      builder.assistant(far);
    });
    expect(first?.text).toContain("runs at night");
  });

  it("shows the part of a long text that answers, not its beginning", async () => {
    const [first] = await ask("how long do the tokens of the gateway live", (builder) => {
      const start = "The gateway is described first. ".repeat(200);
      const end = "Other matters follow. ".repeat(200);
      builder.tool(
        "t1",
        "Read",
        { file_path: "/a.md" },
        `${start}\nTokens of the gateway live 15 minutes.\n${end}`,
      );
      builder.assistant("Reading is done.");
      for (let nth = 0; nth < 12; nth++)
        builder.assistant(`The gateway has note ${nth}. ${"More. ".repeat(300)}`);
    });
    expect(first?.text).toContain("15 minutes");
  });

  it("a question about the user prefers what the user wrote to what others repeat", async () => {
    const [first] = await ask("what did the user say about trailing commas?", (builder) => {
      builder.assistant("Trailing commas: the formatter can add trailing commas or remove trailing commas.");
      builder.user("no trailing commas, please");
      builder.assistant("Understood: no trailing commas. I remove the trailing commas now.");
    });
    expect(first?.kind).toBe("user");
  });

  it("finds a short reply of the user that only the next answer makes clear", async () => {
    const hits = await ask("which items did the user want to leave out of the release?", (builder) => {
      builder.assistant("These items are open for the release: 1 docs, 2 icons, 3 sounds.");
      builder.user("skip 2 and 3");
      builder.assistant("I leave the items 2 and 3 out of the release.");
      for (const text of FILLER) builder.assistant(text);
    });
    expect(hits.map(({ text }) => text)).toContain("skip 2 and 3");
  });

  it("finds the first and the last request of the user", async () => {
    const say = (builder: ConversationBuilder): void => {
      builder.user("Build a lighthouse.");
      for (let nth = 0; nth < 30; nth++) builder.user(`Add window ${nth} to it.`);
      builder.user("Paint it red.");
    };
    const first = await ask("what was the user's first request?", say);
    expect(first[0]?.text).toBe("Build a lighthouse.");
    const last = await ask("what did the user ask for at the very end?", say);
    expect(last[0]?.text).toBe("Paint it red.");
  });

  it("repetitions of one statement leave room on the page for another one", async () => {
    const hits = await ask("why did the deployment fail", (builder) => {
      for (let nth = 0; nth < 20; nth++)
        builder.assistant(
          `The deployment failed again, attempt ${nth}. I read the logs of the deployment now.`,
        );
      builder.assistant("The cause of the failing deployment was a wrong certificate.");
    });
    expect(hits.map(({ text }) => text)).toContainEqual(expect.stringContaining("certificate"));
  });

  it("treats a report of the host in the user's name as output, not as the user's words", async () => {
    const [first] = await ask("where is the icon folder", (builder) => {
      builder.user("<task-notification>The icon folder is in the icon folder list.</task-notification>");
      builder.assistant("The icon folder is assets/icons.");
    });
    expect(first?.text).toContain("assets/icons");
  });

  it("finds what the user said when refusing a tool call, as words of the user", async () => {
    const refusal =
      "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n";
    const [first] = await ask("the user stopped the deployment. which server did they want?", (builder) => {
      for (const text of FILLER) builder.assistant(`${text} The deployment stopped on the server list.`);
      builder.tool("t1", "Bash", { command: "deploy" }, `${refusal}take the server heron instead`);
      builder.tool(
        "t2",
        "Bash",
        { command: "log" },
        "The user said: the deployment server stopped. I want it.",
      );
    });
    expect(first?.text).toContain("heron");
  });

  it("prefers a passage with a path if the question asks for a file", async () => {
    const [first] = await ask("which file has the retry policy", (builder) => {
      builder.assistant("The file with the retry policy is uploads/backoff.ts.");
      builder.assistant("The file with the retry policy is long and old.");
    });
    expect(first?.text).toContain("backoff.ts");
  });

  it("the result of a call that has the words of the question ranks above other results", async () => {
    const hits = await ask("what did tagging the release candidate print", (builder) => {
      const others = (from: number): void => {
        for (let nth = from; nth < from + 9; nth++)
          builder.tool(`t${nth}`, "Bash", { command: `cat ${nth}` }, `release candidate of list ${nth}`);
      };
      others(0);
      builder.tool("own", "Bash", { command: "tag the release candidate" }, "release candidate heron");
      others(9);
    });
    expect(hits.slice(0, 2).map(({ text }) => text)).toContainEqual("release candidate heron");
  });

  it("an identifier in a question outweighs an ordinary word that is rarer", async () => {
    const [first] = await ask("what does the shared readHeaderLine do", (builder) => {
      for (let nth = 0; nth < 9; nth++) for (const text of FILLER) builder.assistant(`${nth}: ${text}`);
      builder.assistant("The function readHeaderLine trims spaces.");
      for (const path of ["a", "b"])
        builder.tool(path, "Grep", { pattern: "readHeaderLine", path }, "3 lines");
      builder.assistant("The folder is shared with a guest.");
    });
    expect(first?.text).toContain("trims spaces");
  });

  it("finds a word in two parts and a compound of both", async () => {
    const [first] = await ask("what is wrong with the home page", (builder) => {
      for (const text of FILLER) builder.assistant(`${text} This page is fine.`);
      builder.user("The homepage looks crowded.");
    });
    expect(first?.text).toContain("crowded");
  });

  it("finds an answer that has few words of the question, beside the message that has the others", async () => {
    const hits = await ask("why did the nightly export of the invoices stop?", (builder) => {
      const others = (from: number): void => {
        for (let nth = from; nth < from + 30; nth++) {
          builder.assistant(`Step ${nth} did not stop.`);
          for (const text of FILLER) builder.assistant(`${nth}: ${text}`);
        }
      };
      others(0);
      builder.tool("t1", "Bash", { command: "cat log" }, "The nightly export of the invoices begins.");
      builder.assistant("It had to stop at once, because the disk of the large accounting machine was full.");
      others(30);
    });
    expect(hits.slice(0, 2).map(({ text }) => text)).toContainEqual(expect.stringContaining("disk"));
  });

  it("two words of a question outweigh a single word that is much rarer", async () => {
    const [first] = await ask("which queue feeds the sorrowful uploader", (builder) => {
      for (let nth = 0; nth < 40; nth++) for (const text of FILLER) builder.assistant(`${nth}: ${text}`);
      for (let nth = 0; nth < 30; nth++) builder.tool(`t${nth}`, "Bash", {}, `queue ${nth}`);
      for (let nth = 0; nth < 30; nth++) builder.tool(`u${nth}`, "Bash", {}, `uploader ${nth}`);
      for (const text of FILLER) for (const end of ["", "!", "?"]) builder.assistant(text + end);
      builder.assistant("The uploader is fed by queue seven.");
      for (const text of FILLER) builder.assistant(text);
      builder.assistant("A sorrowful song plays.");
    });
    expect(first?.text).toContain("seven");
  });

  it("finds an answer that has a single common word of a long question", async () => {
    const hits = await ask(
      "which peculiar gadget of the neighboring workshop measures humidity inside the greenhouse",
      (builder) => {
        for (const word of ["peculiar", "gadget", "neighboring", "workshop", "humidity"])
          builder.assistant(`I know the word ${word}.`);
        builder.assistant("The peculiar gadget of the neighboring workshop is old.");
        for (let nth = 0; nth < 5; nth++) builder.assistant(`The greenhouse has window ${nth}.`);
        for (let nth = 0; nth < 5; nth++) for (const text of FILLER) builder.assistant(`${nth}: ${text}`);
        builder.assistant("In the greenhouse it is an SHT41 sensor.");
      },
    );
    expect(hits.map(({ text }) => text)).toContainEqual(expect.stringContaining("SHT41"));
  });

  it.each([
    ["how do people sign in to the portal?", "The portal authenticates everyone with a passkey."],
    ["which drawback did we accept?", "One limitation remains: no printing."],
    ["what did we do with the outdated pages?", "Stale pages go to the archive."],
    ["how long may a call take before the deadline?", "The timeout is 40 seconds."],
    ["which colour has the border?", "Its color is teal."],
  ])("answers %j with %j, which says it in other words", async (question, answer) => {
    const [first] = await ask(question, (builder) => {
      for (const text of FILLER) builder.assistant(text);
      builder.assistant(answer);
      for (const text of FILLER) builder.assistant(`Again: ${text}`);
    });
    expect(first?.text).toBe(answer);
  });

  it("a page has 16 hits in about 4,000 tokens", async () => {
    const hits = await ask("lantern", (builder) => {
      for (let nth = 0; nth < 40; nth++)
        builder.assistant(`Lantern ${nth}. ${"More words follow. ".repeat(200)}`);
    });
    expect(hits).toHaveLength(16);
    expect(hits.reduce((sum, { text }) => sum + text.length / 4, 0)).toBeLessThanOrEqual(4_000);
  });
});

describe("pages of a question", () => {
  const WORDS = ["cache", "caches", "deploy", "deployed", "the", "user", "first", "queue", "retry", "x"];
  const sentence = fc
    .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 8 })
    .map((all) => all.join(" "));

  it("all pages of a question together contain each hit once, and as many as the total says", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.boolean(), sentence), { minLength: 1, maxLength: 40 }),
        sentence,
        fc.integer({ min: 1, max: 9 }),
        async (said, question, limit) => {
          const builder = new ConversationBuilder();
          for (const [isUser, text] of said) isUser ? builder.user(text) : builder.assistant(text);
          builder.boundary();
          builder.summary("Summary.");
          const recall = openRecall(sessionFile(builder.entries));
          const ids: (string | undefined)[] = [];
          for (let page = 1; ; page++) {
            const found = await recall.search({ words: question, page, limit });
            ids.push(...found.hits.map(({ id }) => id));
            if (!found.hasMore) {
              expect(ids).toHaveLength(found.total ?? -1);
              break;
            }
            expect(found.hits).toHaveLength(limit);
          }
          expect(new Set(ids).size).toBe(ids.length);
        },
      ),
      { numRuns: 30 },
    );
  });
});
