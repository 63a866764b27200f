import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Entry } from "@longhaul/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { append, linesOf } from "../../../../test/recall/session-file.ts";
import { ConversationBuilder } from "../../../../test/support/builders.ts";
import { temporaryFolder } from "../../../../test/transcript/temporary-folder.ts";
import { projectFolderName, type SessionAgent, type UserPlaces } from "../transcript/locations.ts";
import { withSessionFile } from "../transcript/session-file.ts";
import { recallAcrossSessions, type SessionsRecallPage, searchSessions } from "./across-sessions.ts";
import { openRecall, recallIndexPath } from "./open-recall.ts";
import type { RecallQuery } from "./query.ts";

const root = temporaryFolder();
let homes = 0;

interface Home {
  readonly places: UserPlaces;
  /** Writes a session of a project. Returns its path. */
  write(id: string, texts: readonly string[], cwd?: string, agent?: SessionAgent): string;
  /** Returns the path of a session in the store. */
  place(id: string, cwd?: string, agent?: SessionAgent): string;
}

const PROJECT = "/home/me/lighthouse";

function newHome(cwd: string = PROJECT): Home {
  const home = join(root, `home-${homes++}`);
  const place: Home["place"] = (id, folder = PROJECT, agent = "claude-code") => {
    const store = join(home, agent === "longhaul" ? ".longhaul" : ".claude", "projects");
    const path = join(store, projectFolderName(agent, folder), `${id}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    return path;
  };
  return {
    places: { home, env: {}, cwd },
    place,
    write: (id, texts, folder = PROJECT, agent = "claude-code") => {
      const path = place(id, folder, agent);
      writeFileSync(path, linesOf(conversation(id, texts, folder)));
      return path;
    },
  };
}

function conversation(id: string, texts: readonly string[], cwd: string): readonly Entry[] {
  const builder = new ConversationBuilder(id);
  for (const [nth, text] of texts.entries()) nth % 2 === 0 ? builder.user(text) : builder.assistant(text);
  return builder.entries.map((entry) => ({ ...entry, cwd }));
}

/** Searches, and records which files were opened for their indexes, and how many bytes were read of each. */
async function searched(
  { places }: Home,
  query: RecallQuery,
  scope: "project" | "machine" = "machine",
): Promise<{ readonly page: SessionsRecallPage; readonly reads: ReadonlyMap<string, number> }> {
  const reads = new Map<string, number>();
  const page = await searchSessions(query, { places, scope }, (path, use) =>
    withSessionFile(path, (file) => {
      reads.set(path, 0);
      const readAt: typeof file.readAt = async (buffer, position) => {
        const length = await file.readAt(buffer, position);
        reads.set(path, (reads.get(path) ?? 0) + length);
        return length;
      };
      return use({ ...file, readAt });
    }),
  );
  return { page, reads };
}

const ids = ({ hits }: SessionsRecallPage): readonly string[] => hits.map(({ session }) => session.id);

describe("search across sessions", () => {
  it("ranks the passages of all sessions together, whatever session is newer or longer", async () => {
    const home = newHome();
    const filler = Array.from({ length: 60 }, (_, nth) => `The zebra pen has note ${nth}.`);
    home.write("answer", ["Where is the zebra?", "The zebra lives in the north house of the garden."]);
    home.write("long", filler);
    const { page } = await searched(home, { words: "in which house does the zebra live" });
    expect(page.hits[0]).toMatchObject({
      text: "The zebra lives in the north house of the garden.",
      session: { id: "answer", project: PROJECT, agent: "claude-code" },
      isOld: true,
      isInContext: false,
    });
    expect(page).toMatchObject({ searched: 2, skipped: [] });
  });

  it("a message gains nothing from the words at the end of another session", async () => {
    const home = newHome();
    const notes = (from: number): string[] =>
      Array.from({ length: 9 }, (_, nth) => `Note ${from + nth} is here.`);
    const ends = "The kettle whistles.";
    home.write("long", [ends, ...notes(0), "The heron sings.", ...notes(9), ends]);
    home.write("short", ["The heron sings at dawn, above the wide river and the hills."]);
    home.write("other", [ends, ...notes(20), ends]);
    const { page } = await searched(home, { words: "heron kettle" });
    const [best] = page.hits.filter(({ text }) => text.includes("heron"));
    expect(best?.text).toBe("The heron sings.");
  });

  it("each hit can be read in full by the id of its session and its own id", async () => {
    const home = newHome();
    const long = `${"Nothing to see. ".repeat(2_000)}The walrus sleeps. ${"More of it. ".repeat(2_000)}`;
    home.write("one", [long]);
    home.write("two", ["The penguin sleeps."]);
    const { page } = await searched(home, { words: "walrus" });
    const [hit] = page.hits;
    expect(hit?.text.length).toBeLessThan(long.length);
    const read = await openRecall(hit?.session.path ?? "").read(hit?.id ?? "", { budgetTokens: 100_000 });
    expect(read.pieces.map(({ text }) => text)).toEqual([long]);
  });

  it.each<[string, RecallQuery]>([
    ["exact text", { exact: "the walrus" }],
    ["a pattern", { pattern: "the w[a-z]+ sleeps" }],
    ["words", { words: "where does the walrus sleep" }],
  ])("shows an entry once that a session and its forks hold: %s", async (_, query) => {
    const home = newHome();
    const told = ["Hello.", "See, the walrus sleeps here."];
    home.write("origin", told);
    const entries = conversation("origin", told, PROJECT);
    for (const fork of ["fork-a", "fork-b"]) {
      const later = conversation(fork, [`In ${fork} the walrus sleeps again.`], PROJECT);
      writeFileSync(home.place(fork), linesOf([...entries, ...later]));
    }
    const texts: string[] = [];
    for (let number = 1; ; number++) {
      const { page } = await searched(home, { ...query, page: number, limit: 1 });
      texts.push(...page.hits.map(({ text }) => text));
      if (!page.hasMore) break;
    }
    expect(texts.toSorted()).toEqual([
      "In fork-a the walrus sleeps again.",
      "In fork-b the walrus sleeps again.",
      "See, the walrus sleeps here.",
    ]);
  });

  it("searches for exact text and patterns from the newest session to the oldest", async () => {
    const home = newHome();
    for (const [nth, id] of ["old", "middle", "new"].entries()) {
      const path = home.write(id, [`error E${nth}42 here`]);
      utimesSync(path, 1_000 + nth, 1_000 + nth);
    }
    expect(ids((await searched(home, { exact: "42 here" })).page)).toEqual(["new", "middle", "old"]);
    expect(ids((await searched(home, { pattern: "E[01]42" })).page)).toEqual(["middle", "old"]);
    const paged = await searched(home, { exact: "42 here", limit: 2, page: 2 });
    expect(ids(paged.page)).toEqual(["old"]);
  });

  it("searches only the sessions of the current project, unless the whole machine is asked for", async () => {
    const home = newHome();
    home.write("here", ["The zebra."]);
    home.write("ours", ["The zebra."], PROJECT, "longhaul");
    home.write("elsewhere", ["The zebra."], "/home/me/other");
    home.write("similar", ["The zebra."], "/home/me-lighthouse");
    const project = await searched(home, { words: "zebra" }, "project");
    expect(ids(project.page).toSorted()).toEqual(["here", "ours"]);
    const machine = await searched(home, { words: "zebra" }, "machine");
    expect(ids(machine.page).toSorted()).toEqual(["elsewhere", "here", "ours", "similar"]);
  });

  it("does not believe a session that names a folder in which it is not stored", async () => {
    const home = newHome();
    const forged = home.place("forged", "/home/me/other");
    writeFileSync(forged, linesOf(conversation("forged", ["The zebra."], PROJECT)));
    expect((await searched(home, { words: "zebra" }, "project")).page.searched).toBe(0);
    const { page } = await searched(home, { words: "zebra" });
    expect(page.hits[0]?.session.project).toBe(PROJECT);
  });

  it("a session that is stored under the project belongs to it, whatever folder it names first", async () => {
    const home = newHome();
    const entries = conversation("moved", ["The zebra.", "The zebra again."], PROJECT);
    const [first, ...others] = entries.map((entry, nth) =>
      nth === 0 ? { ...entry, cwd: "/elsewhere" } : entry,
    );
    writeFileSync(home.place("moved"), linesOf([first as Entry, ...others]));
    const { page } = await searched(home, { words: "zebra" }, "project");
    expect(page.hits.map(({ session }) => session.project)).toEqual([PROJECT, PROJECT]);
  });

  it("finds content in the context of another session, but summaries only on request", async () => {
    const home = newHome();
    const builder = new ConversationBuilder();
    builder.user("The zebra is striped.");
    builder.boundary();
    builder.summary("Summary: the zebra.");
    builder.user("The zebra again.");
    writeFileSync(home.place("one"), linesOf(builder.entries));
    const texts = async (all: boolean): Promise<readonly string[]> =>
      (await searched(home, { words: "zebra", all })).page.hits.map(({ text }) => text).toSorted();
    expect(await texts(false)).toEqual(["The zebra again.", "The zebra is striped."]);
    expect(await texts(true)).toContain("Summary: the zebra.");
  });

  it("names broken sessions and searches the others", async () => {
    const home = newHome();
    home.write("fine", ["The zebra."]);
    writeFileSync(home.place("garbage"), "no session\nat all\n");
    mkdirSync(home.place("folder"));
    const torn = home.write("torn", ["The zebra of the torn session."]);
    writeFileSync(torn, `${readFileSync(torn, "utf8")}{"type":"user","uuid":"x\n{"half`);
    const { page } = await searched(home, { words: "zebra" });
    expect(ids(page).toSorted()).toEqual(["fine", "torn"]);
    expect(page.skipped.map(({ path }) => path)).toEqual([home.place("garbage")]);
    expect(page.skipped[0]?.reason).toContain("no line of the file is a session entry");
  });

  it("rebuilds a damaged index and answers as before", async () => {
    const home = newHome();
    const path = home.write(
      "one",
      Array.from({ length: 40 }, (_, nth) => `The zebra ${nth} is striped.`),
    );
    home.write("two", ["The penguin."]);
    const before = await searched(home, { words: "striped zebra" });
    const index = recallIndexPath(path);
    const bytes = readFileSync(index);
    for (let at = 0; at < bytes.length; at += 97) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] as number) ^ 0xff;
      writeFileSync(index, damaged);
      const { page } = await searched(home, { words: "striped zebra" });
      expect({ ...page, read: 0 }).toEqual({ ...before.page, read: 0 });
    }
  });

  it("the index of each session can be read only by its owner", async () => {
    const home = newHome();
    const path = home.write("one", ["The zebra."]);
    await searched(home, { words: "zebra" });
    expect(statSync(recallIndexPath(path)).mode & 0o777).toBe(0o600);
  });

  it("reports the progress of the first indexing, and none when nothing changed", async () => {
    const home = newHome();
    const sizes = ["a", "b", "c"].map((id) => statSync(home.write(id, ["The zebra."])).size);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    const reports: (readonly [number, number])[] = [];
    const onProgress = (...report: readonly [number, number]): unknown => reports.push(report);
    const options = { places: home.places, scope: "machine", onProgress } as const;
    await recallAcrossSessions({ words: "zebra" }, options);
    expect(reports.at(-1)).toEqual([total, total]);
    const dones = reports.map(([done]) => done);
    expect(dones).toEqual(dones.toSorted((a, b) => a - b));
    reports.length = 0;
    await recallAcrossSessions({ words: "zebra" }, options);
    expect(reports).toEqual([]);
  });

  it("stops between two sessions if the caller aborts", async () => {
    const home = newHome();
    for (const id of ["a", "b", "c"]) home.write(id, ["The zebra."]);
    const controller = new AbortController();
    const options = { places: home.places, scope: "machine", onProgress: () => controller.abort() } as const;
    const search = recallAcrossSessions({ words: "zebra", signal: controller.signal }, options);
    await expect(search).rejects.toThrow("aborted");
  });
});

describe("unchanged sessions", () => {
  it("never reads an unchanged session again: its file may even contain something else", async () => {
    const home = newHome();
    const path = home.write("sealed", ["The walrus and the zebra.", "The walrus."]);
    utimesSync(path, 1_000, 1_000);
    home.write("other", ["The zebra of the other session.", "Zebra, zebra, zebra."]);
    expect((await searched(home, { words: "zebra" })).page.total).toBe(3);
    // Same size and time, so only reading could show the difference.
    writeFileSync(path, Buffer.alloc(statSync(path).size, "#"));
    utimesSync(path, 1_000, 1_000);
    const { page, reads } = await searched(home, { exact: "other session" });
    expect([ids(page), page.read, page.searched, page.skipped]).toEqual([["other"], 0, 2, []]);
    expect(reads.size).toBe(0);
  });

  it("reads a session that was only touched once more, and then not again", async () => {
    const home = newHome();
    const path = home.write("one", ["The zebra."]);
    await searched(home, { words: "zebra" });
    utimesSync(path, 1, 1);
    expect((await searched(home, { words: "zebra" })).reads.size).toBe(1);
    expect((await searched(home, { words: "zebra" })).reads.size).toBe(0);
  });

  it("keeps the index of a session that ends with a message from the input queue, until the session grows", async () => {
    const home = newHome();
    const path = home.write("queued", ["Start.", "Working."]);
    const last = conversation("queued", ["Start.", "Working."], PROJECT).at(-1);
    const operation = (fields: object): Entry =>
      ({
        type: "queue-operation",
        sessionId: "s",
        timestamp: last?.timestamp,
        ...fields,
      }) as unknown as Entry;
    append(path, [
      operation({ operation: "enqueue", content: "look at the zebra" }),
      operation({ operation: "remove", content: "look at the zebra" }),
    ]);
    expect((await searched(home, { words: "zebra" })).page.total).toBe(1);
    expect((await searched(home, { words: "zebra" })).reads.size).toBe(0);
    append(path, conversation("more", ["The zebra comes."], PROJECT));
    expect((await searched(home, { words: "zebra" })).page.total).toBe(2);
    expect((await openRecall(path).search({ words: "zebra", all: true })).total).toBe(2);
  });

  it("finds a session that was replaced, removed or added since the last search", async () => {
    const home = newHome();
    const one = home.write("one", ["The zebra."]);
    home.write("two", ["The zebra."]);
    await searched(home, { words: "zebra" });
    rmSync(one);
    home.write("three", ["The penguin and the zebra, in a longer text."]);
    home.write("two", ["Another penguin and another zebra."]);
    const { page } = await searched(home, { words: "penguin" });
    expect(ids(page).toSorted()).toEqual(["three", "two"]);
  });

  it("reads only the added part of the one session that grew, and finds the same as a new index", async () => {
    const words = fc.constantFrom("zebra", "walrus", "pen", "north", "house");
    const text = fc.array(words, { minLength: 1, maxLength: 6 }).map((all) => all.join(" "));
    const texts = fc.array(text, { minLength: 2, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(texts, { minLength: 2, maxLength: 12 }),
        fc.nat(),
        texts,
        async (all, nth, added) => {
          const home = newHome();
          const which = nth % all.length;
          const sessions = all.map((lines, at) => conversation(`s${at}`, [LONG_TEXT, ...lines], PROJECT));
          const paths = all.map((_, at) => home.place(`s${at}`));
          for (const [at, path] of paths.entries()) writeFileSync(path, linesOf(sessions[at] ?? []));
          await searched(home, { words: "zebra" });
          const path = paths[which] as string;
          const grown = conversation(`s${which}`, [LONG_TEXT, ...(all[which] ?? []), ...added], PROJECT);
          const before = statSync(path).size;
          append(path, grown.slice((sessions[which] ?? []).length));
          const { page, reads } = await searched(home, { words: "zebra walrus" });
          expect([...reads.keys()]).toEqual([path]);
          expect(reads.get(path)).toBeLessThanOrEqual(statSync(path).size - before + END_BYTES);
          for (const each of paths) rmSync(recallIndexPath(each));
          const anew = await searched(home, { words: "zebra walrus" });
          expect({ ...page, read: 0 }).toEqual({ ...anew.page, read: 0 });
        },
      ),
      { numRuns: 12 },
    );
  });

  it("a change to one of three hundred sessions reads only that one", { timeout: 60_000 }, async () => {
    const home = newHome();
    const paths = Array.from({ length: 300 }, (_, nth) =>
      home.write(`s${nth}`, [`The zebra of pen ${nth}.`]),
    );
    expect((await searched(home, { words: "zebra" })).reads.size).toBe(300);
    expect((await searched(home, { words: "zebra" })).reads.size).toBe(0);
    const path = paths[123] as string;
    append(path, conversation("more", ["The walrus."], PROJECT));
    const { page, reads } = await searched(home, { words: "walrus" });
    expect([[...reads.keys()], ids(page), page.searched]).toEqual([[path], ["s123"], 300]);
  });
});

/** Text that is much longer than the end of a file, where the last whole line is searched. */
const LONG_TEXT = "Nothing of interest is in here. ".repeat(3_000);
/** Maximum bytes that are read to find the end of the last whole line. */
const END_BYTES = 64 * 1024;
