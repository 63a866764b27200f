/** Nine sections of an honest summary of the invented session, in order. */
export const HONEST_SECTIONS: readonly (readonly [title: string, body: string])[] = [
  [
    "Primary Request and Intent",
    "- Build a booking service for kayak rentals, so that customers can reserve boats online.",
  ],
  ["Key Technical Concepts", "- Fastify for the routes\n- `TariffEngine`, which computes prices"],
  [
    "Files and Code Sections",
    "- `src/reserve-kayak.ts`: the new endpoint\n- `src/tariff-table.ts`\n- `migrations/add-unique-index.sql`\n- `deploy/staging.yaml`",
  ],
  [
    "Errors and Fixes",
    "- Two guests booked the same boat. The cause was a missing unique index on kayak and start hour. A migration fixed it.",
  ],
  [
    "Problem Solving",
    "- Reservations are stored in SQLite, because the harbor office runs no database server.\n- `npx vitest run` passed after the migration, and `npm run lint` is clean.\n- `e2e/checkout.spec.ts` failed in its last run.",
  ],
  [
    "All User Messages",
    [
      '- "Build a booking service for kayak rentals, so that customers reserve boats online."',
      '- "Never store the passport number of a customer."',
      '- "Always write prices in whole cents."',
      '- "Create a PDF report of all reservations for the harbor master."',
      '- "Cancel the PDF report for the harbor master, they no longer need it."',
      '- "The staging server should listen on port 8443 with a timeout of 45 seconds."',
    ].join("\n"),
  ],
  ["Pending Tasks", "- Send a reminder mail one day before the trip."],
  [
    "Current Work",
    "The checkout page was examined: the payment redirect loses the session cookie of the guest. Staging listens on port 8443.",
  ],
  ["Optional Next Step", "Set the SameSite attribute of the session cookie in the payment redirect."],
];

/** Joins sections as Claude Code writes them. */
export const summaryOf = (sections: readonly (readonly [title: string, body: string])[]): string =>
  sections.map(([title, body], index) => `${index + 1}. ${title}:\n${body}`).join("\n\n");

export const HONEST: string = summaryOf(HONEST_SECTIONS);

/** The same facts in other words, in the layout of another agent. */
export const PARAPHRASE = `## Goal
The user wants a booking service for kayak rentals where customers reserve boats online.

## Constraints & Preferences
- The passport number of a customer must never be stored.
- Prices are always written in whole cents.
- Staging server: port 8443, timeout of 45 seconds.
- The user first asked to create a PDF report of all reservations for the harbor master, but cancelled the PDF report: they no longer need it.

## Progress
### Done
- [x] New endpoint that reserves kayaks without overlap in src/reserve-kayak.ts, weekend prices in src/tariff-table.ts (TariffEngine, Fastify)
- [x] Staging configured in deploy/staging.yaml
- [x] Two guests could book the same boat: a unique index on kayak and start hour was missing, added in migrations/add-unique-index.sql. vitest passes, lint is clean.
### In Progress
- Checkout page: the guest's session cookie gets lost in the payment redirect (e2e/checkout.spec.ts still fails)
### Pending
- Reminder mail, sent one day before the trip

## Key Decisions
- **SQLite for the reservations**: the harbor office runs no database server

## Next Steps
1. Set SameSite on the session cookie in the payment redirect
`;

/** The same facts as prose without headings. */
export const PROSE = `The user asked for a booking service for kayak rentals, so that customers reserve boats online. The
passport number of a customer must never be stored, and prices are always written in whole cents. Staging listens on port
8443 with a timeout of 45 seconds (deploy/staging.yaml). A PDF report of all reservations for the harbor master was
requested first, but the user cancelled the PDF report because the harbor master no longer needs it.

The assistant implemented the endpoint in src/reserve-kayak.ts with Fastify, and the weekend prices in
src/tariff-table.ts, which TariffEngine computes. It stores the reservations in SQLite because the harbor office runs no
database server. Two guests could book the same boat because a unique index on kayak and start hour was missing, which
migrations/add-unique-index.sql added. The vitest suite passes and lint is clean, but e2e/checkout.spec.ts still fails.

The assistant is currently working on the checkout page, where the payment redirect loses the session cookie of the guest.
A reminder mail one day before the trip is still to do. The next step is to set the SameSite attribute of the session
cookie in the payment redirect.
`;

export const POOR = `The user wants a booking service for kayak rentals, in which customers reserve boats. Some files were changed and the tests were run.
There was an error in the database, which was handled. Work goes on with the website.`;

/** True words with turned statements, and literals that the session does not contain. */
export const HOSTILE = `1. Primary Request and Intent:
- Create a PDF report of all reservations for the harbor master.

2. Key Technical Concepts:
- Version 9.7.3 of the renderer, 640 MB of memory, 97% coverage

3. Files and Code Sections:
- src/report/pdf-writer.ts
- src/harbor-master/mailer.ts
- config/oracle-pool.json

4. Errors and Fixes:
- e2e/checkout.spec.ts passed, the checkout is fixed.
- The server moved to port 5551 after 720 requests.
- The lint still fails.

6. All User Messages:
- "Rent the kayaks to penguins and let sea lions pay with fish"

7. Pending Tasks:
- Create the endpoint that reserves a kayak without overlap
- Write the weekend tariff into the price table

9. Optional Next Step:
- Create the PDF report of all reservations for the harbor master.
`;

export const LOREM = `1. Primary Request and Intent:
Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore.

7. Pending Tasks:
- Ut enim ad minim veniam, quis nostrud exercitation ullamco laboris nisi ut aliquip.

9. Optional Next Step:
Duis aute irure dolor in reprehenderit in voluptate velit esse cillum dolore.
`;

export const HOLLOW = `1. Primary Request and Intent:
- The user asked for a good solution and wants the important work to be finished well.

4. Errors and Fixes:
- An error came up, its cause was found, and the team fixed it properly.

5. Problem Solving:
- It was decided to use the better approach because it is cleaner and easier to maintain.

7. Pending Tasks:
- Some tasks remain, and they need to be done soon.

8. Current Work:
The current work makes good progress on the main feature.

9. Optional Next Step:
Continue with the next step of the plan.
`;
