import { fstatSync } from "node:fs";
import { openAgent, type PermissionMode } from "@longhaul/agent";
import { LonghaulError } from "@longhaul/core/errors";
import { findModel } from "@longhaul/core/measure";
import type { Model } from "@longhaul/core/models";
import { resumeSession } from "@longhaul/sessions";
import { runChat } from "../chat/chat.ts";
import { ownInstructions } from "../chat/own-instructions.ts";
import { type PrintSetup, printChat } from "../chat/print-chat.ts";
import { errorFacts } from "../chat/print-report.ts";
import { processScreen } from "../chat/screen/open-screen.ts";
import { errorLines } from "../chat/show/event-lines.ts";
import type { TourOptions } from "../chat/tour/tour.ts";
import { viewTerminal } from "../chat/view-terminal.ts";
import { chooseSession, newestSession } from "../chat/which-session.ts";
import { readChatSettings } from "../command-settings.ts";
import type { Composition } from "../composition.ts";
import { untilInterrupted } from "../interrupts.ts";
import {
  chatModel,
  DEFAULT_CHAT_MODEL,
  isAnthropicName,
  isWithoutModel,
  type ModelChoice,
} from "../model-choice.ts";
import type { OutputFormat } from "../option-values.ts";
import { sessionHooks } from "../session-hooks.ts";
import { noteWarnings } from "../terminal.ts";
import { findSessionToWrite } from "../write-target.ts";

export interface ChatCommandOptions extends ModelChoice {
  readonly print?: string;
  readonly outputFormat?: OutputFormat;
  readonly continue?: boolean;
  /** Session to resume. True to choose it from a list. */
  readonly resume?: string | true;
  readonly window?: number;
  readonly permissionMode?: PermissionMode;
  readonly allow?: readonly string[];
  readonly plan?: boolean;
  readonly instructions?: string;
  /** False with `--no-hooks`. */
  readonly hooks?: boolean;
  readonly demo?: boolean;
  readonly turns?: number;
}

export interface ChatCommandHost {
  readonly version: string;
  /** Exits with the code for wrong usage. */
  wrongUse(message: string): never;
}

/** Prefixes of the permission keys of the chat's tools. */
const ALLOW_KEY =
  /^(?:(?:shell|shell-exact|web|web-private|path|write|change|write-guarded|read-secret|tool):\S|(?:[a-z-]+:)?\*$)/;
const KEYS = 'A key starts with a prefix such as shell:, web:, path: or write:, as in "shell:npm test".';

/** Indent of the text below a question's title. */
const DETAIL_INDENT = 2;

/** Starts a chat with an agent in the terminal, or sends one prompt and prints the answer. */
export async function chat(
  prompt: string | undefined,
  options: ChatCommandOptions,
  composition: Composition,
  host: ChatCommandHost,
): Promise<void> {
  const { stdin, stdout } = process;
  const isInteractive = stdin.isTTY === true && stdout.isTTY === true && options.print === undefined;
  if (options.demo) {
    const { turns } = options;
    await tour({ isWatched: isInteractive && turns === undefined, turns }, composition, host);
    return;
  }
  if (!isInteractive) {
    await print(prompt, options, composition, host);
    return;
  }
  if (options.outputFormat !== undefined) host.wrongUse("--output-format needs -p or a pipe.");
  const setup = await setupOf(options, composition, host).catch(async (error: unknown) => {
    if (!isWithoutModel(error) || !(await wantsTour(error))) throw error;
    return undefined;
  });
  if (setup === undefined) {
    await tour({ isWatched: true, turns: undefined }, composition, host);
    return;
  }
  await runChat({
    ...setup,
    prompt,
    openScreen: processScreen,
    pickSession: (screen) =>
      pickSession(options, { ...composition, terminal: viewTerminal(screen) }, (choice) =>
        chooseSession(screen, choice),
      ),
  });
}

/** Loads the simulator only here, so that an ordinary chat starts without the simulator. */
async function tour(choice: TourOptions, composition: Composition, host: ChatCommandHost): Promise<void> {
  const { runTour } = await import("../chat/tour/tour.ts");
  await runTour(choice, composition, host);
}

async function wantsTour(error: LonghaulError): Promise<boolean> {
  const nothing = (): void => undefined;
  const screen = processScreen({
    submitted: nothing,
    interrupted: nothing,
    escaped: nothing,
    ended: nothing,
    unfold: nothing,
    complete: () => [],
  });
  try {
    const options = [
      { label: "Yes", key: "y" },
      { label: "No", key: "n" },
    ];
    const { width, colors } = screen;
    const detail = errorLines(error, { width: width - DETAIL_INDENT, colors });
    const chosen = await screen.choose({ title: "Take the tour now?", detail, options });
    return chosen?.picked[0] === 0;
  } finally {
    screen.close();
  }
}

