import type { Entry } from "@longhaul/core/messages";
import { CLEARED_RESULT_TEXT } from "@longhaul/core/messages";
import { describe, expect, it } from "vitest";
import { append, sessionFiles } from "../../../../test/recall/session-file.ts";
import { ConversationBuilder, thinking, toolResult, toolUse } from "../../../../test/support/builders.ts";
import { openRecall } from "./open-recall.ts";
import type { RecallPage } from "./query.ts";

const sessionFile = sessionFiles();

/** Builds a conversation that is then compacted. */
function compacted(say: (builder: ConversationBuilder) => void): ConversationBuilder {
  const builder = new ConversationBuilder();
  say(builder);
  builder.boundary();
  builder.summary("The work so far: zebra, lighthouse, deadlock, rateLimit.");
  builder.user("Go on.");
  builder.assistant("Going on with the present work.");
  return builder;
}

const texts = ({ hits }: RecallPage): readonly string[] => hits.map(({ text }) => text);

describe("searching by words", () => {
  it("ranks a text higher if it contains more of the searched words, or rarer searched words", async () => {
    const { entries } = compacted((builder) => {
      builder.user("The server is slow.");
      builder.user("The server has a deadlock.");
      builder.user("The lighthouse server has a deadlock in the pool.");
      builder.user("The server is slow again, the server, the server.");
    });
    const found = await openRecall(sessionFile(entries)).search({ words: "lighthouse deadlock server" });
    expect(texts(found).slice(0, 2)).toEqual([
      "The lighthouse server has a deadlock in the pool.",
      "The server has a deadlock.",
    ]);
  });

  it("ranks a message above command output with the same text", async () => {
    const { entries } = compacted((builder) => {
      builder.user("We keep the zebra crossing.");
      builder.tool("t1", "Bash", { command: "ls" }, "We keep the zebra crossing.");
    });
    const found = await openRecall(sessionFile(entries)).search({ words: "zebra" });
    expect(found.hits.map(({ kind }) => kind)).toEqual(["user", "result"]);
  });

  it("finds the original tool result, not the placeholder of a cleared one", async () => {
    const { entries } = compacted((builder) => {
      builder.tool("t1", "Bash", { command: "ls" }, "The zebra is in the old tool list.");
      builder.boundary();
      builder.tool("t1", "Bash", { command: "ls" }, CLEARED_RESULT_TEXT);
    });
    const recall = openRecall(sessionFile(entries));
    const results = (await recall.search({ tool: "Bash" })).hits.filter(({ kind }) => kind === "result");
    expect(results.map(({ text }) => text)).toEqual(["The zebra is in the old tool list."]);
    expect((await recall.search({ exact: CLEARED_RESULT_TEXT })).total).toBe(0);
  });

  it("finds a tool result that a later line with the same id cleared, and finds nothing twice", async () => {
    const { entries } = compacted((builder) => {
      builder.assistant([toolUse("t1", "Bash", { command: "a" }), toolUse("t2", "Bash", { command: "b" })]);
      const whole = [toolResult("t1", "The first zebra."), toolResult("t2", "The second zebra.")];
      const line = builder.user(whole);
      const emptied = [toolResult("t1", CLEARED_RESULT_TEXT), toolResult("t2", "The second zebra.")];
      builder.push({ ...line, message: { role: "user", content: emptied } });
      const thought = builder.assistant([
        thinking("A thought of zebras."),
        { type: "text", text: "A zebra." },
      ]);
      const content = thought.message.content.slice(1);
      builder.push({ ...thought, message: { ...thought.message, content } });
    });
    const recall = openRecall(sessionFile(entries));
    const found = texts(await recall.search({ exact: "zebra" })).toSorted();
    expect(found).toEqual(["A thought of zebras.", "A zebra.", "The first zebra.", "The second zebra."]);
  });

  it("finds an identifier by its parts, and ranks the whole identifier above its parts", async () => {
    const { entries } = compacted((builder) => {
      builder.user("the rate and the limit of it all");
      builder.user("see rateLimitOf in the pool");
    });
    const recall = openRecall(sessionFile(entries));
    expect(texts(await recall.search({ words: "rateLimitOf" }))[0]).toBe("see rateLimitOf in the pool");
    expect((await recall.search({ words: "limit rate" })).total).toBe(2);
  });

  it("finds part of a word when no whole word matches", async () => {
    const { entries } = compacted((builder) => builder.user("see configurations"));
    expect((await openRecall(sessionFile(entries)).search({ words: "figur" })).total).toBe(1);
  });

  it("finds Chinese, Japanese and Korean text without spaces between words", async () => {
    const { entries } = compacted((builder) => {
      builder.user("请不要修改数据库的配置文件");
      builder.user("설정 파일을 고치지 마세요");
    });
    const recall = openRecall(sessionFile(entries));
    expect(texts(await recall.search({ words: "数据库" }))).toEqual(["请不要修改数据库的配置文件"]);
    expect(texts(await recall.search({ words: "파일" }))).toEqual(["설정 파일을 고치지 마세요"]);
    expect(texts(await recall.search({ words: "库" }))).toEqual(["请不要修改数据库的配置文件"]);
  });
});

