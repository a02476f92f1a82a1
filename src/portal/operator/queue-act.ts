// Acting on the queue from the portal: the same acts as those of the command line, each with who and why, in
// the operators' notes of the queue and in the audit log.
import { counted } from '../../base/text/counted.ts';
import { html } from '../../http/html.ts';
import { heading, problemBox } from '../elements.ts';
import { action, type PageResult, type PortalRoute, redirect, type VisitOf, view } from '../page.ts';
import type { OperatorServices } from './operator-services.ts';
import { ACTIONS, MAX_NOTE_CHARS, needsReason, pausePath, QUEUE_PATH, readTarget } from './queue-targets.ts';

const NO_REASON = 'no reason was given';

export function queueActRoute(services: OperatorServices): PortalRoute {
  return action({ path: `${QUEUE_PATH}/act`, access: 'operator', run: (visit) => act(services, visit) });
}

async function act(services: OperatorServices, visit: VisitOf<'operator'>): Promise<PageResult> {
  const { form, visitor } = visit;
  const wished = form.get('action');
  const chosen = ACTIONS.find((each) => each === wished);
  const target = readTarget(form.get('kind'), form.get('key'));
  if (!chosen || !target) return refusal('Unknown action or target.', QUEUE_PATH);
  const path = pausePath(target);
  const reason = (form.get('reason') ?? '').replace(/\s+/g, ' ').trim().slice(0, MAX_NOTE_CHARS);
  if (reason === '' && needsReason(chosen)) return refusal('Enter a reason; this action needs one.', path);
  const note = reason === '' ? NO_REASON : reason;
  const outcome = await services.queue.act(chosen, target, { by: visitor.user.email, note });
  if (outcome.kind === 'refused') return refusal(`${capital(outcome.reason)}.`, path);
  const { messages, complete, ended, held } = outcome;
  await visit.audit(`queue.${chosen}`, { kind: target.kind, target: target.key, reason: note, messages });
  const moved = chosen === 'resume' && messages === 0 ? null : messages;
  const acted = moved === null ? '' : ` ${counted(moved, 'message')}.`;
  const more = complete ? '' : ' There are more; repeat the action.';
  const lifted = ended.length === 0 ? '' : ` Pauses lifted: ${ended.join('; ').slice(0, 300)}.`;
  const still =
    held.length === 0
      ? ''
      : ` Still held: ${held
          .map(({ reason }) => reason)
          .join('; ')
          .slice(0, 300)}.`;
  return redirect(path, `${DONE[chosen]}.${acted}${more}${lifted}${still}`);
}

const DONE = {
  pause: 'Paused',
  resume: 'Resumed',
  retry: 'Due now',
  cancel: 'Canceled',
} as const;

function refusal(message: string, path: string): PageResult {
  const body = html`${heading('Nothing was changed')}${problemBox(message)}<p><a href="${path}">Back</a></p>`;
  return view({ title: 'Nothing was changed', body, status: 422 });
}

function capital(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
