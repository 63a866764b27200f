import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { CompactionPorts } from "@longhaul/core/compaction";
import { field, parseJson } from "@longhaul/core/internal/messages";
import {
  computeThresholds,
  type EffectiveSettings,
  type PriceTable,
  readPrices,
  resolveSettings,
  sessionWindow,
  type Thresholds,
} from "@longhaul/core/measure";
import type { UserPlaces } from "@longhaul/sessions";
import { findSession, loadSession, type Session, userHome } from "@longhaul/sessions";
import { agentFolder, loadSparsely, readRegularFile } from "@longhaul/sessions/internal";
import { noteWarnings, type Terminal } from "./terminal.ts";
import { formatBytes, formatPercent } from "./view/numbers.ts";
import { findSessionToWrite } from "./write-target.ts";

export interface WindowChoice {
  /** Size in tokens, or the name of a model whose window to use. */
  readonly window?: number | string;
}

export interface ProjectChoice {
  /** The only folder from which files are restored. */
  readonly project?: string;
}

export interface WritingChoice {
  /** True if a program reads the output. In that case, the command asks no question. */
  readonly json?: boolean;
}

/** Objects that all commands share. They use this machine's clock, files and settings. */
export interface Composition extends CompactionPorts {
  readonly terminal: Terminal;
  readonly places: UserPlaces;
  /**
   * Loads a session. Pass `writing` if the command will write to the session. If `writing` is given and the
   * query is `latest`, this prints which session was found. If that session belongs to another project, this
   * also asks for confirmation.
   */
  load(query: string, writing?: WritingChoice): Promise<Session>;
  /**
   * Loads a session for a command that only reads the conversation. See `loadSparsely` of
   * `@longhaul/sessions`.
   */
  loadSparsely(query: string): Promise<Session>;
  thresholdsOf(session: Pick<Session, "model" | "entries">, choice: WindowChoice): Thresholds;
  /** The user's own prices, by model. */
  readonly prices: PriceTable;
  /** The parsed settings file of the user. Untrusted, because a person typed it. */
  readonly settingsFile: unknown;
  /** Settings from the environment and the settings file. */
  readonly settings: EffectiveSettings;
}

/** A command for one session. `session` is a file, an id, the beginning of an id, or `latest`. */
export type SessionCommand<Options> = (
  session: string,
  options: Options,
  composition: Composition,
) => Promise<void>;

export async function compose(terminal: Terminal, environment: NodeJS.ProcessEnv): Promise<Composition> {
  const places: UserPlaces = { home: userHome(), env: environment, cwd: process.cwd() };
  const file = await readSettingsFile(join(agentFolder("longhaul", places), "settings.json"), terminal);
  const { settings, warnings } = resolveSettings({ environment, file });
  const own = readPrices(field(file, "prices"));
  const onProgress = readingProgress(terminal);
  noteWarnings([...warnings, ...own.warnings], terminal);
  return {
    terminal,
    places,
    now: () => new Date(),
    newUuid: () => randomUUID(),
    prices: own.prices,
    settingsFile: file,
    settings,
    load: async (query, writing) => {
      const path = await (writing === undefined
        ? findSession(query, places)
        : findSessionToWrite(query, { places, now: new Date(), terminal, json: writing.json }));
      return loadSession(path, { onProgress });
    },
    loadSparsely: async (query) => loadSparsely(await findSession(query, places), { onProgress }),
    thresholdsOf: (session, { window }) => {
      const given = typeof window === "string" ? { modelWindow: window } : { windowTokens: window };
      return computeThresholds(sessionWindow(session, { ...given, settings }), settings);
    },
  };
}

export const readingProgress =
  ({ progress }: Pick<Terminal, "progress">) =>
  (done: number, total: number): void =>
    progress(`Reading the session … ${formatPercent(done / total)} of ${formatBytes(total)}`);

async function readSettingsFile(path: string, terminal: Terminal): Promise<unknown> {
  const text = await readRegularFile(path).catch(() => undefined);
  if (text === undefined) return undefined;
  const value = parseJson(text);
  if (value === undefined) terminal.note(`longhaul: ${path} is ignored: it is not valid JSON.`);
  return value;
}
