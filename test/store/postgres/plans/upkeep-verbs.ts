// The verbs of lists of addresses, of inbound mail, of accounts, and of what is erased in time.
import { T0 } from '../../conformance/harness.ts';
import { type Asked, HOUR_MS, type HotVerbs, PAGE, SPAN } from './asked.ts';
import { BEGIN, BIG_TENANT, idOf } from './filled.ts';

const NOVEMBER = { firstDay: '2025-12-02', lastDay: '2025-12-03' };

export function suppressionVerbs({ bench }: Asked): HotVerbs {
  const { suppressions } = bench.store;
  const one = { address: 'x@in.test', reason: 'manual', messageId: null, createdAt: T0 } as never;
  return {
    addSuppression: () => suppressions.addSuppression(BIG_TENANT, one),
    getSuppression: () => suppressions.getSuppression(BIG_TENANT, 'gone-0@in.test'),
    findReasonAgainst: () => suppressions.findReasonAgainst(BIG_TENANT, 'gone-0@in.test', T0),
    listSuppressions: () => suppressions.listSuppressions(BIG_TENANT, PAGE),
    'listSuppressions further': () => suppressions.listSuppressions(BIG_TENANT, { after: 'gone-5', limit: 10 }),
    searchSuppressions: () => suppressions.searchSuppressions(BIG_TENANT, { ...PAGE, prefix: 'gone-4', reason: null }),
    'searchSuppressions with no match': () =>
      suppressions.searchSuppressions(BIG_TENANT, { ...PAGE, prefix: 'gone', reason: 'complaint' }),
    listPlatformSuppressions: () => suppressions.listPlatformSuppressions(PAGE),
    removeSuppression: () => suppressions.removeSuppression(BIG_TENANT, 'gone-8@in.test', T0),
    removePlatformSuppression: () => suppressions.removePlatformSuppression('gone-12@in.test'),
    'undoHardBounces of a group': () => suppressions.undoHardBounces({ mxGroup: 'mx4.test', since: T0 - HOUR_MS }, 10),
    'undoHardBounces by rule': () => suppressions.undoHardBounces({ rule: 'rule-3', since: T0 - HOUR_MS }, 10),
    forgetExpiredSuppressions: () => suppressions.forgetExpiredSuppressions(T0, 10),
  };
}

export function inboundVerbs({ bench, samples }: Asked): HotVerbs {
  const { inbound, dmarc } = bench.store;
  const mail = (id: string) => ({
    ...{ id, receivedAt: T0, remoteIp: '192.0.2.1', ehloName: 'x', tls: null, mailFrom: '' },
    ...{ recipients: ['a@bounces.test'], content: Buffer.from('mail') },
  });
  const messageId = samples.delivered[0]!;
  return {
    keepInbound: () => inbound.keepInbound(mail(bench.id())),
    'keepInbound of unasked mail': () => inbound.keepInbound(mail(bench.id()), { of: 'unasked', maxBytes: 10_000_000 }),
    'keepInbound for a message': () =>
      inbound.keepInbound(mail(bench.id()), {
        ...({ of: 'returned', messageId, maxBytes: 10_000_000 } as const),
        ...{ mailsPerDay: 10, bytesPerDay: 1_000_000, waitingBytes: 1000 },
      }),
    waitingInbound: () => inbound.waitingInbound([1], 0, 10),
    noteInterruptedInbound: async () => inbound.noteInterruptedInbound([await bench.owner()], 10),
    findReported: () => inbound.findReported(messageId),
    getInbound: () => inbound.getInbound(idOf('inbound 1')),
    listInbound: () => inbound.listInbound({ limit: 10 }),
    'listInbound of a kind': () => inbound.listInbound({ kind: 'human', limit: 10 }),
    'listInbound of a message': () => inbound.listInbound({ messageId, limit: 10 }),
    forgetInbound: () => inbound.forgetInbound({ content: BEGIN + 60_000, records: BEGIN + 60_000 }, 10),
    freeInboundSpace: () => inbound.freeInboundSpace(10),
    listDmarcDays: () => inbound.listDmarcDays('sender1.test', { since: '2025-12-03', limit: 10 }),
    listDmarcDomains: () => dmarc.listDmarcDomains(NOVEMBER, { after: null, limit: 10 }),
    sumDmarc: () => dmarc.sumDmarc('sender1.test', NOVEMBER, 10),
  };
}

export function accountVerbs({ bench }: Asked): HotVerbs {
  const { accounts, audit, domains } = bench.store;
  const hash = Buffer.alloc(32);
  return {
    findUserByEmail: () => accounts.findUserByEmail('user-7@in.test'),
    findSession: () => accounts.findSession(hash, T0),
    eraseSessions: () => accounts.eraseSessions(T0 + 3000, 10),
    listMembers: () => accounts.listMembers(BIG_TENANT),
    findMailLink: () => accounts.findMailLink(hash, T0),
    listAudit: () => audit.listAudit(BIG_TENANT, { before: null, limit: 10 }),
    listAllAudit: () => audit.listAllAudit({ before: null, limit: 10 }),
    eraseAudit: () => audit.eraseAudit(BEGIN + 3000, 10),
    claimRechecks: async () => {
      const claims = await domains.claimRechecks(T0 + 5000, { limit: 10, leaseUntil: T0 + HOUR_MS });
      await domains.releaseRechecks(claims);
    },
  };
}

export function upkeepVerbs({ bench }: Asked): HotVerbs {
  const { store } = bench;
  return {
    eraseContents: () => store.upkeep.eraseContents({ days: null, before: BEGIN + HOUR_MS, budgetMs: 1000 }),
    'eraseContents, the next': () =>
      store.upkeep.eraseContents({ days: null, before: BEGIN + HOUR_MS, budgetMs: 1000 }),
    eraseRecords: () => store.upkeep.eraseRecords(BEGIN + HOUR_MS, 200),
    markRecipients: () => store.upkeep.markRecipients(T0),
    forgetRecipientMarks: () => store.upkeep.forgetRecipientMarks(10),
    forgetFigures: () => store.figures.forgetFigures(SPAN.fromHour, 10),
    forgetTagFigures: () => store.figures.forgetTagFigures({ hours: SPAN.fromHour, days: SPAN.fromHour }, 10),
    forgetServiceFigures: () => store.figures.forgetServiceFigures(SPAN.fromHour, 10),
    eraseFullBuckets: () => store.limits.eraseFullBuckets(10),
    erasePortions: () => store.limits.erasePortions(10),
    eraseAttempts: () => store.limits.eraseAttempts(T0 + 1000, 10),
    forgottenBeyond: () => store.limits.forgottenBeyond(100),
    forgetSourceUsage: () => store.sources.forgetSourceUsage(Math.floor(BEGIN / (24 * HOUR_MS)) + 3, 10),
    'sweep of written mail': () => store.writtenMails.sweep({ before: T0 + 5000, limit: 10 }),
    putTlsPolicy: () => {
      const policy = { domain: 'new.test', policyId: '1', mode: 'enforce' as const, mx: [], fetchedAt: T0 };
      return store.transportSecurity.putTlsPolicy({ ...policy, expiresAt: T0 + HOUR_MS }, 100_000);
    },
  };
}
