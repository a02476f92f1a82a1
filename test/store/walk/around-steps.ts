// Steps of the walk: what follows from mail. Webhooks, mail that comes in, opens and clicks, charts, retention.
import { atStep } from '../../../src/base/backoff.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../src/base/clock.ts';
import type { InboundAction, InboundEffect, InboundUpdate, InboundVerdict } from '../../../src/store/inbound.ts';
import type { DeliveryEnd, DeliveryPosition } from '../../../src/store/webhooks.ts';
import { newHits, UNSUSPICIOUS } from '../conformance/tracking.ts';
import { newEvent, newNote } from './message-steps.ts';
import { type ModelDelivery, type ModelMessage, type ModelWebhook, newDelivery } from './model.ts';
import type { Step, Walk } from './walk.ts';

const due = ({ deliveries }: ModelWebhook, now: number) =>
  [...deliveries.values()]
    .filter(({ dueAt }) => dueAt !== null && dueAt <= now)
    .sort((a, b) => a.dueAt! - b.dueAt! || a.event.seq - b.event.seq);

async function claimDeliveries(walk: Walk): Promise<void> {
  const webhook = walk.pick(walk.model.webhooks.values());
  if (!webhook) return;
  const limit = walk.oneOf(1, 3, 10);
  const leaseUntil = [walk.now + MINUTE_MS, walk.now + HOUR_MS];
  const wanted = due(webhook, walk.now).slice(0, limit);
  const [claimed] = await walk.store.webhooks.claimDeliveries([{ webhookId: webhook.id, limit }], {
    owners: [walk.owner],
    now: walk.now,
    leaseUntil,
  });
  for (const delivery of wanted) {
    delivery.attempts++;
    delivery.leased = true;
    delivery.dueAt = atStep(leaseUntil, delivery.attempts - delivery.attemptsBefore)!;
  }
  walk.same(
    claimed!.deliveries.map(({ event, attempt, step }) => ({ id: event.id, type: event.type, attempt, step })),
    wanted.map(({ event: { id, type }, attempts: attempt, attemptsBefore }) => {
      return { id, type, attempt, step: attempt - attemptsBefore };
    }),
    'claimDeliveries',
  );
}

function randomEnd(walk: Walk): DeliveryEnd {
  const to = walk.oneOf('delivered', 'due', 'failed', 'released');
  return to === 'due' ? { to, dueAt: walk.now + walk.oneOf(1000, HOUR_MS) } : { to };
}

function end(delivery: ModelDelivery, result: DeliveryEnd, at: number): void {
  delivery.leased = false;
  if (result.to === 'due') delivery.dueAt = result.dueAt;
  else if (result.to === 'released') {
    delivery.attempts--;
    delivery.dueAt = at;
  } else Object.assign(delivery, { state: result.to, dueAt: null, finishedAt: at });
}

async function recordDelivery(walk: Walk): Promise<void> {
  const webhook = walk.pick(walk.model.webhooks.values());
  const delivery = webhook && walk.pick(webhook.deliveries.values());
  if (!delivery) return;
  // Of the attempt under way, or of one whose lease is over.
  const late = walk.chance(0.2);
  const result = randomEnd(walk);
  const owner = walk.chance(0.1) ? walk.formerOwner : walk.owner;
  const attempt = delivery.attempts - (late ? 1 : 0);
  const of = { webhookId: webhook.id, eventSeq: delivery.event.seq, attempt, step: attempt, owner };
  const facts = { startedAt: walk.now, elapsedMs: 5, status: 200, reason: 'It was 200.', answer: null };
  const counts = !late && delivery.leased && owner === walk.owner;
  const dropped = await walk.store.webhooks.recordDeliveries([{ delivery: of, end: result, ...facts }], walk.now);
  walk.same(dropped, counts ? 0 : 1, 'recordDeliveries');
  if (counts) end(delivery, result, walk.now);
}

