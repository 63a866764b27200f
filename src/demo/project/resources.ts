/** What the demo's booking service keeps: enough of each to write its code, tests, fixtures and API description. */
export interface ResourceSpec {
  readonly plural: string;
  readonly singular: string;
  readonly fields: readonly FieldSpec[];
  /** The one piece of business logic that makes this resource unlike the others. */
  readonly rule: RuleSpec;
}

export type FieldSpec =
  | { readonly kind: "text"; readonly name: string; readonly pattern: string; readonly samples: Samples }
  | { readonly kind: "number"; readonly name: string; readonly min: number; readonly max: number }
  | { readonly kind: "flag"; readonly name: string }
  | { readonly kind: "instant"; readonly name: string }
  | { readonly kind: "choice"; readonly name: string; readonly samples: Samples };

type Samples = readonly [string, ...string[]];

export interface RuleSpec {
  readonly name: string;
  readonly why: string;
  readonly signature: string;
  readonly body: readonly string[];
  /** Calls with what they return, for the resource's own test. */
  readonly cases: readonly (readonly [call: string, expected: string])[];
}

const text = (name: string, pattern: string, ...samples: Samples): FieldSpec => ({
  kind: "text",
  name,
  pattern,
  samples,
});
const number = (name: string, min: number, max: number): FieldSpec => ({ kind: "number", name, min, max });
const flag = (name: string): FieldSpec => ({ kind: "flag", name });
const instant = (name: string): FieldSpec => ({ kind: "instant", name });
const choice = (name: string, ...samples: Samples): FieldSpec => ({ kind: "choice", name, samples });

const quay = (): FieldSpec => text("quay", "^[A-Z][a-z]+ quay$", "North quay", "Fish quay", "Long quay");
const imo = (): FieldSpec => text("vesselImo", "^[0-9]{7}$", "9074729", "9319466", "9811000");

