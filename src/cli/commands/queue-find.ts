// queue find: messages of all tenants, finished ones too, by what a person knows of them.
import { toTimestamp } from '../../base/clock.ts';
import { done, failed } from '../../operator/answer.ts';
import { databaseProblem, dataFolder } from '../../operator/data-folder.ts';
import { readSearchText } from '../../operator/search-text.ts';
import { MESSAGE_STATES } from '../../store/queue.ts';
import type { FoundMessage, MessagePage } from '../../store/reads.ts';
import { findTenant, type NamedTenant } from '../../tenants/find-tenant.ts';
import { localCommand } from '../command.ts';
import { oneOf, positional, required, tenantName, text, wholeNumber } from '../option.ts';
import { fromRefused } from '../refusal.ts';
import { type Column, renderTable } from '../table.ts';

const DEFAULT_LIMIT = 50;
/** For all tenants. An operator waits for it; the daemon does not, since this process reads on its own. */
const BUDGET_MS = 10_000;
/** So that the last tenant gets some of it, too. */
const MIN_BUDGET_MS = 20;

interface Found extends FoundMessage {
  tenant: NamedTenant;
}

export const queueFind = localCommand({
  name: 'queue find',
  summary: 'Finds messages, finished ones too, by recipient, domain, part of an ID, or part of a subject or address.',
  options: {
    text: required(
      positional(
        text(
          'TEXT',
          "an address, a domain, part of an ID, or part of a subject or an address; in quotes, it's always the last",
        ),
      ),
    ),
    tenant: tenantName("only this tenant's"),
    state: oneOf('STATE', MESSAGE_STATES, 'only in this state'),
    limit: wholeNumber('N', { min: 1, max: 1000 }, `maximum number of messages; default: ${DEFAULT_LIMIT}`),
  },
  async run(context, { text: typed, tenant: named, state, limit = DEFAULT_LIMIT }) {
    const folder = dataFolder((await context.loadConfig()).config);
    const problem = databaseProblem(folder);
    if (problem !== null) return failed(problem);
    const { tenantsIn, searchIn } = await import('../../operator/own-store.ts');
    const all = await tenantsIn(folder);
    const chosen = named === undefined ? null : findTenant(named, all);
    if (chosen?.kind === 'refused') return fromRefused(chosen);
    const tenants = chosen === null ? all : all.filter(({ id }) => id === chosen.id);
    const { search, meaning } = readSearchText(typed);
    const endsAt = performance.now() + BUDGET_MS;
    const pages: Searched[] = [];
    for (const [index, tenant] of tenants.entries()) {
      const leftMs = (endsAt - performance.now()) / (tenants.length - index);
      const asked = { ...search, ...(state && { state }), limit, budgetMs: Math.max(leftMs, MIN_BUDGET_MS) };
      const page = await searchIn(folder, tenant.id, asked);
      if (page !== null) pages.push({ tenant, page });
    }
    const found = pages.flatMap(({ tenant, page }) => page.messages.map((message): Found => ({ ...message, tenant })));
    const newest = found.toSorted((one, other) => (one.id < other.id ? 1 : -1)).slice(0, limit);
    return done({ searched_for: meaning, messages: newest.map(shown), ...leftOut(pages, found.length > limit) });
  },
  render({ searched_for, messages, more, cut_off }) {
    const none = `No message with this ${NAMED[searched_for]}.`;
    const lines = [renderTable(messages, COLUMNS, none)];
    if (more) lines.push('', 'There are more: --limit shows them.');
    if (cut_off.length > 0)
      lines.push('', ...cut_off.map(({ tenant, back_to }) => `${tenant}: searched back to ${back_to}.`));
    return lines.join('\n');
  },
});

const NAMED = {
  recipient: 'recipient',
  domain: 'recipient domain',
  id: 'ID',
  text: 'text in its subject or recipient',
} as const;

function shown({
  id,
  submissionId,
  tenant,
  recipient,
  from,
  subject,
  state,
  lastReason,
  createdAt,
  finishedAt,
}: Found) {
  return {
    id,
    submission_id: submissionId,
    tenant_id: tenant.id,
    tenant: tenant.name,
    to: recipient,
    from,
    subject,
    state,
    last_reason: lastReason,
    created_at: toTimestamp(createdAt),
    finished_at: finishedAt === null ? null : toTimestamp(finishedAt),
  };
}

interface Searched {
  tenant: NamedTenant;
  page: MessagePage;
}

/** What an empty or short answer must not hide. */
function leftOut(pages: readonly Searched[], isFull: boolean) {
  const stopped = pages.filter(({ page }) => page.stoppedEarly);
  return {
    more: isFull || pages.some(({ page }) => page.next !== null && !page.stoppedEarly),
    cut_off: stopped.map(({ tenant, page }) => ({ tenant: tenant.name, back_to: timeOf(page.next!) })),
  };
}

/** IDs begin with the time. */
function timeOf(id: string): string {
  return toTimestamp(Number.parseInt(id.slice(0, 13).replace('-', ''), 16));
}

type Shown = ReturnType<typeof shown>;

const COLUMNS: Column<Shown>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'ACCEPTED', value: ({ created_at }) => created_at },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'TENANT', value: ({ tenant }) => tenant },
  { title: 'TO', value: ({ to }) => to },
  { title: 'SUBJECT', value: ({ subject }) => subject },
];
