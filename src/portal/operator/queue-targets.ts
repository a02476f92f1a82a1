// What operators act on in the queue: one message, or all mail of a tenant, an MX group or a recipient domain;
// how it is named, where it is shown, and the forms that act on it.
import { isUuid } from '../../base/ids.ts';
import { type Html, html } from '../../http/html.ts';
import { type OperatorAction, type QueueTarget, TARGET_KINDS } from '../../store/shaping.ts';
import { confirmed, field } from '../elements.ts';

export const QUEUE_PATH = '/portal/operator/queue';
export const MAX_NOTE_CHARS = 500;

export function pauseName({ kind, key }: QueueTarget): string {
  return {
    tenant: `The tenant ${key}`,
    group: `The group ${key}`,
    domain: `The domain ${key}`,
    message: `The message ${key}`,
  }[kind];
}

export function pausePath({ kind, key }: QueueTarget): string {
  return kind === 'message' ? `${QUEUE_PATH}/${key}` : `${QUEUE_PATH}?${new URLSearchParams({ [kind]: key })}`;
}

/** Null: nothing that anybody could act on. */
export function readTarget(kind: string | null, key: string | null): QueueTarget | null {
  const known = TARGET_KINDS.find((each) => each === kind);
  const name = (key ?? '').trim();
  if (known === undefined || name === '' || name.length > 255) return null;
  const isId = known === 'tenant' || known === 'message';
  if (isId) return isUuid(name) ? { kind: known, key: name } : null;
  return { kind: known, key: name.toLowerCase() };
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
    question: (what) => `Keep ${what} back until somebody resumes it? What is on the wire is finished.`,
    needsReason: true,
    tone: 'neutral',
    hint: 'Whoever comes after you reads it.',
  },
  resume: {
    button: 'Resume',
    question: (what) => `Let ${what} go again? This also ends pauses that replies of receivers have called for.`,
    needsReason: false,
    tone: 'neutral',
    hint: 'Kept with what was done.',
  },
  retry: {
    button: 'Retry now',
    question: (what) => `Make ${what} due now, instead of when its next attempt is planned?`,
    needsReason: false,
    tone: 'neutral',
    hint: 'Kept with what was done.',
  },
  cancel: {
    button: 'Cancel',
    question: (what) => `Give up ${what} that waits? It is not sent any more, and this cannot be undone.`,
    needsReason: true,
    tone: 'danger',
    hint: 'The tenant reads it with the message.',
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
  return html`<div class="field"><label for="${id}">Reason${!required && ' (if you like)'}</label><p class="hint" id="${id}-hint">${hint}</p><input type="text" id="${id}" name="reason" maxlength="${MAX_NOTE_CHARS}" aria-describedby="${id}-hint"${required && html` required`}></div>`;
}

export function findForm(problem: string | null): Html {
  return html`<form class="filters" method="get" action="${QUEUE_PATH}">${field({
    name: 'find',
    label: 'Find',
    hint: 'The id of a message or a tenant, a recipient domain, or an MX group.',
    type: 'search',
    problem,
  })}<button>Find</button></form>`;
}
