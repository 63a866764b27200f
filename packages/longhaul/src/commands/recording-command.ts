import { type ForwardedRequest, type ReplayedRequest, startRecorder, startReplay } from "@longhaul/simulator";
import type { Composition } from "../composition.ts";
import type { Terminal } from "../terminal.ts";
import { plural } from "../view/numbers.ts";
import { indented } from "../view/sections.ts";
import { foldText, oneLine } from "../view/text-width.ts";
import { untilSignal } from "./sim-command.ts";

interface RecordingOptions {
  readonly port?: number;
  readonly json?: boolean;
}

export interface RecordOptions extends RecordingOptions {
  /** Address of the provider. */
  readonly record: string;
}

export interface ReplayCommandOptions extends RecordingOptions {
  /** The recording. */
  readonly replay: string;
}

type Output = Pick<Composition, "terminal">;

/** Passes requests to the provider and records them in the foreground until a signal stops it. */
export async function recordCalls(
  file: string,
  { record: upstream, port, json }: RecordOptions,
  { terminal }: Output,
  untilStopped: () => Promise<void> = untilSignal,
): Promise<void> {
  const recorder = await startRecorder({
    upstream,
    file,
    ...(port !== undefined && { port }),
    onRequest: (request) => terminal.print(json ? requestReport(request) : requestLine(request, terminal)),
  });
  const { url, openAiUrl } = recorder;
  terminal.print(
    json
      ? JSON.stringify({ type: "listening", url, openAiUrl, upstream, file })
      : [
          foldText(
            `${terminal.colors.green("●")} ${terminal.colors.bold(`Recording ${upstream}`)} in ${file}`,
            terminal.width,
            "  ",
          ),
          terminal.colors.dim(
            indented("Keys are not recorded. Messages are: the file contains your conversations.", terminal),
          ),
          "",
          "  Point a client at it, with its own key:",
          `  ANTHROPIC_BASE_URL=${url}`,
          `  OPENAI_BASE_URL=${openAiUrl}`,
          "",
          terminal.colors.dim("  Press Ctrl-C to stop."),
          "",
        ].join("\n"),
  );
  await untilStopped();
  await recorder.close();
  const { recorded } = recorder;
  terminal.print(
    json
      ? JSON.stringify({ type: "totals", recorded })
      : foldText(`\nRecorded ${plural(recorded, "request")} in ${file}.`, terminal.width),
  );
}

/** Answers requests from a recording in the foreground until a signal stops it. */
export async function replayCalls(
  { replay: file, port, json }: ReplayCommandOptions,
  { terminal }: Output,
  untilStopped: () => Promise<void> = untilSignal,
): Promise<void> {
  let requests = 0;
  let unmatched = 0;
  const replay = await startReplay({
    file,
    ...(port !== undefined && { port }),
    onRequest: (request) => {
      requests++;
      if (request.problem !== undefined) unmatched++;
      terminal.print(json ? requestReport(request) : requestLine(request, terminal));
    },
  });
  const { url, openAiUrl, size, damagedLines } = replay;
  terminal.print(
    json
      ? JSON.stringify({ type: "listening", url, openAiUrl, file, recorded: size, damagedLines })
      : replayGreeting(replay, file, terminal),
  );
  await untilStopped();
  await replay.close();
  const { unused } = replay;
  terminal.print(
    json
      ? JSON.stringify({ type: "totals", requests, unmatched, unused })
      : foldText(
          `\n${plural(requests, "request")}, ${unmatched} without a recorded answer. ${plural(unused, "recorded answer")} not used.`,
          terminal.width,
        ),
  );
}

interface ReplayFacts {
  readonly url: string;
  readonly openAiUrl: string;
  readonly size: number;
  readonly damagedLines: number;
}

function replayGreeting(
  { url, openAiUrl, size, damagedLines }: ReplayFacts,
  file: string,
  terminal: Terminal,
): string {
  const { colors, width } = terminal;
  const damaged = `Warning: skipped ${plural(damagedLines, "damaged line")} of the recording.`;
  return [
    foldText(
      `${colors.green("●")} ${colors.bold(`Replaying ${plural(size, "request")}`)} of ${file}`,
      width,
      "  ",
    ),
    ...(damagedLines === 0 ? [] : [colors.yellow(foldText(damaged, width))]),
    colors.dim(indented("Nothing leaves this machine, and any API key works.", terminal)),
    "",
    "  Point a client at it:",
    `  ANTHROPIC_BASE_URL=${url}`,
    `  OPENAI_BASE_URL=${openAiUrl}`,
    "",
    colors.dim("  Press Ctrl-C to stop."),
    "",
  ].join("\n");
}

type AnyRequest = ForwardedRequest | ReplayedRequest;

function requestReport(request: AnyRequest): string {
  const { method, path, status, problem } = request;
  const duration = "durationMs" in request ? { durationMs: Math.round(request.durationMs * 10) / 10 } : {};
  return JSON.stringify({
    type: "request",
    method,
    path,
    status: status ?? null,
    problem: problem ?? null,
    ...duration,
  });
}

function requestLine({ method, path, status, problem }: AnyRequest, { colors, width }: Terminal): string {
  const ending = problem === undefined ? colors.green(String(status)) : colors.red(oneLine(problem));
  return foldText(`${method} ${oneLine(path)}  ${ending}`, width, "    ");
}
