// A form with an ID acts once: what is answered the second time, and what may be sent again.
import t from 'tap';
import { html } from '../../src/http/html.ts';
import { missing, type PageResult, redirect, view } from '../../src/portal/page.ts';
import { SentForms } from '../../src/portal/sent-forms.ts';
import { until } from '../support/until.ts';

const formOf = (fields: Record<string, string>) => ({ fields: new URLSearchParams(fields), files: new Map() });
const FORM = formOf({ form_id: '1', name: 'a' });
const made = (name: string) => view({ title: name, body: html`${name}` });

function counting(result: PageResult | Error) {
  const act = async () => {
    act.calls++;
    if (result instanceof Error) throw result;
    return result;
  };
  act.calls = 0;
  return act;
}

t.test('the first answer again, and later only that there was one', async (t) => {
  const sent = new SentForms(1);
  const act = counting(made('a key'));
  const [first, second] = await Promise.all([sent.once('ann', FORM, act), sent.once('ann', FORM, act)]);
  t.equal(second, first);
  const late = await until('the answer is forgotten', async () => {
    const again = await sent.once('ann', FORM, act);
    return again !== first && again;
  });
  t.match(late, { status: 409, title: 'This form was sent before' });
  t.equal(act.calls, 1);
});

t.test('another person, other fields, or no ID: another form', async (t) => {
  const sent = new SentForms();
  const act = counting(redirect('/portal'));
  await sent.once('ann', FORM, act);
  await sent.once('bob', FORM, act);
  await sent.once('ann', formOf({ form_id: '1', name: 'b' }), act);
  for (let n = 0; n < 2; n++) await sent.once('ann', formOf({ name: 'a' }), act);
  t.equal(act.calls, 5);
});

t.test('where nothing was made it may be sent again', async (t) => {
  const sent = new SentForms();
  for (const failed of [
    new Error('the database is down'),
    missing(),
    view({ title: 'wrong', body: html`wrong`, status: 422 }),
  ]) {
    const act = counting(failed);
    for (let n = 0; n < 2; n++) await sent.once('ann', FORM, act).catch(() => {});
    t.equal(act.calls, 2);
  }
});
