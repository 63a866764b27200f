import type { ReplayPolicyName } from "../result.ts";

interface LineStyle {
  readonly light: string;
  readonly dark: string;
  /** Ours stands out; what needs another window is dotted. */
  readonly width: number;
  readonly dash?: string;
}

/** Told apart also by those who see no red or green: by lightness and by dashes. */
const LINES: Readonly<Record<ReplayPolicyName, LineStyle>> = {
  longhaul: { light: "#0057b8", dark: "#58a6ff", width: 2.5 },
  "longhaul-built-in": { light: "#0057b8", dark: "#58a6ff", width: 1.5, dash: "6 3" },
  "drop-oldest": { light: "#b35900", dark: "#f0a85c", width: 1.5 },
  "keep-last": { light: "#8a3ffc", dark: "#be95ff", width: 1.2 },
  "clear-results": { light: "#00796b", dark: "#4dd0c0", width: 1.5, dash: "8 2 2 2" },
  "plain-summary": { light: "#c2185b", dark: "#ff7eb6", width: 1.5 },
  everything: { light: "#707070", dark: "#a0a0a0", width: 1.2, dash: "2 3" },
};

const rulesOf = (tone: "light" | "dark"): string =>
  Object.entries(LINES)
    .map(([policy, style]) => `.${policy}{stroke:${style[tone]};fill:${style[tone]}}`)
    .join("");

const widths = Object.entries(LINES)
  .map(
    ([policy, { width, dash }]) =>
      `.line.${policy}{stroke-width:${width}${dash === undefined ? "" : `;stroke-dasharray:${dash}`}}`,
  )
  .join("");

/** By the reader's own setting; a viewer that knows none of it shows the light one. */
export const STYLE: string = [
  "text{font:12px system-ui,sans-serif;fill:#1f2328}",
  ".title{font-size:15px;font-weight:600}.dim{fill:#59636e}.strong{font-weight:600}",
  ".paper{fill:#fff}.axis{stroke:#818b98}.grid{stroke:#d8dee4}.limit{stroke:#818b98;stroke-dasharray:4 3}",
  rulesOf("light"),
  ".line{fill:none!important;stroke-linejoin:round}.mark{stroke:none}",
  widths,
  `@media (prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#9198a1}.paper{fill:#0d1117}.axis,.limit{stroke:#6e7681}.grid{stroke:#30363d}${rulesOf("dark")}}`,
].join("");
