// queue show: one message whole, and everything that keeps it waiting.
import { toTimestamp } from '../../base/clock.ts';
import type { MessageExplanation } from '../../delivery/actions/explain.ts';
import { done, failed } from '../../operator/answer.ts';
import { replyLine } from '../../protocol/smtp/reply.ts';
import { hostAndPort } from '../../protocol/smtp/tried-hosts.ts';
import type { AttemptRecord, MessageDetail } from '../../store/queue.ts';
import { storeCommand } from '../command.ts';
import { positional, required, uuid } from '../option.ts';
import { type Column, printable, renderFacts, renderTable } from '../table.ts';
import {
  noMessage,
  optionalTimestamp,
  pauseText,
  reasonLine,
  type ShownMessage,
  type ShownReason,
  showMessage,
  showReason,
} from './queued-message.ts';

export const queueShow = storeCommand({
  name: 'queue show',
  summary: 'Shows a queued or finished message with all its attempts, and why it is waiting.',
  options: { id: required(positional(uuid('ID', 'the message'))) },
  async run({ store, queue }, { id }) {
    const detail = await store.queue.getMessage(id);
    if (!detail) return failed(noMessage(id));
    const { id: messageId, tenant_id, ...rest } = await showMessage(store, detail);
    const tenant = (await store.tenants.getTenant(tenant_id))?.name ?? null;
    const message = { id: messageId, tenant_id, tenant, ...rest };
    return done(showDetail(detail, message, await queue.explain.message(detail)));
  },
  render({ attempt_list, waits_for, last_reply, notes, paused, ...rest }) {
    const facts = { ...rest, ...(paused && { paused: pauseText(paused) }) };
    const lines = Object.entries(facts).map(([name, value]) => [name.replaceAll('_', ' '), shown(value)] as const);
    const said = last_reply && [
      ['last reply', replyLine(last_reply.smtp_code, last_reply.enhanced_code, last_reply.response)] as const,
      [
        'means',
        last_reply.rule === null ? null : `${last_reply.meaning} (${last_reply.label}, rule ${last_reply.rule})`,
      ] as const,
    ];
    return [
      renderFacts([...lines, ...(said ?? [])]),
      ...(waits_for.length === 0 ? [] : ['', 'It is waiting because', ...waits_for.map(reasonLine)]),
      ...(notes.length === 0
        ? []
        : ['', ...notes.map((note) => `${note.at} ${note.action} by ${note.by}: ${note.note}`)]),
      '',
      renderTable(attempt_list, ATTEMPT_COLUMNS, 'No attempts yet.'),
      ...attempt_list.flatMap(attemptNotes),
    ].join('\n');
  },
});

function showDetail(
  detail: MessageDetail,
  message: ShownMessage & { tenant: string | null },
  { group, reasons, until, lastReply, notes }: MessageExplanation,
) {
  const { from, subject, source, labels, attemptList } = detail;
  const isDue = detail.finishedAt === null && detail.state !== 'sending' && reasons.length === 0;
  const inTurn: ShownReason = {
    code: 'in_turn',
    reason: 'nothing holds it: it is sent when its turn comes',
    until: null,
  };
  return {
    ...message,
    from,
    subject,
    ...(source !== null && { source, header_message_id: labels?.headerMessageId ?? null }),
    group,
    earliest_at: optionalTimestamp(until),
    waits_for: isDue ? [inTurn] : reasons.map(showReason),
    last_reply: lastReply && {
      smtp_code: lastReply.smtpCode,
      enhanced_code: lastReply.enhancedCode,
      response: lastReply.response,
      rule: lastReply.rule,
      label: lastReply.label,
      meaning: lastReply.meaning,
    },
    notes: notes.map(({ at, by, action, note }) => ({ at: toTimestamp(at), by, action, note })),
    attempt_list: attemptList.map(showAttempt),
  };
}

function showAttempt({ attempt, startedAt, outcome, peer }: AttemptRecord) {
  return {
    attempt,
    started_at: toTimestamp(startedAt),
    outcome,
    stage: peer.stage,
    mx: peer.mx,
    remote_ip: peer.remoteIp,
    tls: peer.tls,
    tls_policy: peer.tlsPolicy,
    smtp_code: peer.smtpCode,
    enhanced_code: peer.enhancedCode,
    response: peer.response,
    elapsed_ms: Math.round(peer.elapsedMs),
    tried: (peer.tried ?? []).map((host) => ({
      mx: host.mx,
      remote_ip: host.ip,
      port: host.port,
      stage: host.stage,
      smtp_code: host.smtpCode,
      enhanced_code: host.enhancedCode,
      response: host.response,
    })),
  };
}

/** What has no room in the table: that mail went without the TLS that was wished for, and each address that was called. */
function attemptNotes({ attempt, tls, tls_policy: policy, tried }: ReturnType<typeof showAttempt>): string[] {
  const how = tls === null ? 'fell back to clear text' : 'TLS';
  const lines = policy.failure === null ? [] : [`Attempt ${attempt} ${how}: ${policy.failure}`];
  const hosts = tried.map(
    ({ mx, remote_ip: ip, port, stage, ...said }) =>
      `- ${mx} ${hostAndPort({ ip, port })} ${stage}: ${replyLine(said.smtp_code, said.enhanced_code, said.response)}`,
  );
  if (hosts.length > 0) lines.push(`Attempt ${attempt} tried these servers; none opened a session:`, ...hosts);
  return lines.length === 0 ? [] : ['', ...lines.map(printable)];
}

const ATTEMPT_COLUMNS: Column<ReturnType<typeof showAttempt>>[] = [
  { title: '#', value: (each) => each.attempt },
  { title: 'STARTED', value: (each) => each.started_at },
  { title: 'OUTCOME', value: (each) => each.outcome },
  { title: 'SERVER', value: (each) => each.mx },
  { title: 'STAGE', value: (each) => each.stage },
  { title: 'TLS', value: (each) => each.tls?.version ?? (each.tls_policy.failure === null ? null : 'clear text') },
  { title: 'MS', value: (each) => each.elapsed_ms },
  { title: 'RESPONSE', value: (each) => replyLine(each.smtp_code, each.enhanced_code, each.response) },
];

function shown(value: string | number | boolean | null): string | number | null {
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : value;
}
