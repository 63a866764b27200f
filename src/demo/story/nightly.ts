import { journal } from "../reports.ts";
import { textTokens } from "../size.ts";
import { commit, conclude, runTests, type Stage } from "./stage.ts";

/** A tool's answer rarely gets longer: agents cut output at about thirty thousand characters. */
const MOST_LINES_PER_EXCERPT = 120;
const FEWEST_LINES_PER_EXCERPT = 8;
/** The call, its wrapping, and the words around an excerpt. */
const TOKENS_PER_CALL = 150;
const WINDOW_MS = 7 * 60_000;

const CRASH = `{"level":30,"time":"2026-03-30T02:10:00.004Z","pid":4117,"msg":"expiry run started","due":31}
{"level":40,"time":"2026-03-30T02:11:58.120Z","pid":4117,"msg":"mail gateway slow","elapsedMs":117911}
{"level":30,"time":"2026-03-30T02:12:00.003Z","pid":4117,"msg":"expiry run started","due":17}
{"level":50,"time":"2026-03-30T02:14:07.391Z","pid":4117,"msg":"unhandledRejection","bookingId":"bkg_5d0c77a1","err":{"type":"SqliteError","code":"SQLITE_CONSTRAINT_UNIQUE","message":"UNIQUE constraint failed: night_report.booking_id","stack":"SqliteError: UNIQUE constraint failed: night_report.booking_id\\n    at Object.run (src/db.ts:19:55)\\n    at ExpiryJob.run (src/scheduler/expiry.ts:28:15)\\n    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)"}}
{"level":60,"time":"2026-03-30T02:14:07.402Z","pid":4117,"msg":"exiting","code":1}`;

const OVERLAP_TEST = `  it("does not begin a run while another is under way", async () => {
    const db = memoryDatabase([requestedBooking("b3", "2026-03-30T01:00:00Z")]);
    let release = () => {};
    const slowMail = new Promise<void>((resolve) => (release = resolve));
    const job = new ExpiryJob(db, clock, DEFAULTS, () => slowMail);
    const first = job.run();
    const second = job.run();
    release();
    expect(await Promise.all([first, second])).toEqual([1, 0]);
  });
`;

export function nightlyCrash(stage: Stage): void {
  const { recorder, tools } = stage;
  recorder.pause(22);
  recorder.human(
    "The expiry job on staging died last night at about 02:14 UTC and nobody got the 06:00 report. `journalctl -u harbour -o cat` on this machine has the log, I copied it over. Find out why before you change anything.",
  );
  recorder.respond({
    text: "I begin around the crash and widen from there.",
    calls: [
      tools.bash(
        'journalctl -u harbour -o cat --since "2026-03-30 02:10" --until "2026-03-30 02:15" | grep -v \'"level":30,.*request\'',
        "Log around the crash",
        () => CRASH,
      ),
      tools.read("src/scheduler/expiry.ts"),
    ],
  });
  readLogs(stage);
  stage.measured.contextTokensAfterLogs = recorder.contextTokens;
  fixOverlap(stage);
}

/** Backwards from the crash, as many excerpts of the night as there is room for. */
function readLogs(stage: Stage): void {
  const { recorder, tools, random, plan } = stage;
  const lineTokens = textTokens(journal(random, { startMs: 0, lines: 20 })) / 20;
  let startMs = Date.UTC(2026, 2, 30, 2, 3);
  for (;;) {
    const room = plan.contextTokensAfterLogs - recorder.contextTokens - TOKENS_PER_CALL;
    const lines = Math.min(MOST_LINES_PER_EXCERPT, Math.floor(room / lineTokens));
    if (lines < FEWEST_LINES_PER_EXCERPT) return;
    const since = new Date(startMs).toISOString().slice(0, 16).replace("T", " ");
    const excerpt = journal(random, { startMs, lines });
    recorder.respond({
      calls: [
        tools.bash(
          `journalctl -u harbour -o cat --since "${since}" | head -n ${lines}`,
          `Log from ${since.slice(11)} on`,
          () => excerpt,
        ),
      ],
    });
    startMs -= WINDOW_MS;
  }
}

function fixOverlap(stage: Stage): void {
  const { recorder, tools } = stage;
  const [path, test] = ["src/scheduler/expiry.ts", "test/expiry.test.ts"];
  const anchor = '  it("leaves a fresh request alone", async () => {';
  const failure = {
    path: test,
    title: "the expiry job > does not begin a run while another is under way",
    thrown: "SqliteError",
    error: "UNIQUE constraint failed: night_report.booking_id",
    at: "expect(await Promise.all([first, second]))",
    frames: [
      ["src/db.ts", "run: (sql"],
      [path, "INSERT INTO night_report"],
    ] as const,
  };
  recorder.respond({
    thinking:
      "Run at 02:10 hung on the mail gateway for almost two minutes; the timer started the next run at 02:12, which saw the same 'requested' rows since the status is set after the mail. Both then insert the same booking into night_report. So: no overlapping runs. Also the rejection was not handled, hence the exit.",
    text: "Two runs overlapped: the one of 02:10 waited for the mail gateway, the timer started another at 02:12 on the same rows, and both wrote `bkg_5d0c77a1` into the night report. A test for that first:",
    calls: [tools.edit(test, anchor, `${OVERLAP_TEST}\n${anchor}`), runTests(stage, [test], [failure])],
  });
  recorder.respond({
    calls: [
      tools.edit(
        path,
        "  async run(): Promise<number> {\n",
        `  private running = false;

  /** A run that finds another under way does nothing: the next tick comes soon enough. */
  async run(): Promise<number> {
    if (this.running) return 0;
    this.running = true;
    try {
      return await this.expireDue();
    } finally {
      this.running = false;
    }
  }

  private async expireDue(): Promise<number> {
`,
      ),
      runTests(stage, [test]),
    ],
  });
  recorder.respond({ calls: [runTests(stage, stage.workspace.paths("test/", ".test.ts"))] });
  recorder.respond({ calls: [commit(stage, "fix(expiry): never run twice at the same time", [path, test])] });
  conclude(
    stage,
    "Cause: overlapping runs of the expiry job, set off by a mail gateway that took 118 seconds. `ExpiryJob.run` now returns 0 while another run is under way; the new test reproduces the UNIQUE violation without the fix. Not done, since you did not ask: a timeout for the mail itself.",
  );
}
