// The parts into which the processor time of a message is split, in the order of its journey, and which source belongs to
// which part. A test holds the table to src/: a folder that is missing here fails it.

/** What each part is; each has a row in the table of a profile. */
export const PARTS = {
  HTTP: 'reads requests and writes responses',
  check: 'key, rate, JSON, addresses and fields of a request, on the main thread',
  accept: 'the rows of an accepted submission',
  schedule: 'which mail may go now, where to, and over which session; DNS',
  claim: 'marks messages as being sent',
  read: 'a message, for the courier',
  compose: 'header and body',
  hash: 'canonical forms of header and body, and the SHA-256 of the body',
  sign: 'two RSA signatures, with the SHA-256 of what they sign',
  SMTP: 'sessions with receiving servers, sockets included',
  record: 'what became of a message: judged, decided, and the rows of it',
  commit: 'BEGIN and COMMIT of a group, whatever its verbs are; sums that are written once per group',
  'database server': 'statements to a PostgreSQL, and its answers; it works in processes of its own',
  checkpoint: 'copies the log of the database into the database',
  webhooks: 'calls of endpoints, and the rows of them',
  inbound: 'mail that comes in: stored, read, acted on',
  figures: 'sums for charts, counted from events behind the commits',
  log: 'log and metrics',
  'crossing threads': 'messages between threads: made, cloned, handed out',
  garbage: 'pauses in which V8 collects garbage',
  'V8 helpers': 'threads of V8: collect garbage and compile while JavaScript runs',
  'event loop': 'of Node and uWebSockets, when no function of ours runs: polls, reads sockets, runs timers',
  'thread pool': 'of Node: files and DNS',
  'other work': 'all that mail does not need: portal, lists, upkeep, start',
  profiler: 'V8 taking the samples; without a profile it is not there',
} as const;

export type Part = keyof typeof PARTS;

/** Belongs to the part of its caller. */
export const CALLER = 'its caller';

export type Owner = Part | typeof CALLER;

/**
 * Folders, files, and single functions of a file, after a blank; the most exact entry counts. Packages and Node's own files
 * belong to their caller unless they are here.
 */
