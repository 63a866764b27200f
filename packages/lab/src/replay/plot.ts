import type { ReplayPolicyName } from "../policy.ts";
import { element, label, line, roundToTenth, type Svg } from "./svg.ts";

/** The line of one policy. */
export interface Series {
  readonly policy: ReplayPolicyName;
  readonly values: readonly number[];
  /** Indexes of the values to mark. */
  readonly marks: readonly number[];
}

export interface PlotOptions {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Label of the vertical axis. */
  readonly title: string;
  readonly series: readonly Series[];
  /** Largest value of the axis. The plot cuts off everything above it. */
  readonly maximum: number;
  /** A labeled horizontal line, such as the size of the window. */
  readonly limit?: { readonly value: number; readonly title: string };
  readonly format: (value: number) => string;
  /** Id that is unique within the image. */
  readonly id: string;
}

const MARK_RADIUS = 2.6;
/**
 * Maximum share of marked calls. If more calls would get a mark, the marks carry no information and are
 * omitted.
 */
const MAX_MARKS_SHARE = 0.3;

/** Draws lines over the calls of a session, with labeled axes. */
export function plot(options: PlotOptions): Svg {
  const { x, y, width, height, title, series, id, limit } = options;
  const length = Math.max(1, ...series.map(({ values }) => values.length));
  const across = (index: number): number => x + ((index + 1) / length) * width;
  const up = (value: number): number => y + height - (value / options.maximum) * height;
  const clip = element("clipPath", { id }, [
    element("rect", { x, y: y - 4, width: width + 4, height: height + 4 }),
  ]);
  // Draws the first series last, so that the line of longhaul is on top.
  const lines = series.toReversed().flatMap((one) => [
    element("polyline", {
      class: `line ${one.policy}`,
      points: one.values
        .map((value, index) => `${roundToTenth(across(index))},${roundToTenth(up(value))}`)
        .join(" "),
    }),
    ...marksOf(one).map((index) =>
      element("circle", {
        class: `mark ${one.policy}`,
        cx: across(index),
        cy: up(one.values[index] ?? 0),
        r: MARK_RADIUS,
      }),
    ),
  ]);
  return element("g", {}, [
    clip,
    label(title, x, y - 10, { class: "strong" }),
    ...verticalAxis(options, up),
    ...horizontalAxis(options, length, across),
    ...(limit === undefined ? [] : limitLine(options, limit, up(limit.value))),
    element("g", { "clip-path": `url(#${id})` }, lines),
  ]);
}

const marksOf = ({ marks, values }: Series): readonly number[] =>
  marks.length > values.length * MAX_MARKS_SHARE ? [] : marks;

function verticalAxis(
  { x, width, maximum: most, format }: PlotOptions,
  up: (value: number) => number,
): readonly Svg[] {
  return ticksTo(most).flatMap((tick) => [
    line(x, up(tick), x + width, up(tick), tick === 0 ? "axis" : "grid"),
    label(format(tick), x - 6, up(tick) + 4, { "text-anchor": "end", class: "dim" }),
  ]);
}

function horizontalAxis(
  { x, y, width, height }: PlotOptions,
  length: number,
  across: (index: number) => number,
): readonly Svg[] {
  const bottom = y + height;
  const ticks = ticksTo(length).filter((tick) => Number.isInteger(tick) && tick > 0);
  return [
    line(x, y, x, bottom, "axis"),
    ...ticks.map((tick) =>
      label(String(tick), across(tick - 1), bottom + 16, { "text-anchor": "middle", class: "dim" }),
    ),
    label("model calls", x + width, bottom + 32, { "text-anchor": "end", class: "dim" }),
  ];
}

function limitLine(
  { x, width }: PlotOptions,
  { title }: NonNullable<PlotOptions["limit"]>,
  at: number,
): readonly Svg[] {
  return [
    line(x, at, x + width, at, "limit"),
    label(title, x + width, at - 4, { "text-anchor": "end", class: "dim" }),
  ];
}

/** Approximate number of steps on an axis. */
const STEPS = 6;

/** Returns evenly spaced round numbers from 0 up to `most`. */
export function ticksTo(most: number): readonly number[] {
  if (!(most > 0)) return [0];
  const rough = most / STEPS;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5].find((factor) => factor * power >= rough) ?? 10) * power;
  const ticks: number[] = [];
  for (let count = 0; count * step <= most * 1.000_001; count++) ticks.push(count * step);
  return ticks;
}

export function shortTokens(tokens: number): string {
  if (tokens < 1_000) return String(Math.round(tokens));
  return tokens < 1_000_000 ? `${trimmed(tokens / 1_000)}K` : `${trimmed(tokens / 1_000_000)}M`;
}

export const shortDollars = (dollars: number): string =>
  `$${dollars >= 100 ? Math.round(dollars) : dollars.toFixed(2)}`;

const trimmed = (value: number): string => String(Number(value.toFixed(value < 10 ? 1 : 0)));
