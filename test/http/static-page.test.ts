// A static page whose content could not be created at first: later calls try again.
import t from 'tap';
import type { HttpRequest } from '../../src/http/http.ts';
import { staticPage } from '../../src/http/static-page.ts';

const request = { header: () => undefined } as unknown as HttpRequest;

t.test('it is loaded once, and again after a failure', async (t) => {
  let loads = 0;
  const load = async () => {
    if (++loads === 1) throw new Error('no file handles left');
    return Buffer.from('hello');
  };
  const page = staticPage({ mediaType: 'text/plain', cache: 'no-cache', load });
  t.equal(loads, 0, 'not before somebody asks');
  await t.rejects(page(request), { message: 'no file handles left' });
  for (const reply of await Promise.all([page(request), page(request)])) {
    t.match(reply, { status: 200, body: Buffer.from('hello') });
  }
  t.equal(loads, 2);
});
