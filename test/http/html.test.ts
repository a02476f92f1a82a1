// HTML as a template: everything put in is text unless it is markup by its type.
import t from 'tap';
import { html } from '../../src/http/html.ts';

t.test('what is put in is escaped, in text and in attributes', async (t) => {
  const hostile = `<script>alert("1")</script>'&`;
  const escaped = '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;';
  t.equal(html`<p title="${hostile}">${hostile}</p>`.text, `<p title="${escaped}">${escaped}</p>`);
});

t.test('markup goes in as it is, lists one after the other, and nothing leaves nothing', async (t) => {
  const items = ['a', '<b>'].map((item) => html`<li>${item}</li>`);
  t.equal(html`<ul>${items}</ul>`.text, '<ul><li>a</li><li>&lt;b&gt;</li></ul>');
  t.equal(html`(${null}${undefined}${false}${0}${['', ['x']]})`.text, '(0x)');
});