async function replayDelivery(walk: Walk): Promise<void> {
  const webhook = walk.pick(walk.model.webhooks.values());
  if (!webhook) return;
  const event = walk.pick(walk.model.events.filter(({ tenantId }) => tenantId === webhook.tenantId));
  if (!event) return;
  const delivery = webhook.deliveries.get(event.id);
  const target = { webhookId: webhook.id, eventId: event.id };
  const outcome = await walk.store.webhooks.replayDelivery(webhook.tenantId, target, walk.now);
  walk.same(outcome, delivery?.leased ? 'under_way' : 'due', 'replayDelivery');
  if (!delivery) webhook.deliveries.set(event.id, newDelivery(event, walk.now));
  else if (!delivery.leased) {
    Object.assign(delivery, { state: 'due', attemptsBefore: delivery.attempts, dueAt: walk.now, finishedAt: null });
  }
}

async function replayFailed(walk: Walk): Promise<void> {
  const webhook = walk.pick(walk.model.webhooks.values());
  if (!webhook) return;
  const since = walk.now - walk.oneOf(HOUR_MS, DAY_MS);
  const failed = [...webhook.deliveries.values()].filter((one) => one.state === 'failed' && one.finishedAt! >= since);
  const target = { webhookId: webhook.id, since, limit: 1000 };
  walk.same(await walk.store.webhooks.replayFailed(webhook.tenantId, target, walk.now), failed.length, 'replayFailed');
  for (const delivery of failed) {
    Object.assign(delivery, { state: 'due', attemptsBefore: delivery.attempts, dueAt: walk.now, finishedAt: null });
  }
}

/** Page by page, in the order that the contract promises. */
async function listDeliveries(walk: Walk): Promise<void> {
  const webhook = walk.pick(walk.model.webhooks.values());
  if (!webhook) return;
  const { id: webhookId, tenantId } = webhook;
  const state = walk.oneOf('due', 'delivered', 'failed', null);
  const all = [...webhook.deliveries.values()].filter((one) => (state ?? one.state) === one.state);
  const bySeq = (one: ModelDelivery, two: ModelDelivery) => two.event.seq - one.event.seq;
  if (state === 'failed') all.sort((one, two) => two.finishedAt! - one.finishedAt! || bySeq(one, two));
  else if (state === 'due') all.sort((one, two) => one.dueAt! - two.dueAt! || bySeq(two, one));
  else all.sort(bySeq);
  const seen: { eventId: string; state: string; attempts: number }[] = [];
  for (let after: DeliveryPosition | null = null; ; ) {
    const page = await walk.store.webhooks.listWebhookDeliveries(tenantId, { webhookId, state, after, limit: 3 });
    if (page === null || page === 'unknown') return walk.same(page, 'a page', 'listWebhookDeliveries');
    seen.push(...page.deliveries.map(({ eventId, state, attempts }) => ({ eventId, state, attempts })));
    if (page.next === null) break;
    after = page.next;
  }
  const wanted = all.map(({ event, state, attempts }) => ({ eventId: event.id, state, attempts }));
  walk.same(seen, wanted, `listWebhookDeliveries, ${state}`);
}

async function keepInbound(walk: Walk): Promise<void> {
  const id = walk.id();
  const content = Buffer.from('Subject: hello\r\n\r\nhello\r\n');
  const reception = { remoteIp: '192.0.2.1', ehloName: 'x.test', tls: null, mailFrom: '', recipients: ['b1@b.test'] };
  await walk.store.inbound.keepInbound({ id, receivedAt: walk.now, ...reception, content });
  const [mail] = (await walk.store.inbound.waitingInbound([1], 0, 1000)).filter((one) => one.id === id);
  walk.same(mail?.content, content, 'the mail that was kept');
  walk.model.inbound.set(id, { id, seq: mail!.seq, receivedAt: walk.now, processedAt: null });
}

async function noteRefused(walk: Walk): Promise<void> {
  const [id, receivedAt] = [walk.id(), walk.now];
  const reception = { remoteIp: '192.0.2.1', ehloName: 'x.test', tls: null, mailFrom: '', recipients: ['b1@b.test'] };
  await walk.store.inbound.noteRefusedInbound({ id, receivedAt, ...reception, sizeBytes: 7, reply: '554 5.6.0 no' });
  // Nobody has to act on it.
  walk.model.inbound.set(id, { id, seq: -1, receivedAt, processedAt: receivedAt });
}

