// What can be done with a call that has not been sent: another time, at once, or never.
import { isRefusal } from '../../base/refusals.ts';
import { type Html, html } from '../../http/html.ts';
import type { MessageView } from '../../store/message-view.ts';
import { confirmed, field } from '../elements.ts';
import { missing, type PageResult, redirect, type VisitOf } from '../page.ts';
import type { MessageServices } from './message-services.ts';

/** For messages that are neither finished nor on the wire. */
export function scheduleForm({ message, siblings }: MessageView, formField: Html): Html | null {
  if (message.finishedAt !== null || message.state === 'sending') return null;
  const path = `/portal/messages/${message.id}`;
  const all = siblings.length === 0 ? '' : ' This affects all recipients of the call.';
  const cancel = confirmed({
    label: 'Cancel',
    question: `What has not been sent is never sent.${all}`,
    action: `${path}/cancel`,
    formField,
    button: 'Cancel it',
  });
  if (message.state !== 'scheduled') return html`<div class="actions">${cancel}</div>`;
  const move = confirmed({
    label: 'Change the time',
    question: `At most 30 days ahead.${all}`,
    action: `${path}/move`,
    formField,
    button: 'Change the time',
    tone: 'neutral',
    fields: field({ name: 'at', label: 'New time (UTC)', type: 'datetime-local', required: true }),
  });
  const now = confirmed({
    label: 'Send now',
    question: `It is sent without waiting for its time.${all}`,
    action: `${path}/move`,
    formField,
    button: 'Send now',
    tone: 'neutral',
    fields: html`<input type="hidden" name="now" value="yes">`,
  });
  return html`<div class="actions">${move}${now}${cancel}</div>`;
}

export async function moveCall(services: MessageServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const found = await findCall(services, visit);
  if (found === null) return missing('Message not found. Old messages are erased.');
  const { path, submissionId, by } = found;
  const isNow = visit.form.get('now') === 'yes';
  const at = isNow ? new Date(visit.now).toISOString() : asUtc(visit.form.get('at') ?? '');
  const moved = await services.scheduling.move(by, submissionId, at);
  if (isRefusal(moved)) return redirect(path, moved.message.replace(/^send_at: /, 'The time '), 'warn');
  const sendAt = new Date(moved.sendAt).toISOString();
  await visit.audit('submission.moved', { submission_id: submissionId, send_at: sendAt });
  return redirect(
    path,
    isNow ? 'It is being sent.' : `It will be sent at ${sendAt.slice(0, 16).replace('T', ' ')} UTC.`,
  );
}

export async function cancelCall(services: MessageServices, visit: VisitOf<'member'>): Promise<PageResult> {
  const found = await findCall(services, visit);
  if (found === null) return missing('Message not found. Old messages are erased.');
  const { path, submissionId, by } = found;
  const done = await services.scheduling.cancel(by, submissionId);
  if (isRefusal(done)) return redirect(path, done.message, 'warn');
  const { canceled, tooLate } = done;
  const counts = { canceled: canceled.length, too_late: tooLate.length };
  await visit.audit('submission.canceled', { submission_id: submissionId, ...counts });
  if (canceled.length === 0) return redirect(path, 'It was too late: everything had been sent or had ended.', 'warn');
  const late = tooLate.length === 0 ? '' : ` For ${tooLate.length} it was too late.`;
  return redirect(path, `Canceled: ${canceled.length} of ${canceled.length + tooLate.length} messages.${late}`);
}

async function findCall({ store }: MessageServices, visit: VisitOf<'member'>) {
  const { tenant } = visit.visitor;
  const message = await store.queue.findMessage(tenant.id, visit.params.id!);
  if (!message) return null;
  const by = { tenantId: tenant.id, boundDomain: null };
  return { path: `/portal/messages/${message.id}`, submissionId: message.submissionId, by };
}

/** What a field of type datetime-local sends has no offset, and seconds only where they are not zero. */
export function asUtc(text: string): string {
  const [day, time = ''] = text.trim().split('T');
  return `${day}T${time.length === 5 ? `${time}:00` : time}Z`;
}
