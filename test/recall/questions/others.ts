import type { NaturalQuestion } from "./natural-question.ts";

/** Questions about four single sessions. */
export const OTHER_QUESTIONS: readonly NaturalQuestion[] = [
  {
    session: "context-evaluator__8209f1c2.jsonl",
    question: "Does a person have to approve the plan before it is executed?",
    answers: [{ uuid: "ae377325-dd26-460d-ade4-32ec2c20879b", start: 923, length: 60 }],
  },
  {
    session: "context-evaluator__8209f1c2.jsonl",
    question: "Should the generated plans be structured data or plain prose?",
    answers: [
      { uuid: "ae377325-dd26-460d-ade4-32ec2c20879b", start: 862, length: 40 },
      { uuid: "70bce0ef-d991-4380-bf89-f4de8e2d9ac5", start: 251, length: 24 },
      { uuid: "dcd25087-425b-46bc-8f8f-fe300a09d4b9", start: 299, length: 28 },
    ],
  },
  {
    session: "context-evaluator__8209f1c2.jsonl",
    question: "What did the user ask for when a repository has Agents.md as well as Claude.md?",
    answers: [{ uuid: "5f46abce-4047-45a4-9e06-c9e29a84af52", start: 122, length: 94 }],
  },
  {
    session: "context-evaluator__8209f1c2.jsonl",
    question: "All phases had finished, so why was the whole remediation job reported as failed?",
    answers: [
      { uuid: "77e43641-bb4e-4018-8de3-37c79f8939bc", start: 505, length: 47 },
      { uuid: "cc836c9c-5431-4dc3-9d66-a7f3eb274283", start: 308, length: 44 },
      { uuid: "4248354b-acea-40e8-bd73-53cfe8dea085", start: 21933, length: 36 },
      { uuid: "b981f3c5-8dfc-48e0-bca8-1cdb0dbf9119", start: 14, length: 28 },
      { uuid: "1eb582b0-4700-4856-9bc0-1871ad9ccab1", start: 512, length: 71 },
    ],
  },
  {
    session: "context-evaluator__8209f1c2.jsonl",
    question: "How many tests does the evaluator project have?",
    answers: [
      { uuid: "d1f1df9a-2eef-4091-8f23-dd61be834d07", start: 0, length: 19 },
      { uuid: "ebb64350-df82-4aa9-82be-2031b9554371", start: 8029, length: 9 },
      { uuid: "7bbf0bce-180c-4fff-9f12-236935632a54", start: 1, length: 9 },
      { uuid: "70bce0ef-d991-4380-bf89-f4de8e2d9ac5", start: 1828, length: 15 },
      { uuid: "16a913c3-460f-47ab-87cc-030b7f9109a5", start: 1, length: 9 },
      { uuid: "1e49eb8f-1588-4f01-b9ef-12f00104e70d", start: 8029, length: 9 },
      { uuid: "f954c594-f8f9-43f5-9926-89bd47eba668", start: 4, length: 15 },
      { uuid: "bc086df2-526c-476a-a483-f4a951b803a1", start: 11, length: 15 },
      { uuid: "9b39eab2-0d6f-4f22-a2a1-1a2bb60e95e4", start: 1, length: 9 },
    ],
  },
  {
    session: "context-evaluator__8209f1c2.jsonl",
    question: "What bug did I find in my own prompts during the review?",
    answers: [
      { uuid: "306d4deb-3c1a-4037-88c3-c84ac82ee497", start: 171, length: 69 },
      { uuid: "9b1add5c-075d-46b0-ae70-2bfc4f9c30a0", start: 183, length: 67 },
    ],
  },
  {
    session: "context-evaluator__8209f1c2.jsonl",
    question: "In which database column are the plans saved?",
    answers: [
      { uuid: "70bce0ef-d991-4380-bf89-f4de8e2d9ac5", start: 1272, length: 39 },
      { uuid: "ae377325-dd26-460d-ade4-32ec2c20879b", start: 5941, length: 14 },
      { uuid: "d16837d4-58ea-4f68-b445-4add68671c6e", start: 72, length: 14 },
      { uuid: "1bc2dc98-ca49-48d9-909d-a8f76d403763", start: 642, length: 14 },
      { uuid: "0d0967dd-6b44-4a7b-bb0a-f39b9df03822", start: 1402, length: 14 },
      { uuid: "d5c4df1c-4af5-492a-97c0-a77773cb96dc", start: 4808, length: 14 },
      { uuid: "e370b73d-1282-4e2d-b0dd-f234a52f3af5", start: 943, length: 14 },
      { uuid: "973c0137-44ac-4674-8409-22c42898c3df", start: 231, length: 14 },
      { uuid: "7bed7b77-d837-4744-98f1-85de40959f3c", start: 2751, length: 14 },
    ],
  },
  {
    session: "context-evaluator__8209f1c2.jsonl",
    question: "Which part of the interface displays old plans when you open an entry of the history?",
    answers: [
      { uuid: "70bce0ef-d991-4380-bf89-f4de8e2d9ac5", start: 1735, length: 68 },
      { uuid: "8797fe53-2859-4e2a-8a8f-432a5cd0a68e", start: 4, length: 42 },
    ],
  },
  {
    session: "context-evaluator__8209f1c2.jsonl",
    question: "May the changes that fix errors be rolled back before the suggestions are worked on?",
    answers: [
      { uuid: "ae377325-dd26-460d-ade4-32ec2c20879b", start: 1371, length: 72 },
      { uuid: "70bce0ef-d991-4380-bf89-f4de8e2d9ac5", start: 512, length: 43 },
    ],
  },
  {
    session: "episodic-memory__large-conversation.jsonl",
    question: "Why did CI fail on lint errors in code that is not on our branch?",
    answers: [
      { uuid: "8e046831-98db-46bb-b710-31f77b289edd", start: 152, length: 70 },
      { uuid: "52851edf-9998-4ec3-98e7-dd0209f311a8", start: 469, length: 37 },
      { uuid: "4b5d1ff7-03cb-41dc-a6bf-93f755b5faca", start: 320, length: 42 },
    ],
  },
  {
    session: "episodic-memory__large-conversation.jsonl",
    question: "What keeps changing the generated Prisma files: db:generate or the formatter?",
    answers: [
      { uuid: "e24355d3-a50d-4030-9d51-cb0b04f50427", start: 4, length: 50 },
      { uuid: "0bdbef6a-97b2-46bd-b7dc-68c8472828ec", start: 34, length: 46 },
      { uuid: "cf10adcc-9db0-4f4a-88a5-4dd1e094f59e", start: 29, length: 38 },
      { uuid: "9efa1696-7560-476d-84a3-87c14c4cc728", start: 134, length: 43 },
    ],
  },
  {
    session: "episodic-memory__large-conversation.jsonl",
    question: "Why did the chat show [object][object] instead of text?",
    answers: [
      { uuid: "8963556e-cd6c-4fbb-9817-9a135275fe43", start: 126, length: 81 },
      { uuid: "7e74cda8-048a-4383-b291-407bc6b86dca", start: 142, length: 39 },
      { uuid: "2bf93d3a-4982-42ce-8982-416b1b694526", start: 520, length: 71 },
    ],
  },
  {
    session: "episodic-memory__large-conversation.jsonl",
    question: "How should the abort listener be written, according to the review?",
    answers: [
      { uuid: "dfc17f4a-b1de-4399-86ab-2fff118facc6", start: 148, length: 34 },
      { uuid: "88c990e7-1c7d-4c91-8d9c-f73e3386f68c", start: 114, length: 45 },
      { uuid: "ba5ec05e-f96e-4582-b5a4-2e738e9d72c8", start: 18, length: 43 },
      { uuid: "1dac18e6-17b1-40bc-87ed-124826c439b9", start: 249, length: 36 },
    ],
  },
  {
    session: "episodic-memory__large-conversation.jsonl",
    question: "How large may the SSE buffer grow?",
    answers: [
      { uuid: "98b54e69-9991-4ce5-9f91-4957646e17fb", start: 277, length: 40 },
      { uuid: "00c3dc92-5e14-4360-a7b3-6864e7e62d74", start: 1821, length: 31 },
      { uuid: "5af86ce3-6dbc-45f5-b398-7e6b821d388d", start: 591, length: 25 },
      { uuid: "1a22d2f6-4e47-460c-9dfd-239501b9c1b8", start: 583, length: 25 },
      { uuid: "207366f1-dabc-4a52-8711-7f4718c4a4be", start: 221, length: 11 },
    ],
  },
  {
    session: "episodic-memory__large-conversation.jsonl",
    question: "Which number has the PR with the fixes, after the first PR was merged?",
    answers: [
      { uuid: "68c637fa-ce44-4a13-84ab-582be1483179", start: 0, length: 47 },
      { uuid: "87fcb4e3-4458-4e75-9896-d52b809844f0", start: 26, length: 47 },
      { uuid: "5c768972-51a3-4a16-93ff-0f8d3dfcc01f", start: 683, length: 23 },
      { uuid: "dd5f5665-985a-409d-bf8f-3d8abd89a842", start: 486, length: 23 },
      { uuid: "1dac18e6-17b1-40bc-87ed-124826c439b9", start: 737, length: 23 },
      { uuid: "376dde4b-24f0-4830-a795-7eb762c67c9f", start: 721, length: 23 },
      { uuid: "98b54e69-9991-4ce5-9f91-4957646e17fb", start: 872, length: 23 },
    ],
  },
  {
    session: "episodic-memory__large-conversation.jsonl",
    question: "Which key of the knip config was rejected as unknown?",
    answers: [
      { uuid: "b8d780f8-d565-402e-87e7-cc28a4bb1e56", start: 25, length: 59 },
      { uuid: "ed4e7657-6336-4a61-af55-7db8e6961562", start: 122, length: 26 },
    ],
  },
  {
    session: "episodic-memory__large-conversation.jsonl",
    question: "The planning page received an empty error instead of events. What had I changed to break it?",
    answers: [
      { uuid: "396943f7-fd33-4af8-9e90-a85d451becd6", start: 370, length: 81 },
      { uuid: "947465cf-269a-4dff-8807-5b48d6bc1eae", start: 123, length: 93 },
      { uuid: "2bf93d3a-4982-42ce-8982-416b1b694526", start: 380, length: 63 },
      { uuid: "7b5c2e20-1c5e-48e7-8cc5-3f2de596c130", start: 122, length: 38 },
    ],
  },
  {
    session: "episodic-memory__large-conversation.jsonl",
    question: "Was it the single tokens or the final message that did not stream properly?",
    answers: [
      { uuid: "842ba9e3-7bdc-4494-b0f0-8fb6a4996aa9", start: 0, length: 47 },
      { uuid: "ef2b2961-9722-4eab-8e1a-397841f6b009", start: 14, length: 52 },
    ],
  },
  {
    session: "episodic-memory__large-conversation.jsonl",
    question: "Which lefthook check blocked the Prisma files?",
    answers: [
      { uuid: "5c938e73-5c82-43ec-a368-185408179180", start: 23, length: 59 },
      { uuid: "7af80bb2-ef52-4ba8-8d71-5f9f73f6bddd", start: 634, length: 19 },
      { uuid: "249462db-08ab-450f-9707-c7c11569cc21", start: 206, length: 12 },
    ],
  },
  {
    session: "episodic-memory__large-conversation.jsonl",
    question: "The reviewer wanted the content wrapped in an object for sendToSession. Why did I disagree?",
    answers: [
      { uuid: "b90a9bb7-e5d2-42aa-b121-b29ca622f9ad", start: 320, length: 60 },
      { uuid: "f5c8c000-54d0-4f4e-8acc-a99c7bd67d3c", start: 172, length: 36 },
      { uuid: "3153c64c-b828-426d-b4cc-3504f1105a0b", start: 163, length: 55 },
      { uuid: "5c768972-51a3-4a16-93ff-0f8d3dfcc01f", start: 169, length: 33 },
    ],
  },
  {
    session: "episodic-memory__large-conversation.jsonl",
    question: "How did we get the commit past the failing hooks in the end?",
    answers: [
      { uuid: "926d8e62-f3c9-44b3-875d-488759fc8d74", start: 11, length: 35 },
      { uuid: "9e752dd5-bb87-4223-86ab-fa042487624e", start: 12, length: 22 },
      { uuid: "3d85ee11-9e03-4d32-9366-aea0c1a57baa", start: 13, length: 42 },
      { uuid: "e037fc59-1e8f-4cea-9aa1-e87c881e2962", start: 446, length: 28 },
    ],
  },
  {
    session: "episodic-memory__large-conversation.jsonl",
    question: "Which component had duplicate interfaces after the rebase?",
    answers: [
      { uuid: "ff6d9a40-95c7-44eb-8796-1bda41a0b0fd", start: 64, length: 32 },
      { uuid: "5508c174-b862-49c3-a1e8-b5d3ee0875ba", start: 32, length: 31 },
    ],
  },
  {
    session: "episodic-memory__large-conversation.jsonl",
    question: "How many commits had to be replayed onto the main branch?",
    answers: [
      { uuid: "d9629967-bcd5-4cbb-bbd9-3a07842cd150", start: 26, length: 42 },
      { uuid: "e1dbfca1-8b6c-40fb-a001-1d4abf7a5b8b", start: 71, length: 22 },
    ],
  },
  {
    session: "sniffly__d3ad4cdc.jsonl",
    question: "What did the user think was missing for the sounds to be music?",
    answers: [
      { uuid: "fda6190e-db94-4b7c-9ba9-99186a073ac2", start: 45, length: 74 },
      { uuid: "786adc06-6c6a-4344-b6f3-1b9a2daa8783", start: 189, length: 54 },
    ],
  },
  {
    session: "sniffly__d3ad4cdc.jsonl",
    question: "Which model has the most diverse embeddings, and what is its score?",
    answers: [
      { uuid: "171001ad-7efb-47b9-9d88-b7c11636dfa5", start: 64, length: 46 },
      { uuid: "b0c91c89-5cdf-41fd-adf4-98855d12e9f2", start: 19192, length: 28 },
      { uuid: "32fe4253-631d-49e4-a531-d3a2d1c61742", start: 594, length: 21 },
      { uuid: "29feee6d-06ea-4705-a172-263fdc109fb8", start: 501, length: 21 },
    ],
  },
  {
    session: "sniffly__d3ad4cdc.jsonl",
    question: "Why did nearly every text sound like church music?",
    answers: [{ uuid: "6a82daae-7c58-4666-bb61-057abfd980b4", start: 44, length: 76 }],
  },
  {
    session: "sniffly__d3ad4cdc.jsonl",
    question: "syntax error?",
    answers: [{ uuid: "cf75a0eb-a4c1-42d6-a384-0528dd5ad6c5", start: 215, length: 67 }],
  },
  {
    session: "session-share__images-in-user-messages.jsonl",
    question: "session id?",
    answers: [
      { uuid: "bab598a3-1a68-47f7-b59c-5d2778183071", start: 19, length: 36 },
      { uuid: "4c4bf725-bfc4-48e0-b4bb-bec9ca3ad13d", start: 19, length: 36 },
      { uuid: "a538151b-3636-4292-8879-1c1fc5b57158", start: 176, length: 36 },
      { uuid: "2420ac09-02de-40ab-bb4e-e8d756fe3525", start: 128, length: 36 },
    ],
  },
];