async function print(
  prompt: string | undefined,
  options: ChatCommandOptions,
  composition: Composition,
  host: ChatCommandHost,
): Promise<void> {
  const said = options.print ?? prompt;
  const piped = await pipedText(process.stdin, said !== undefined);
  const whole = [said ?? "", piped].filter((part) => part.trim() !== "").join("\n\n");
  if (whole === "") host.wrongUse("the prompt is empty. Pass -p PROMPT, or pipe it in.");
  if (options.resume === true)
    host.wrongUse("--resume needs the id of a session, because there is no terminal to choose one in.");
  const format = options.outputFormat ?? "text";
  /** With JSON output, startup errors are JSON too. */
  const reportFailure = (error: unknown): never => {
    if (format !== "text" && error instanceof LonghaulError)
      composition.terminal.print(JSON.stringify({ error: errorFacts(error) }));
    throw error;
  };
  await untilInterrupted(async (signal) => {
    const setup = await setupOf(options, composition, host).catch(reportFailure);
    await printChat(
      { ...setup, open: (wiring) => setup.open(wiring).catch(reportFailure) },
      {
        prompt: whole,
        format,
        session: await pickSession(options, composition).catch(reportFailure),
        signal,
        isWatched: process.stderr.isTTY === true,
      },
    );
  }, "The session has everything up to this point. Continue with: longhaul chat --continue");
}

async function pickSession(
  { continue: isNewest, resume, outputFormat = "text" }: ChatCommandOptions,
  { places, now, terminal }: Composition,
  choose?: (choice: Parameters<typeof chooseSession>[1]) => Promise<string | undefined>,
): Promise<string | undefined> {
  if (isNewest) return await newestSession(process.cwd(), places);
  if (typeof resume === "string")
    return await findSessionToWrite(resume, { places, now: now(), terminal, json: outputFormat !== "text" });
  return resume === true ? await choose?.({ places, cwd: process.cwd(), now: now() }) : undefined;
}

async function setupOf(
  options: ChatCommandOptions,
  composition: Composition,
  { version }: ChatCommandHost,
): Promise<PrintSetup> {
  const { settings, warnings } = readChatSettings(composition.settingsFile);
  const own = await ownInstructions(composition.places);
  const allow = [...(settings.permissions?.allow ?? []), ...(options.allow ?? [])];
  const idle = allow
    .filter((key) => !ALLOW_KEY.test(key))
    .map((key) => `The permission key ${JSON.stringify(key)} has no effect. ${KEYS}`);
  noteWarnings(
    [...warnings, ...(own.warning === undefined ? [] : [own.warning]), ...idle],
    composition.terminal,
  );
  const chosen = options.model ?? settings.model;
  const name = chosen ?? DEFAULT_CHAT_MODEL;
  // Returns the model with this name. The option for the base URL applies to the chosen model. It applies to
  // another model only if Anthropic's SDK serves both models or neither of them.
  const modelNamed = (wanted: string): Promise<Model> =>
    chatModel(wanted, {
      baseUrl: isAnthropicName(wanted) === isAnthropicName(name) ? options.baseUrl : undefined,
      environment: composition.places.env,
    });
  const model = await modelNamed(name);
  const small = settings.smallModel;
  const smallModel = small === undefined ? undefined : await modelNamed(small);
  const hooks = options.hooks === false ? undefined : await sessionHooks(model, composition);
  return {
    composition,
    version,
    modelNamed,
    open: async (wiring) => {
      const earlier = chosen === undefined ? await claudeModelOf(wiring.session) : undefined;
      return await openAgent({
        // The command line overrides the settings. The allow lists of the command line and of the settings
        // are combined.
        permissions: {
          mode: options.permissionMode ?? settings.permissions?.mode,
          allow,
          paths: settings.permissions?.paths,
        },
        maxTurns: settings.maxTurns,
        notes: settings.notes,
        isPlanMode: options.plan,
        instructions: [own.text, options.instructions ?? ""].filter((text) => text !== "").join("\n\n"),
        ...{ smallModel, places: composition.places, ...wiring },
        model: earlier === undefined ? model : await modelNamed(earlier),
        compactor: {
          window: { tokens: options.window },
          cost: { prices: composition.prices },
          settings: { file: composition.settingsFile, environment: composition.places.env },
          hooks,
        },
      });
    },
  };
}

/**
 * Finds the model that a session used, so that a resume keeps the model and its window. Accepts only names in
 * the model table, because the session file may contain any text as a name.
 */
async function claudeModelOf(path: string | undefined): Promise<string | undefined> {
  // Ignores an unreadable session, because opening it later reports the reason.
  const session = path === undefined ? undefined : await resumeSession(path).catch(() => undefined);
  const name = session?.model;
  const isPlain = name !== undefined && /^claude-[a-z0-9.-]{1,60}$/.test(name);
  return isPlain && findModel(name).matched !== undefined ? name : undefined;
}

/**
 * Maximum wait for piped input. A parent process may keep a socket open and never write to it. A process that
 * does write starts within this time.
 */
const FIRST_BYTE_MS = 3_000;

/**
 * Reads piped input. If there is also a prompt, waits only for a limited time, because nobody may ever write
 * to the socket.
 */
async function pipedText(stdin: NodeJS.ReadStream, hasPrompt: boolean): Promise<string> {
  if (stdin.isTTY) return "";
  const isPatient = !hasPrompt || !isSocket();
  const chunks: Buffer[] = [];
  const timer = isPatient ? undefined : setTimeout(() => stdin.destroy(), FIRST_BYTE_MS);
  try {
    for await (const chunk of stdin) {
      clearTimeout(timer);
      chunks.push(Buffer.from(chunk as Uint8Array));
    }
  } catch {
    // Use the text that has arrived so far.
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString("utf8").trim();
}

function isSocket(): boolean {
  try {
    // Without `bigint`, Node 20 leaves the result in a buffer that its module loader reads next. The loader then does not
    // follow symbolic links, and a linked package does not find its dependencies.
    return fstatSync(0, { bigint: true }).isSocket();
  } catch {
    return false;
  }
}
