import { relative } from "node:path";
import { describe, expect, it } from "vitest";
import { type Entry, importsOf, type Package, readPackages } from "../support/packages.ts";

const MAX_EXPORTS = 60;
/** Programs bundle our packages, so they may import entries for development. */
const PROGRAMS = ["longhaul", "@longhaul/simulator"];

const packages = readPackages();
const imports = packages.flatMap((from) => importsOf(from).map((each) => ({ from, ...each })));

function packageNamed(name: string): Package {
  const found = packages.find(({ manifest }) => manifest.name === name);
  if (found === undefined) throw new Error(`There is no package ${name}`);
  return found;
}

const namesOf = ({ names }: Entry): readonly string[] => names.map(({ name }) => name);

function entryAt(specifier: string): Entry | undefined {
  return packages.flatMap(({ entries }) => entries).find((entry) => entry.specifier === specifier);
}

describe("the exports of @longhaul/core", () => {
  const { entries } = packageNamed("@longhaul/core");
  const top = entries.filter(({ path }) => path === ".").flatMap(namesOf);
  const topics = entries.filter(({ path, isInternal }) => path !== "." && !isInternal);
  const topicsOf = (name: string): readonly string[] =>
    topics.filter((topic) => namesOf(topic).includes(name)).map(({ path }) => path);

  it(`the main entry of @longhaul/core has at most ${MAX_EXPORTS} names, types included`, () => {
    expect(top.length).toBeGreaterThan(0);
    expect(top.length).toBeLessThanOrEqual(MAX_EXPORTS);
  });

  it("each name of the main entry of @longhaul/core is also in an entry for a topic", () => {
    expect(top.filter((name) => topicsOf(name).length === 0)).toEqual([]);
  });

  it("no public name of @longhaul/core is in two entries for topics", () => {
    const names = new Set(topics.flatMap(namesOf));
    const shared = [...names].filter((name) => topicsOf(name).length > 1);
    expect(shared.map((name) => [name, ...topicsOf(name)])).toEqual([]);
  });
});

describe("imports between our packages", () => {
  it("each name that an internal package entry exports is imported by at least one other package", () => {
    const unused = packages.flatMap(({ manifest, entries }) =>
      entries
        .filter(({ isInternal }) => isInternal)
        .flatMap(({ specifier, names }) => {
          const users = imports.filter(
            (each) => each.specifier === specifier && each.from.manifest.name !== manifest.name,
          );
          return names
            .filter(({ name }) => !users.some((user) => user.name === undefined || user.name === name))
            .map(({ name }) => `${specifier}: ${name}`);
        }),
    );
    expect(unused).toEqual([]);
  });

  it("every import between packages names a path and a name that the other package exports", () => {
    const wrong = imports.filter(({ specifier, name }) => {
      const entry = entryAt(specifier);
      return entry === undefined || (name !== undefined && !namesOf(entry).includes(name));
    });
    expect(
      wrong.map(({ file, specifier, name }) => [relative(process.cwd(), file), specifier, name]),
    ).toEqual([]);
  });

  it("a library imports only published entries of our packages", () => {
    const wrong = imports.filter(
      ({ from, specifier }) =>
        !from.manifest.private && !PROGRAMS.includes(from.manifest.name) && !entryAt(specifier)?.isPublished,
    );
    expect(wrong.map(({ file, specifier }) => [relative(process.cwd(), file), specifier])).toEqual([]);
  });
});
