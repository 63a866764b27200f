import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Node, parseSync } from "oxc-parser";
import { trackedFiles } from "../../scripts/prose/texts.ts";

/** A place that creates an error. */
export interface ThrowSite {
  readonly file: string;
  /** Undefined if the place passes on the code of a caller or of another error. */
  readonly code: string | undefined;
  /** Possible messages. `…` replaces each value that is known only at run time. */
  readonly messages: readonly string[];
  readonly hasRemedy: boolean;
}

interface Source {
  readonly file: string;
  readonly nodes: readonly Node[];
}

const ROOT = join(import.meta.dirname, "..", "..");
const PLACEHOLDER = "…";

/**
 * Finds each place in the sources of the packages that creates an error of the class `LonghaulError` or of a
 * subclass.
 */
export function throwSites(): readonly ThrowSite[] {
  const files = trackedFiles(ROOT, "packages/*.ts").filter((file) =>
    /^packages\/[^/]+\/src\/.*(?<!\.test|\.case)\.ts$/.test(file),
  );
  return sitesIn(files.map((file) => parse(file, readFileSync(join(ROOT, file), "utf8"))));
}

export function parse(file: string, source: string): Source {
  return {
    file,
    nodes: /Error\b|ModelFailure\b/.test(source) ? within(parseSync(file, source).program) : [],
  };
}

function within(node: Node): readonly Node[] {
  const found: Node[] = [];
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isNode(value)) return;
    found.push(value);
    for (const [name, child] of Object.entries(value)) if (name !== "parent") visit(child);
  };
  visit(node);
  return found;
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value;

export function sitesIn(sources: readonly Source[]): readonly ThrowSite[] {
  const classes = errorClasses(sources);
  return sources.flatMap((source) => [...createdIn(source, classes), ...classifiedIn(source, sources)]);
}

interface ErrorClass {
  readonly name: string;
  /** Arguments that the class passes to `super`. */
  readonly given: readonly Node[];
}

/** Returns `LonghaulError` and all of its subclasses. */
function errorClasses(sources: readonly Source[]): ReadonlyMap<string, ErrorClass> {
  const known = new Map<string, ErrorClass>([["LonghaulError", { name: "LonghaulError", given: [] }]]);
  for (let before = 0; before < known.size; ) {
    before = known.size;
    for (const node of sources.flatMap(({ nodes }) => nodes)) {
      if (node.type !== "ClassDeclaration" || node.superClass?.type !== "Identifier") continue;
      const name = node.id?.name ?? "";
      if (known.has(node.superClass.name)) known.set(name, { name, given: superArguments(node) });
    }
  }
  return known;
}

const superArguments = (node: Node): readonly Node[] =>
  within(node).flatMap((one) =>
    one.type === "CallExpression" && one.callee.type === "Super" ? one.arguments : [],
  );

/** Returns each `new` of an error class, and each constructor that sets the code itself. */
function createdIn(source: Source, classes: ReadonlyMap<string, ErrorClass>): readonly ThrowSite[] {
  return source.nodes.flatMap((node) => {
    if (node.type === "ClassDeclaration") {
      const given = classes.get(node.id?.name ?? "")?.given ?? [];
      return codesIn(given[0]).length === 0 ? [] : siteOf(given, source);
    }
    if (node.type !== "NewExpression" || node.callee.type !== "Identifier") return [];
    const created = classes.get(node.callee.name);
    return created === undefined || codesIn(created.given[0]).length > 0
      ? []
      : siteOf(node.arguments, source);
  });
}

function siteOf([code, message, ...rest]: readonly Node[], source: Source): readonly ThrowSite[] {
  const codes: readonly (string | undefined)[] = codesIn(code);
  const details = rest.at(-1);
  const hasRemedy =
    details !== undefined &&
    within(details).some((node) => node.type === "Property" && keyOf(node.key) === "remedy");
  const messages = message === undefined ? [] : textsOf(message, source);
  return (codes.length === 0 ? [undefined] : codes).map((one) => ({
    file: source.file,
    code: one,
    messages,
    hasRemedy,
  }));
}

/** Returns the codes in the first argument: strings, or kinds of a failed call. */
function codesIn(node: Node | undefined): readonly string[] {
  if (node?.type === "Literal") return typeof node.value === "string" ? [node.value] : [];
  if (node?.type === "ConditionalExpression")
    return [...codesIn(node.consequent), ...codesIn(node.alternate)];
  if (node?.type === "LogicalExpression") return [...codesIn(node.left), ...codesIn(node.right)];
  if (node?.type !== "ObjectExpression") return [];
  return node.properties.flatMap((property) =>
    property.type === "Property" && keyOf(property.key) === "kind"
      ? codesIn(property.value).map((kind) => `model-${kind}`)
      : [],
  );
}

