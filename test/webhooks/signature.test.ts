// Signing by Standard Webhooks 1.0: its published example, and its official library over made-up bodies.
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { signedHeaders } from '../../src/webhooks/sent-request.ts';

t.test('the example that the project publishes', async (t) => {
  const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
  const body = '{"test": 2432232314}';
  const headers = signedHeaders({ id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestampS: 1614265330, body }, [key]);
  t.strictSame(headers, {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

t.test('the official library takes what we sign, by either key, and nothing that was altered', async (t) => {
  const now = Math.floor(Date.now() / 1000);
  for (const text of ['', 'a', 'ü😀\u2028"\\', 'x'.repeat(10_000)]) {
    const keys = [randomBytes(32), randomBytes(32)];
    const body = JSON.stringify({ text });
    const headers = signedHeaders({ id: 'an id', timestampS: now, body }, keys);
    for (const key of keys) t.strictSame(new Webhook(key.toString('base64')).verify(body, headers), { text });
    const stranger = new Webhook(randomBytes(32).toString('base64'));
    t.throws(() => stranger.verify(body, headers));
    const verifier = new Webhook(keys[0]!.toString('base64'));
    t.throws(() => verifier.verify(`${body} `, headers));
    t.throws(() => verifier.verify(body, { ...headers, 'webhook-id': 'another' }));
    t.throws(() => verifier.verify(body, { ...headers, 'webhook-timestamp': String(now - 1) }));
  }
});
