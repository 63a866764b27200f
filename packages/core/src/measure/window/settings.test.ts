import { describe, expect, it } from "vitest";
import { DEFAULT_SETTINGS, resolveSettings } from "./settings.ts";

describe("resolveSettings", () => {
  it("returns the default settings without a warning if nothing is set", () => {
    expect(resolveSettings()).toEqual({ settings: DEFAULT_SETTINGS, warnings: [] });
  });

  it("the environment overrides options, options override the file, and the file overrides defaults", () => {
    const file = { autoCompactWindow: 50_000 };
    const values = { autoCompactWindow: 60_000 };
    const environment = { CLAUDE_CODE_AUTO_COMPACT_WINDOW: "70000" };
    expect(resolveSettings({ file }).settings.autoCompactWindow).toBe(50_000);
    expect(resolveSettings({ file, values }).settings.autoCompactWindow).toBe(60_000);
    expect(resolveSettings({ file, values, environment }).settings.autoCompactWindow).toBe(70_000);
  });

  it.each(["1", "true", "YES", " on "])("reads the environment variable value %j as true", (value) => {
    expect(
      resolveSettings({ environment: { DISABLE_AUTO_COMPACT: value } }).settings.autoCompactEnabled,
    ).toBe(false);
  });

  it("DISABLE_AUTO_COMPACT=0 does not enable auto-compact if the settings file disables it", () => {
    const environment = { DISABLE_AUTO_COMPACT: "0" };
    expect(
      resolveSettings({ environment, file: { autoCompactEnabled: false } }).settings.autoCompactEnabled,
    ).toBe(false);
  });

  it("ignores each invalid setting with a warning, and uses the value of the next source instead", () => {
    const { settings, warnings } = resolveSettings({
      environment: { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: "140", DISABLE_COMPACT: "perhaps" },
      file: { autoCompactPercent: 60, blockingLimit: "many" },
    });
    expect(settings).toMatchObject({ autoCompactPercent: 60, compactEnabled: true });
    expect(settings.blockingLimit).toBeUndefined();
    expect(warnings).toHaveLength(3);
    expect(warnings.join(" ")).toContain("CLAUDE_AUTOCOMPACT_PCT_OVERRIDE");
  });

  it.each(["80%", " 80 % ", "80", 80])(
    "reads the percentage %j as 80 percent from environment, options and settings file",
    (value) => {
      const environment = { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: String(value) };
      const expected = { settings: { ...DEFAULT_SETTINGS, autoCompactPercent: 80 }, warnings: [] };
      expect(resolveSettings({ environment })).toEqual(expected);
      expect(resolveSettings({ file: { autoCompactPercent: value } })).toEqual(expected);
      const values = { autoCompactPercent: value as `${number}%` };
      expect(resolveSettings({ values })).toEqual(expected);
    },
  );

  it.each(["%", "80%%", "eighty%", "0%", "101%", "-5%", "%80", ""])(
    "ignores the percentage %j with one warning that shows the accepted form",
    (value) => {
      const { settings, warnings } = resolveSettings({
        environment: { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: value },
      });
      expect(settings.autoCompactPercent).toBeUndefined();
      expect(warnings).toEqual([expect.stringContaining("such as 80 or 80%")]);
    },
  );

  it("accepts every positive blocking limit, but no window that is too small for a system prompt", () => {
    const of = (value: string) =>
      resolveSettings({
        environment: {
          CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE: value,
          CLAUDE_CODE_AUTO_COMPACT_WINDOW: value,
        },
      });
    expect(of("500").settings.blockingLimit).toBe(500);
    expect(of("500").settings.autoCompactWindow).toBeUndefined();
    expect(of("500").warnings).toEqual([expect.stringContaining("CLAUDE_CODE_AUTO_COMPACT_WINDOW")]);
    for (const bad of ["0", "-1", "0.5", "many"]) {
      expect(of(bad).settings.blockingLimit).toBeUndefined();
      expect(of(bad).warnings).toHaveLength(2);
    }
  });

  it("CLAUDE_CONTEXT_COLLAPSE or the settings file enables context collapse", () => {
    const collapseOf = (sources: Parameters<typeof resolveSettings>[0]): boolean =>
      resolveSettings(sources).settings.collapseEnabled;
    expect(collapseOf({})).toBe(false);
    expect(collapseOf({ environment: { CLAUDE_CONTEXT_COLLAPSE: "on" } })).toBe(true);
    expect(collapseOf({ file: { collapseEnabled: true } })).toBe(true);
    const environment = { CLAUDE_CONTEXT_COLLAPSE: "0" };
    expect(collapseOf({ environment, file: { collapseEnabled: true } })).toBe(false);
  });

  it.each([
    ["a list", []],
    ["a text", "x"],
  ])("ignores a settings file that contains %s, with a warning", (_, file) => {
    expect(resolveSettings({ file }).warnings).toHaveLength(1);
  });
});
