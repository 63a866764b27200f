import { access, writeFile } from "node:fs/promises";
import type { CacheTtl } from "../../cost/rates.ts";
import { createDemoSession } from "../../demo/demo.ts";
import { LonghaulError } from "../../errors.ts";
import { EVALUATED_WINDOW_TOKENS } from "../../evaluate/evaluate.ts";
import { replayChart } from "../../evaluate/replay/chart/chart.ts";
import { type ReplayOptions, replayEntries, replaySession } from "../../evaluate/replay/replay.ts";
import type { Replay, ReplayPolicyName } from "../../evaluate/replay/result.ts";
import { totalOfReplays } from "../../evaluate/replay/total.ts";
import { whyNotWritten } from "../../transcript/write-error.ts";
import type { EffectiveSettings } from "../../window/settings.ts";
import type { ResolvedWindowOptions } from "../../window/thresholds.ts";
import type { Composition } from "../composition.ts";
import { eachSession, GENERATED_SESSION } from "../each-session.ts";
import { formatPercent } from "../view/numbers.ts";
import { replayView } from "../view/replay-view.ts";

export interface ReplayCommandOptions {
  readonly json?: boolean;
  /** The session of the demonstration, for those who have none at hand. */
  readonly generated?: boolean;
  readonly policies?: readonly ReplayPolicyName[];
  readonly window?: number;
  readonly cacheTtl?: CacheTtl;
  /** Whose prices to take. */
  readonly model?: string;
  /** Where to draw the chart. */
  readonly svg?: string;
  readonly force?: boolean;
}

/** What sessions would have cost under this and other ways to keep them within their window. */
export async function replay(
  queries: readonly string[],
  options: ReplayCommandOptions,
  composition: Composition,
): Promise<void> {
  const { terminal } = composition;
  await refuseExisting(options);
  const replays: Replay[] = [
    ...(await eachSession(queries, composition, (session) =>
      replaySession(session, replayOptions(session.id, options, composition)),
    )),
  ];
  if (options.generated) {
    const window = options.window ?? EVALUATED_WINDOW_TOKENS;
    const generated = replayOptions(GENERATED_SESSION.id, { ...options, window }, composition);
    replays.push(await replayEntries(GENERATED_SESSION, createDemoSession(), generated));
  }
  const chart = options.svg === undefined ? null : await drawChart(replays, options.svg, options);
  const report = { sessions: replays, total: totalOfReplays(replays), chart };
  terminal.print(options.json ? JSON.stringify(report, null, 2) : replayView(report, terminal));
}

function replayOptions(
  id: string,
  options: ReplayCommandOptions,
  { terminal, prices, settings }: Composition,
): ReplayOptions {
  const { policies, window: windowTokens, cacheTtl, model } = options;
  let shown = -1;
  return {
    policies,
    windowTokens,
    cacheTtl,
    model,
    prices,
    engine: { settings: windowSettings(settings) },
    onProgress: ({ policy, done, total }) => {
      const percent = Math.floor((done / total) * 100);
      if (percent === shown) return;
      shown = percent;
      terminal.progress(`${id.slice(0, 8)}: ${policy} … ${formatPercent(done / total)}`);
    },
  };
}

/** The settings of the window without the switches: a replay always compacts, where `inspect` says by default. */
function windowSettings(settings: EffectiveSettings): ResolvedWindowOptions {
  const {
    compactEnabled: _,
    autoCompactEnabled: __,
    microcompactEnabled: ___,
    collapseEnabled: ____,
    ...window
  } = settings;
  return window;
}

/** Before the work, which may take a while. */
async function refuseExisting({ svg, force }: ReplayCommandOptions): Promise<void> {
  if (svg === undefined || force) return;
  const isThere = await access(svg).then(
    () => true,
    () => false,
  );
  if (isThere) throw exists(svg);
}

async function drawChart(
  replays: readonly Replay[],
  path: string,
  { force }: ReplayCommandOptions,
): Promise<{ readonly path: string }> {
  try {
    await writeFile(path, replayChart(replays), { flag: force ? "w" : "wx" });
    return { path };
  } catch (cause) {
    const { code, reason } = whyNotWritten(cause);
    if (code === "EEXIST") throw exists(path);
    throw new LonghaulError("chart-not-written", `The chart ${path} was not written: ${reason}.`, {
      remedy: "Solve that, or choose another name.",
      facts: { path },
      cause,
    });
  }
}

const exists = (path: string): LonghaulError =>
  new LonghaulError("chart-not-written", `The chart ${path} was not written: there is such a file.`, {
    remedy: "Choose another name, or give --force to overwrite it.",
    facts: { path },
  });