describe("the scope of a search", () => {
  it("searches only text outside the context, and with `all` also the context and the summary", async () => {
    const { entries } = compacted((builder) => builder.user("the zebra of old"));
    const recall = openRecall(sessionFile([...entries]));
    expect(texts(await recall.search({ words: "zebra" }))).toEqual(["the zebra of old"]);
    expect((await recall.search({ words: "zebra", all: true })).total).toBe(2);
    expect((await recall.search({ words: "present" })).total).toBe(0);
    const [present] = (await recall.search({ words: "present", all: true })).hits;
    expect(present?.isInContext).toBe(true);
  });

  it("does not find lines that a boundary lists as kept, but finds all other lines above it", async () => {
    const builder = new ConversationBuilder();
    builder.user("Look at the animals.");
    builder.assistant([toolUse("a", "Read", { file_path: "/a" })], { id: "m" });
    builder.assistant([toolUse("b", "Read", { file_path: "/b" })], { id: "m" });
    builder.user([toolResult("b", "The zebra of b.")]);
    builder.user([toolResult("a", "The zebra of a.")], { parentUuid: "e-2" });
    builder.assistant("A zebra stands in both.");
    const uuids = ["e-2", "e-3", "e-4", "e-5"];
    builder.boundary({ preservedMessages: { anchorUuid: "e-8", uuids, allUuids: uuids } });
    builder.summary("Animals.");
    builder.user("Go on.");
    const found = await openRecall(sessionFile(builder.entries)).search({ words: "zebra" });
    expect(texts(found)).toEqual(["A zebra stands in both."]);
  });

  it("finds a cleared tool result whose call is still in the context", async () => {
    const builder = new ConversationBuilder();
    builder.user("Look.");
    builder.tool("t1", "Bash", { command: "cat notes" }, "the zebra in the result");
    builder.push({
      ...builder.link(),
      type: "system",
      subtype: "microcompact_boundary",
      microcompactMetadata: { compactedToolIds: ["t1"] },
    } as Entry);
    builder.user("Go on.");
    const recall = openRecall(sessionFile(builder.entries));
    expect(texts(await recall.search({ exact: "the zebra in the result" }))).toEqual([
      "the zebra in the result",
    ]);
    expect((await recall.search({ words: "cat notes" })).total).toBe(0);
  });

  it("finds messages that were removed or collapsed", async () => {
    const builder = new ConversationBuilder();
    const first = builder.user("the zebra was removed");
    const second = builder.assistant("the lighthouse was collapsed");
    const third = builder.user("still here");
    builder.user("[removed]", { snipped: { messages: 1, uuids: [first.uuid] } } as never);
    const collapsed = {
      spanId: "span-1",
      messages: 1,
      uuids: [second.uuid],
      tokensBefore: 9,
      tokensAfter: 3,
    };
    builder.user("A lighthouse was talked about.", { collapsed, parentUuid: third.uuid } as never);
    builder.push({
      ...builder.link(),
      type: "system",
      subtype: "collapse_committed",
      collapse: { spanIds: ["span-1"], tokensSaved: 6 },
    } as Entry);
    const recall = openRecall(sessionFile(builder.entries));
    expect(texts(await recall.search({ words: "lighthouse" }))).toEqual(["the lighthouse was collapsed"]);
    expect((await recall.search({ words: "here" })).total).toBe(0);
  });

  it("finds each message once, despite repeated lines and copies of a compaction", async () => {
    const builder = new ConversationBuilder();
    const kept = builder.user("keep the zebra");
    builder.push(kept);
    builder.user("drop the lighthouse");
    const boundary = builder.boundary();
    builder.summary("Summary.");
    builder.user("keep the zebra", { writtenWith: boundary.uuid } as never);
    const path = sessionFile(builder.entries);
    const recall = openRecall(path);
    expect((await recall.search({ words: "zebra" })).total).toBe(0);
    expect((await recall.search({ words: "zebra", all: true })).hits.map(({ id }) => id)).toEqual([
      kept.uuid,
    ]);
    // Once the copy is compacted too, the message can be found again, exactly once.
    builder.boundary();
    builder.summary("Summary.");
    append(path, builder.entries.slice(-2));
    expect((await recall.search({ words: "zebra" })).hits.map(({ id }) => id)).toEqual([kept.uuid]);
  });

  it("finds subagent messages in the file, labeled as subagent", async () => {
    const { entries } = compacted((builder) => {
      builder.user("start");
      builder.push({
        ...builder.link(),
        parentUuid: null,
        isSidechain: true,
        type: "user",
        message: { role: "user", content: "zebra aside" },
      });
    });
    const { hits } = await openRecall(sessionFile(entries)).search({ words: "zebra" });
    expect(hits.map(({ who }) => who)).toEqual(["subagent: user"]);
  });
});

