// Wires up the traces: what the parts of the daemon tell, in the words of src/observe/traces/, which is loaded only when
// `traces.endpoint` is set. A part of the wiring list in daemon.ts.
import type { Clock } from '../base/clock.ts';
import type { ClosingStack } from '../base/closing-stack.ts';
import { programVersion } from '../base/program-version.ts';
import type { Config } from '../config/keys.ts';
import type { RecordedAttempt } from '../delivery/outcome/recorder.ts';
import type { Logger } from '../observe/log.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { MailTraces } from '../observe/traces/mail-traces.ts';
import type { StoredSubmission } from '../submission/prepare-submission.ts';
import type { EndpointCall } from '../webhooks/attempt.ts';
import { readHeaderFile } from './header-file.ts';

/** As long as the last results of deliveries get: when it begins, `stop.grace` may be used up. */
const LAST_EXPORT_MS = 2000;

/** Null: they are off. */
export async function openMailTraces(
  { traces, stop }: Pick<Config, 'traces' | 'stop'>,
  { log, metrics }: { log: Logger; metrics: Metrics | null },
  opened: ClosingStack,
): Promise<MailTraces | null> {
  if (traces.endpoint === null) return null;
  const { openTraces } = await import('../observe/traces/open-traces.ts');
  const { mails, close } = openTraces({
    endpoint: traces.endpoint,
    headers: traces.headers_file === null ? {} : readHeaderFile(traces.headers_file),
    serviceName: traces.service_name,
    version: programVersion(),
    share: traces.sample,
    followsCallers: traces.follow_callers,
    log,
    random: Math.random,
    onExported: (spans) => metrics?.traced('exported', spans),
    onDropped: (spans) => metrics?.traced('dropped', spans),
  });
  opened.add(() => close(Math.min(stop.grace, LAST_EXPORT_MS)));
  log.info({ endpoint: new URL(traces.endpoint).origin }, 'traces are exported');
  return mails;
}

/** Nothing when they are off: then each part makes one check for a missing function. */
export function acceptObserver({ traces, clock }: { traces: MailTraces | null; clock: Clock }): {
  onStored?: (stored: StoredSubmission) => void;
} {
  if (traces === null) return {};
  return {
    onStored({ submission, messageIds, traceParent }) {
      const { id: submissionId, tenantId, acceptedAt, sendAt = null, written, ofService } = submission;
      const queued = new Set(messageIds);
      traces.accepted({
        messages: submission.recipients
          .filter(({ messageId }) => queued.has(messageId))
          .map(({ messageId, domain }) => ({ id: messageId, tenantId, submissionId, recipientDomain: domain })),
        source: written ? 'smtp' : ofService ? 'service' : 'http',
        traceParent,
        sendAt,
        startedAt: acceptedAt,
        endedAt: clock.now(),
      });
    },
  };
}

export function recordObserver(traces: MailTraces | null): { onRecorded?: (recorded: RecordedAttempt) => void } {
  if (traces === null) return {};
  return {
    onRecorded({ finding, to, at }) {
      const { message, startedAt, judgement, mxGroup, stages = [] } = finding;
      const { id, tenantId, submissionId, recipient, attempt, sendAt, createdAt } = message;
      const peer = judgement.kind === 'unreadable' ? null : judgement.peer;
      traces.attempted({
        message: { id, tenantId, submissionId, recipientDomain: recipient.slice(recipient.lastIndexOf('@') + 1) },
        attempt,
        dueAt: sendAt ?? createdAt,
        startedAt,
        endedAt: at,
        outcome: to,
        mxGroup,
        peer: peer && {
          stage: peer.stage,
          smtpCode: peer.smtpCode,
          enhancedCode: peer.enhancedCode,
          tls: peer.tls?.version ?? null,
        },
        stages,
      });
    },
  };
}

export function callObserver(traces: MailTraces | null): { onCalled?: (call: EndpointCall) => void } {
  if (traces === null) return {};
  return {
    onCalled({ delivery, outcome, decision, startedAt, elapsedMs }) {
      const { webhookId, attempt, event } = delivery;
      if (event.messageId === null) return;
      traces.called({
        messageId: event.messageId,
        tenantId: event.tenantId,
        webhookId,
        eventId: event.id,
        eventType: event.type,
        attempt,
        outcome: decision.decision,
        status: outcome.kind === 'answered' ? outcome.status : null,
        startedAt,
        endedAt: startedAt + elapsedMs,
      });
    },
  };
}