function randomAction(walk: Walk, message: ModelMessage): InboundAction {
  const suppressionKey = message.recipient;
  switch (walk.oneOf('bounce', 'complaint', 'unsubscribe')) {
    case 'bounce': {
      const suppress = walk.chance(0.5) ? newNote(walk, message) : null;
      return { do: 'bounce', bounce: suppress ? 'hard' : 'soft', suppress, event: newEvent(walk, 'email.bounced') };
    }
    case 'complaint':
      return {
        do: 'complaint',
        suppressionKey: walk.chance(0.8) ? suppressionKey : null,
        reason: 'complaint',
        weight: 1,
        event: newEvent(walk, 'email.complained'),
      };
    default:
      return { do: 'unsubscribe', suppressionKey };
  }
}

/** Whether it finds something to do; then it is done. */
function act(walk: Walk, message: ModelMessage, action: InboundAction, at: number): boolean {
  const { model } = walk;
  const entry = { address: message.recipient, messageId: message.id, createdAt: at };
  if (action.do === 'unsubscribe')
    return model.suppress(message.tenantId, { ...entry, reason: 'unsubscribe' }) === 'added';
  if (action.do === 'complaint') {
    if (message.complained) return false;
    message.complained = true;
    if (action.suppressionKey !== null) model.suppress(message.tenantId, { ...entry, reason: 'complaint' });
    model.addEvent(message, action.event);
    return true;
  }
  if (action.do !== 'bounce') return false;
  // Only the address of a message that has bounced softly can still be suppressed, without an effect on the message.
  if (action.suppress && message.bounce === 'soft') model.suppressHardBounce(message, at, action.suppress);
  if (['bounced', 'failed', 'canceled'].includes(message.state) || message.attempts === 0) return false;
  const ended = {
    state: 'bounced',
    bounce: action.bounce,
    dueAt: null,
    ambiguous: false,
    parked: false,
    finishedAt: at,
  } as const;
  Object.assign(message, ended);
  if (action.suppress) model.suppressHardBounce(message, at, action.suppress);
  model.addEvent(message, action.event);
  return true;
}

const EFFECT_OF: Record<InboundAction['do'], InboundEffect> = {
  bounce: 'bounced',
  complaint: 'complained',
  unsubscribe: 'unsubscribed',
  delay_notice: 'deferred',
  dmarc: 'stored',
};

async function recordInbound(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const mail = [...model.inbound.values()].find(({ processedAt }) => processedAt === null);
  const message = walk.pick(model.messages.values());
  if (!mail || !message) return;
  const at = walk.tick();
  const action = randomAction(walk, message);
  const of = { messageId: message.id, tenantId: message.tenantId, finding: {} };
  const verdict: InboundVerdict = {
    kind: 'report',
    effect: EFFECT_OF[action.do],
    reason: 'said so',
    digest: null,
    ...of,
  };
  const update: InboundUpdate = { seq: mail.seq, at, owner: walk.owner, verdict, action };
  const late = await store.inbound.recordInbound({ ...update, owner: walk.formerOwner });
  walk.same(late, { kind: 'unchanged', why: 'not_owner' }, 'recordInbound by a former owner');
  const result = await store.inbound.recordInbound(update);
  const effect = act(walk, message, action, at) ? verdict.effect : 'none';
  walk.same(result.kind === 'recorded' && result.effect, effect, 'recordInbound');
  mail.processedAt = at;
  walk.same(await store.inbound.recordInbound(update), { kind: 'unchanged', why: 'processed' }, 'recordInbound twice');
}

async function forgetInbound(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const before = { content: walk.now - HOUR_MS, records: walk.now - 6 * HOUR_MS };
  while ((await store.inbound.forgetInbound(before, 100)) > 0);
  for (const { id, receivedAt, processedAt } of model.inbound.values()) {
    if (processedAt !== null && receivedAt < before.records) model.inbound.delete(id);
  }
  const left = await store.inbound.listInbound({ limit: 1000 });
  const ids = left === 'unknown' ? left : left.map(({ id }) => id).toSorted();
  walk.same(ids, [...model.inbound.keys()].toSorted(), 'forgetInbound');
}