export const OWNERS: Readonly<Record<string, Owner>> = {
  'src/base/': CALLER,
  'src/threads/worker-host.ts': 'crossing threads',
  'src/threads/': 'crossing threads',
  'src/observe/': 'log',

  'src/http/': 'HTTP',
  'src/smtp-listener/': 'HTTP',
  'src/submission/door/': 'HTTP',
  'src/public/': 'HTTP',

  'src/api/': 'check',
  'src/api/body/body-pool.ts': 'crossing threads',
  'src/api/answer.ts': 'HTTP',
  'src/submission/': 'check',
  'src/tenants/': 'check',
  'src/domains/': 'check',
  'src/templates/': 'check',

  // Pure formats, which many parts use.
  'src/protocol/mail/': CALLER,
  'src/protocol/mail/dkim/dkim.ts': 'sign',
  'src/protocol/mail/dkim/dkim.ts hashBody': 'hash',
  'src/protocol/mail/dkim/dkim.ts fieldsByName': 'hash',
  'src/protocol/mail/dkim/dkim.ts coverFields': 'hash',
  'src/protocol/mail/dkim/dkim-canonical.ts': 'hash',
  'src/protocol/dns/': 'schedule',
  'src/protocol/smtp/': 'SMTP',
  'src/events/': CALLER,
  'src/classify/': CALLER,

  'src/delivery/delivery.ts': 'schedule',
  'src/delivery/queue/': 'schedule',
  'src/delivery/queue/claims.ts': 'claim',
  'src/delivery/shaping/': 'schedule',
  'src/delivery/route/': 'schedule',
  'src/delivery/session/': 'schedule',
  'src/delivery/session/courier-thread.ts': 'crossing threads',
  'src/delivery/courier/': 'SMTP',
  'src/delivery/courier/prepare.ts': 'compose',
  'src/delivery/courier/compose-message.ts': 'compose',
  'src/delivery/courier/written-body.ts': 'compose',
  'src/delivery/courier/worker.ts': 'crossing threads',
  'src/delivery/courier/session-port.ts': 'crossing threads',
  'src/delivery/outcome/': 'record',
  'src/delivery/ends/': 'record',
  'src/delivery/actions/': 'other work',
  // Watches how messages end.
  'src/suppression/': 'record',

  // Contracts; a few have a function.
  'src/store/': CALLER,
  'src/store/sqlite/writer-thread.ts': 'crossing threads',
  'src/store/sqlite/writer.ts': 'crossing threads',
  'src/store/sqlite/engine/': CALLER,
  'src/store/sqlite/engine/writer-messages.ts': 'crossing threads',
  'src/store/sqlite/engine/writing-connection.ts': 'commit',
  // Runs one verb. What no file below it claims is a verb that a plain message does not need.
  'src/store/sqlite/engine/writing-connection.ts #work': 'other work',
  'src/store/sqlite/engine/checkpoint-plan.ts': 'checkpoint',
  'src/store/sqlite/engine/checkpoint-thread.ts': 'checkpoint',
  'src/store/sqlite/engine/checkpointer.ts': 'checkpoint',
  'src/store/sqlite/reading/': 'other work',
  'src/store/sql/': CALLER,
  'src/store/sql/reading/': 'other work',
  'src/store/sql/verbs/': 'other work',
  'src/store/sql/verbs/submission/': 'accept',
  'src/store/sql/verbs/message/letters.ts': CALLER,
  'src/store/sql/verbs/message/written-mails.ts': 'accept',
  'src/store/sql/verbs/queue/claims.ts': 'claim',
  'src/store/sql/verbs/queue/orphans.ts': 'claim',
  'src/store/sql/verbs/queue/shaping.ts': 'schedule',
  'src/store/sql/verbs/queue/scheduled.ts': 'schedule',
  'src/store/sqlite/reading/courier-reads.ts': 'read',
  'src/store/sql/verbs/message/contents.ts': 'read',
  'src/store/sql/verbs/domains/transport-security.ts': 'read',
  'src/store/sql/verbs/queue/queue.ts': 'record',
  'src/store/sql/verbs/figures/': 'figures',
  'src/store/sql/verbs/figures/figures.ts countAccepted': CALLER,
  'src/store/sql/verbs/webhooks/': 'webhooks',
  'src/store/sql/verbs/inbound/': 'inbound',
  // Tables that verbs of several parts read or write on the way.
  'src/store/sql/verbs/domains/domains.ts': CALLER,
  'src/store/sql/verbs/message/events.ts': CALLER,
  'src/store/sql/verbs/message/suppressions.ts': CALLER,
  'src/store/sql/verbs/accounts/tenants.ts': CALLER,

  'src/store/postgres/': 'database server',

  'src/certificates/': 'other work',
  'src/cli/': 'other work',
  'src/config/': 'other work',
  'src/daemon/': CALLER,
  'src/doctor/': 'other work',
  'src/inbound/': 'inbound',
  'src/links/': CALLER,
  'src/links/pages/': 'other work',
  'src/links/hit-recorder.ts': 'other work',
  'src/main.ts': 'other work',
  'src/operator/': 'other work',
  'src/portal/': 'other work',
  'src/sandbox/': 'other work',
  'src/upkeep/': 'other work',
  'src/upkeep/count-figures.ts': 'figures',
  'src/webhooks/': 'webhooks',

  'node_modules/hyper-express/': 'HTTP',
  'node_modules/pg/': 'database server',
  'node_modules/pg-protocol/': 'database server',
  'node_modules/pg-types/': 'database server',
  'node_modules/piscina/': 'crossing threads',
  'node_modules/prom-client/': 'log',
  'node_modules/sonic-boom/': 'log',

  'node:internal/per_context/messageport': 'crossing threads',
  'node:internal/worker': 'crossing threads',
  'node:internal/worker/io': 'crossing threads',
  'native postMessage': 'crossing threads',
  'native (garbage collector)': 'garbage',
};