const keyOf = (key: Node): string =>
  key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : "";

/** Returns the texts that an expression can have as its value. */
function textsOf(node: Node, source: Source): readonly string[] {
  if (node.type === "Literal") return [String(node.value)];
  if (node.type === "TemplateLiteral") {
    const [first = "", ...others] = node.quasis.map(({ value }) => value.cooked ?? value.raw);
    return [others.reduce((text, part, at) => text + inlined(node.expressions[at], source) + part, first)];
  }
  if (node.type === "BinaryExpression" && node.operator === "+")
    return textsOf(node.left, source).flatMap((left) =>
      textsOf(node.right, source).map((right) => left + right),
    );
  if (node.type === "ConditionalExpression")
    return [...textsOf(node.consequent, source), ...textsOf(node.alternate, source)];
  if (node.type === "LogicalExpression")
    return [...textsOf(node.left, source), ...textsOf(node.right, source)];
  if (node.type === "CallExpression" && node.callee.type === "Identifier")
    return declared(node.callee.name, source).flatMap((maker) => returnedTexts(maker, source));
  const constants = node.type === "Identifier" ? declared(node.name, source) : [];
  return constants.length === 0 ? [PLACEHOLDER] : constants.flatMap((constant) => textsOf(constant, source));
}

/** Returns the text of a constant with a fixed value, or `…`. */
function inlined(node: Node | undefined, source: Source): string {
  const [constant] = node?.type === "Identifier" ? declared(node.name, source) : [];
  return constant?.type === "Literal" && typeof constant.value === "string" ? constant.value : PLACEHOLDER;
}

/**
 * Returns the functions with this name, and the values of constants with this name. A constant may be
 * destructured from one of several arrays. In that case it has one value for each array.
 */
function declared(name: string, { nodes }: Source): readonly Node[] {
  return nodes.flatMap((node): readonly Node[] => {
    if (node.type === "FunctionDeclaration") return node.id?.name === name ? [node] : [];
    if (node.type !== "VariableDeclarator" || !node.init) return [];
    if (node.id.type === "Identifier") return node.id.name === name ? [node.init] : [];
    if (node.id.type !== "ArrayPattern") return [];
    const at = node.id.elements.findIndex((one) => one?.type === "Identifier" && one.name === name);
    const pairs = at === -1 ? [] : within(node.init).filter((one) => one.type === "ArrayExpression");
    return pairs.flatMap(({ elements }) => elements[at] ?? []);
  });
}

const returnedTexts = (maker: Node, source: Source): readonly string[] =>
  within(maker).flatMap((node) =>
    node.type === "ReturnStatement" && node.argument ? textsOf(node.argument, source) : [],
  );

/**
 * Returns the failures that an adapter recognizes. Failures inside a `new` do not count. The texts come from
 * the table `HEADLINES`. Skips the contract for adapters, because it only compares failures.
 */
function classifiedIn(source: Source, sources: readonly Source[]): readonly ThrowSite[] {
  const { file, nodes } = source;
  if (file.includes("/contract/")) return [];
  if (!nodes.some((node) => node.type === "Identifier" && node.name === "ModelFailure")) return [];
  const headlines = headlinesIn(sources);
  const inErrors = new Set(
    nodes.flatMap((node) => (node.type === "NewExpression" ? node.arguments.flatMap(within) : [])),
  );
  const codes = nodes.flatMap((node) =>
    node.type === "ObjectExpression" && !inErrors.has(node) ? codesIn(node) : [],
  );
  return [...new Set(codes)].flatMap((code) => {
    const headline = headlines.get(code);
    return headline === undefined ? [] : [{ file, code, messages: [`${headline}.`], hasRemedy: true }];
  });
}

function headlinesIn(sources: readonly Source[]): ReadonlyMap<string, string> {
  const source = sources.find(({ file }) => file.endsWith("/model-error.ts"));
  const [table] = source === undefined ? [] : declared("HEADLINES", source);
  if (source === undefined || table?.type !== "ObjectExpression") return new Map();
  return new Map(
    table.properties.flatMap((property): readonly (readonly [string, string])[] => {
      if (property.type !== "Property" || property.value.type !== "ArrowFunctionExpression") return [];
      return textsOf(property.value.body, source).map((text) => [`model-${keyOf(property.key)}`, text]);
    }),
  );
}