async function recordHits(walk: Walk): Promise<void> {
  const message = walk.pick(walk.model.messages.values());
  if (!message) return;
  const { id: messageId, tenantId, opens } = message;
  const opened = newHits(walk, { link: null, hits: walk.oneOf(1, 3), firstAt: walk.now });
  const gone = { tenantId, messageId: walk.id(), links: [newHits(walk)] };
  await walk.store.tracking.recordHits([{ tenantId, messageId, links: [opened] }, gone], UNSUSPICIOUS);
  opens.hits += opened.hits;
  if (opens.lastEventAt === null || walk.now - opens.lastEventAt >= MINUTE_MS) {
    opens.lastEventAt = walk.now;
    walk.model.addEvent(message, { id: opened.eventId, type: 'email.opened', at: walk.now, data: {} });
  }
  const found = await walk.store.tracking.findTracked(tenantId, messageId);
  walk.same(
    found?.links.map(({ hits, lastEventAt }) => ({ hits, lastEventAt })),
    [opens],
    'recordHits',
  );
}

async function count(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const tally = await store.figures.tallyNext(walk.oneOf(3, 1000));
  walk.same(await store.figures.addTally(tally), true, 'addTally');
  if (tally.to > tally.from) walk.same(await store.figures.addTally(tally), false, 'addTally twice');
  model.countedTo = tally.to;
}

async function eraseRecords(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const before = walk.now - walk.oneOf(0, HOUR_MS, DAY_MS);
  const finished = [...model.messages.values()]
    .filter(({ finishedAt }) => finishedAt !== null && finishedAt <= before)
    .sort((a, b) => a.finishedAt! - b.finishedAt! || (a.id < b.id ? -1 : 1))
    .slice(0, 100);
  const isCounted = (message: ModelMessage) =>
    model.events.every(({ messageId, seq }) => messageId !== message.id || seq <= model.countedTo);
  const stop = finished.findIndex((message) => !isCounted(message));
  const erased = stop < 0 ? finished : finished.slice(0, stop);
  walk.same((await store.upkeep.eraseRecords(before, 60_000)).erased, erased.length, 'eraseRecords');
  for (const message of erased) {
    model.eraseMessage(message);
    walk.same(await store.queue.getMessage(message.id), null, 'an erased message');
  }
}

async function eraseContents(walk: Walk): Promise<void> {
  const { model, store, contents } = walk;
  const before = walk.now;
  while ((await store.upkeep.eraseContents({ days: null, before, budgetMs: 60_000 })).more);
  for (const { id, messageIds } of model.submissions.values()) {
    const messages = messageIds.map((id) => model.messages.get(id)!);
    const isOpen = messages.some(({ finishedAt }) => finishedAt === null);
    if (!isOpen) model.eraseWritten(id);
    const { kind } = await contents.read(messageIds[0]!);
    if (kind !== (isOpen ? 'content' : 'unreadable'))
      walk.same(kind, isOpen, 'the content of a submission that is open');
  }
}

export const aroundSteps: readonly Step[] = [
  { name: 'claimDeliveries', weight: 5, run: claimDeliveries },
  { name: 'recordDeliveries', weight: 5, run: recordDelivery },
  { name: 'replayDelivery', weight: 0.5, run: replayDelivery },
  { name: 'replayFailed', weight: 0.5, run: replayFailed },
  { name: 'listWebhookDeliveries', run: listDeliveries },
  { name: 'keepInbound', weight: 2, run: keepInbound },
  { name: 'noteRefusedInbound', weight: 0.5, run: noteRefused },
  { name: 'recordInbound', weight: 2, run: recordInbound },
  { name: 'forgetInbound', weight: 0.5, run: forgetInbound },
  { name: 'recordHits', weight: 1, run: recordHits },
  { name: 'tally', weight: 2, run: count },
  { name: 'eraseRecords', weight: 2, run: eraseRecords },
  { name: 'eraseContents', weight: 0.5, run: eraseContents },
];