export const RESOURCES: readonly [ResourceSpec, ...ResourceSpec[]] = [
  {
    plural: "berths",
    singular: "Berth",
    fields: [
      quay(),
      text("code", "^[A-Z][0-9]{1,2}$", "N1", "N2", "N3", "S4", "F11"),
      number("lengthMetres", 8, 400),
      number("depthMetres", 1.5, 24),
      flag("hasShorePower"),
    ],
    rule: {
      name: "fitsAlongside",
      why: "Fenders and lines need a tenth of the vessel's length, at least two metres.",
      signature: "(berthLengthMetres: number, vesselLengthMetres: number): boolean",
      body: [
        "const clearance = Math.max(2, vesselLengthMetres / 10);",
        "return vesselLengthMetres + clearance <= berthLengthMetres;",
      ],
      cases: [
        ["fitsAlongside(110, 100)", "true"],
        ["fitsAlongside(109.9, 100)", "false"],
        ["fitsAlongside(12, 10)", "true"],
      ],
    },
  },
  {
    plural: "bookings",
    singular: "Booking",
    fields: [
      choice("status", "requested", "confirmed", "cancelled", "expired"),
      text("berthCode", "^[A-Z][0-9]{1,2}$", "N1", "N3", "S4"),
      imo(),
      instant("arrivesAt"),
      instant("leavesAt"),
      number("draughtMetres", 0.5, 18),
    ],
    rule: {
      name: "staysOverlap",
      why: "A berth is free again at the very minute the last vessel leaves.",
      signature:
        "(a: { arrivesAt: string; leavesAt: string }, b: { arrivesAt: string; leavesAt: string }): boolean",
      body: ["return a.arrivesAt < b.leavesAt && b.arrivesAt < a.leavesAt;"],
      cases: [
        ['staysOverlap({ arrivesAt: "08", leavesAt: "12" }, { arrivesAt: "11", leavesAt: "13" })', "true"],
        ['staysOverlap({ arrivesAt: "08", leavesAt: "12" }, { arrivesAt: "12", leavesAt: "13" })', "false"],
      ],
    },
  },
  {
    plural: "vessels",
    singular: "Vessel",
    fields: [
      text("flag", "^[A-Z]{2}$", "NO", "NL", "CN", "PA"),
      text("imo", "^[0-9]{7}$", "9074729", "9319466", "9811000"),
      text("name", "^.{2,40}$", "Havørn", "Morning Tern", "海燕号"),
      number("lengthMetres", 6, 400),
      number("draughtMetres", 0.5, 18),
    ],
    rule: {
      name: "hasValidCheckDigit",
      why: "The last digit of an IMO number is the weighted sum of the six before it.",
      signature: "(imo: string): boolean",
      body: [
        "const digits = [...imo].map(Number);",
        "const sum = digits.slice(0, 6).reduce((total, digit, index) => total + digit * (7 - index), 0);",
        "return digits.length === 7 && sum % 10 === digits[6];",
      ],
      cases: [
        ['hasValidCheckDigit("9074729")', "true"],
        ['hasValidCheckDigit("9074728")', "false"],
      ],
    },
  },
  {
    plural: "pilots",
    singular: "Pilot",
    fields: [
      text("licence", "^PL-[0-9]{4}$", "PL-2041", "PL-2077", "PL-2103"),
      text("name", "^.{2,40}$", "Ingrid Aas", "Tomás Rey", "陈海波"),
      number("maxLengthMetres", 50, 400),
      instant("onDutyFrom"),
      instant("onDutyUntil"),
    ],
    rule: {
      name: "isRested",
      why: "The labour agreement asks for eleven hours between two watches.",
      signature: "(lastWatchEnded: string, nextWatchStarts: string): boolean",
      body: [
        "const restHours = (Date.parse(nextWatchStarts) - Date.parse(lastWatchEnded)) / 3_600_000;",
        "return restHours >= 11;",
      ],
      cases: [
        ['isRested("2026-03-28T18:00:00Z", "2026-03-29T05:00:00Z")', "true"],
        ['isRested("2026-03-28T18:01:00Z", "2026-03-29T05:00:00Z")', "false"],
      ],
    },
  },
  {
    plural: "tugs",
    singular: "Tug",
    fields: [
      text("homeBerth", "^[A-Z][0-9]{1,2}$", "F11", "S4"),
      text("callSign", "^L[A-Z]{3}$", "LAQT", "LBZN", "LCMR"),
      number("bollardPullTonnes", 5, 120),
      flag("available"),
    ],
    rule: {
      name: "tugsNeeded",
      why: "Wind above 25 knots costs one tug more, whatever the length.",
      signature: "(vesselLengthMetres: number, windKnots: number): number",
      body: [
        "const byLength = vesselLengthMetres < 90 ? 0 : vesselLengthMetres < 180 ? 1 : 2;",
        "return windKnots > 25 ? byLength + 1 : byLength;",
      ],
      cases: [
        ["tugsNeeded(89, 10)", "0"],
        ["tugsNeeded(180, 10)", "2"],
        ["tugsNeeded(120, 26)", "2"],
      ],
    },
  },
  {
    plural: "invoices",
    singular: "Invoice",
    fields: [
      choice("currency", "EUR", "NOK", "GBP"),
      text("number", "^HB-[0-9]{6}$", "HB-104418", "HB-104419", "HB-104502"),
      text("bookingId", "^bkg_[a-z0-9]{8}$", "bkg_7f3k2m9q", "bkg_1x8c4v5b"),
      number("amountCents", 0, 90_000_000),
      instant("issuedAt"),
      flag("paid"),
    ],
    rule: {
      name: "lateFeeCents",
      why: "Half a percent per started week after thirty days; never more than a tenth of the amount.",
      signature: "(amountCents: number, daysSinceIssue: number): number",
      body: [
        "const weeksLate = Math.ceil(Math.max(0, daysSinceIssue - 30) / 7);",
        "return Math.round(Math.min(amountCents * 0.005 * weeksLate, amountCents * 0.1));",
      ],
      cases: [
        ["lateFeeCents(100_000, 30)", "0"],
        ["lateFeeCents(100_000, 31)", "500"],
        ["lateFeeCents(100_000, 400)", "10_000"],
      ],
    },
  },
  {
    plural: "customers",
    singular: "Customer",
    fields: [
      choice("locale", "en", "nb", "zh-CN"),
      text("account", "^C[0-9]{5}$", "C00417", "C00932", "C01288"),
      text("name", "^.{2,60}$", "Fjordline Freight", "Tern & Sons", "东海航运"),
      text("email", "^[^@ ]+@[^@ ]+$", "ops@fjordline.example", "desk@tern.example"),
      number("creditCents", 0, 50_000_000),
    ],
    rule: {
      name: "mayBookOnCredit",
      why: "One unpaid reminder closes the credit line until it is settled.",
      signature: "(creditCents: number, openCents: number, reminders: number): boolean",
      body: ["if (reminders > 0) return false;", "return openCents <= creditCents;"],
      cases: [
        ["mayBookOnCredit(10_000, 10_000, 0)", "true"],
        ["mayBookOnCredit(10_000, 0, 1)", "false"],
      ],
    },
  },
  {
    plural: "permits",
    singular: "Permit",
    fields: [
      choice("category", "dangerous-goods", "night-work", "diving"),
      text("reference", "^PMT-[0-9]{5}$", "PMT-00871", "PMT-00872", "PMT-00940"),
      imo(),
      instant("validFrom"),
      instant("validUntil"),
    ],
    rule: {
      name: "coversStay",
      why: "Dangerous goods need a permit for the whole stay; the other kinds only on arrival.",
      signature: "(category: string, valid: [string, string], stay: [string, string]): boolean",
      body: [
        "const coversArrival = valid[0] <= stay[0] && stay[0] < valid[1];",
        'return category === "dangerous-goods" ? coversArrival && stay[1] <= valid[1] : coversArrival;',
      ],
      cases: [
        ['coversStay("diving", ["01", "05"], ["04", "09"])', "true"],
        ['coversStay("dangerous-goods", ["01", "05"], ["04", "09"])', "false"],
      ],
    },
  },
  {
    plural: "cranes",
    singular: "Crane",
    fields: [
      quay(),
      text("code", "^CR[0-9]{2}$", "CR01", "CR04", "CR12"),
      number("maxLoadTonnes", 5, 120),
      number("reachMetres", 8, 70),
      flag("inService"),
    ],
    rule: {
      name: "safeLoadTonnes",
      why: "Beyond two thirds of its reach a crane lifts only half.",
      signature: "(maxLoadTonnes: number, reachMetres: number, distanceMetres: number): number",
      body: [
        "if (distanceMetres > reachMetres) return 0;",
        "return distanceMetres > (reachMetres * 2) / 3 ? maxLoadTonnes / 2 : maxLoadTonnes;",
      ],
      cases: [
        ["safeLoadTonnes(40, 30, 20)", "40"],
        ["safeLoadTonnes(40, 30, 21)", "20"],
        ["safeLoadTonnes(40, 30, 31)", "0"],
      ],
    },
  },
  {
    plural: "inspections",
    singular: "Inspection",
    fields: [
      choice("outcome", "passed", "deficiencies", "detained"),
      text("reference", "^INS-[0-9]{5}$", "INS-00311", "INS-00318", "INS-00402"),
      imo(),
      text("inspector", "^.{2,40}$", "Marit Lund", "Okan Yıldız"),
      instant("startedAt"),
    ],
    rule: {
      name: "nextDueMonths",
      why: "A clean record doubles the interval, a detention makes it the shortest we have.",
      signature: "(outcome: string, previousOutcome: string): number",
      body: [
        'if (outcome === "detained") return 3;',
        'if (outcome === "deficiencies") return 6;',
        'return previousOutcome === "passed" ? 24 : 12;',
      ],
      cases: [
        ['nextDueMonths("passed", "passed")', "24"],
        ['nextDueMonths("detained", "passed")', "3"],
      ],
    },
  },
];