describe("searching by file, tool, exact text and pattern", () => {
  const { entries } = compacted((builder) => {
    builder.assistant([
      thinking("I wonder about zebras"),
      toolUse("r1", "Read", { file_path: "/p/src/Server.ts" }),
    ]);
    builder.user([toolResult("r1", 'const port = 8080;\n"quoted" text\\path')]);
    builder.tool("b1", "Bash", { command: "npm test" }, "error TS2345: Argument\nfailed");
    builder.assistant([
      toolUse("w1", "Write", { file_path: "/p/src/a.ts", content: 'line one\n\tline "two"' }),
    ]);
    builder.user([toolResult("w1", "written")]);
  });
  const recall = openRecall(sessionFile(entries));

  it.each([
    [{ file: "src/server.ts" }, ["result", "call"]],
    [{ file: "./src/a.ts" }, ["result", "call"]],
    [{ tool: "bash" }, ["result", "call"]],
    [{ tool: "Ba" }, []],
    [{ tool: "Bash", words: "error" }, ["result"]],
    [{ file: "server.ts", exact: "8080" }, ["result"]],
    [{ exact: 'one\n\tline "two' }, ["call"]],
    [{ exact: '"quoted" text\\path' }, ["result"]],
    [{ exact: "Const port" }, []],
    [{ exact: "command: npm" }, ["call"]],
    [{ exact: "onder about zeb" }, ["thinking"]],
    [{ pattern: "TS\\d{4}: A" }, ["result"]],
    [{ pattern: "^failed$" }, ["result"]],
    [{ pattern: "const PORT", ignoreCase: true }, ["result"]],
    [{ pattern: "const PORT" }, []],
    [{ pattern: "p[o]rt = \\d+", exact: "8080" }, ["result"]],
  ])("%j finds %j, the newest first", async (query, kinds) => {
    const { hits } = await recall.search(query);
    expect(hits.map(({ kind }) => kind)).toEqual(kinds);
  });

  it("finds colored text when the query lacks the invisible escape character of the color code", async () => {
    const colored = compacted((builder) =>
      builder.tool("c1", "Bash", {}, "\u001b[31mError\u001b[0m: \u001b[1;4mzebra"),
    );
    const seen = openRecall(sessionFile(colored.entries));
    for (const query of [{ exact: "[31mError" }, { exact: "[0m: " }, { pattern: "\\[1;4mzeb" }])
      expect((await seen.search(query)).total).toBe(1);
  });

  it("rejects an empty query", async () => {
    for (const query of [{}, { words: "  " }, { exact: "" }, { exact: " " }, { pattern: "" }]) {
      await expect(recall.search(query)).rejects.toMatchObject({ code: "query-empty" });
    }
  });

  it("gives up on a pattern that backtracks without end, and still searches the other texts", async () => {
    const evil = compacted((builder) => {
      builder.user(`${"a".repeat(50_000)}!`);
      builder.user("aa");
    });
    const recallEvil = openRecall(sessionFile(evil.entries));
    const page = await recallEvil.search({ pattern: "^(a+)+$" });
    expect(texts(page)).toEqual(["aa"]);
    expect(page.notSearched).toBe(1);
    const both = await recallEvil.search({ pattern: "^(a+)+$", exact: "aa" });
    expect([texts(both), both.notSearched]).toEqual([["aa"], 1]);
  });

  it("stops a search when its signal is aborted", async () => {
    const signal = AbortSignal.abort();
    await expect(recall.search({ exact: "8080", signal })).rejects.toThrow();
  });
});
