// What operators act on in the queue: one message, or all mail of a tenant, an MX group or a recipient domain;
// how it is named, where it is shown, and the forms that act on it.
import { isUuid } from '../../base/ids.ts';
import { MAX_GROUP_NAME_CHARS } from '../../delivery/route/routes.ts';
import { type Html, html } from '../../http/html.ts';
import { type OperatorAction, type QueueTarget, TARGET_KINDS } from '../../store/shaping.ts';
import { confirmed, field } from '../elements.ts';

export const QUEUE_PATH = '/portal/operator/queue';
export const MAX_NOTE_CHARS = 500;

export function pauseName({ kind, key }: QueueTarget): string {
  return {
    tenant: `Tenant ${key}`,
    group: `MX group ${key}`,
    domain: `Domain ${key}`,
    message: `Message ${key}`,
  }[kind];
}

export function pausePath({ kind, key }: QueueTarget): string {
  return kind === 'message' ? `${QUEUE_PATH}/${key}` : `${QUEUE_PATH}?${new URLSearchParams({ [kind]: key })}`;
}

/** Null: nothing that anybody could act on. */
export function readTarget(kind: string | null, key: string | null): QueueTarget | null {
  const known = TARGET_KINDS.find((each) => each === kind);
  // A pause of a name that is written otherwise would hold nothing.
  const name = (key ?? '').trim().toLowerCase();
  if (known === undefined || name === '' || name.length > MAX_GROUP_NAME_CHARS) return null;
  const isId = known === 'tenant' || known === 'message';
  return isId && !isUuid(name) ? null : { kind: known, key: name };
}

export const ACTIONS: readonly OperatorAction[] = ['pause', 'resume', 'retry', 'cancel'];

interface ActionWords {
  button: string;
  question(what: string): string;
  needsReason: boolean;
  tone: 'danger' | 'neutral';
  hint: string;
}

const WORDS: Readonly<Record<OperatorAction, ActionWords>> = {
  pause: {
    button: 'Pause',
    question: (what) =>
      `Hold ${what} until an operator resumes it? Messages that are being sent right now are finished.`,
    needsReason: true,
    tone: 'neutral',
    hint: 'Shown to other operators.',
  },
  resume: {
    button: 'Resume',
    question: (what) => `Resume ${what}? This also lifts pauses caused by receivers’ replies.`,
    needsReason: false,
    tone: 'neutral',
    hint: 'Recorded with the action.',
  },
  retry: {
    button: 'Retry now',
    question: (what) => `Retry ${what} now instead of at the next planned attempt?`,
    needsReason: false,
    tone: 'neutral',
    hint: 'Recorded with the action.',
  },
  cancel: {
    button: 'Cancel',
    question: (what) => `Cancel ${what}? What is still waiting won’t be sent, and this can’t be undone.`,
    needsReason: true,
    tone: 'danger',
    hint: 'Shown to the tenant with the message.',
  },
};

export function needsReason(action: OperatorAction): boolean {
  return WORDS[action].needsReason;
}

export function actionForms(target: QueueTarget, formField: Html): Html {
  const what = target.kind === 'message' ? 'this message' : 'all of this mail';
  const forms = ACTIONS.map((action) => {
    const { button, question, hint, tone, needsReason: required } = WORDS[action];
    const fields = html`<input type="hidden" name="action" value="${action}"><input type="hidden" name="kind" value="${target.kind}"><input type="hidden" name="key" value="${target.key}">
${reasonField(action, { hint, required })}`;
    const options = {
      label: button,
      question: question(what),
      action: `${QUEUE_PATH}/act`,
      formField,
      button,
      fields,
      tone,
    };
    return confirmed(options);
  });
  return html`<div class="actions">${forms}</div>`;
}

/** The same field stands on the page several times: its id says to which form it belongs. */
function reasonField(action: OperatorAction, { hint, required }: { hint: string; required: boolean }): Html {
  const id = `reason-${action}`;
  return html`<div class="field"><label for="${id}">Reason${!required && ' (optional)'}</label><p class="hint" id="${id}-hint">${hint}</p><input type="text" id="${id}" name="reason" maxlength="${MAX_NOTE_CHARS}" aria-describedby="${id}-hint"${required && html` required`}></div>`;
}

export function findForm(problem: string | null): Html {
  return html`<form class="filters" method="get" action="${QUEUE_PATH}">${field({
    name: 'find',
    label: 'Find',
    hint: html`A message or tenant ID, a recipient domain, or an MX group (the mail servers of one receiver). <a href="/portal/operator/messages">Messages</a> finds mail by recipient or subject, finished or not.`,
    type: 'search',
    problem,
  })}<button>Find</button></form>`;
}
