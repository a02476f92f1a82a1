// The real daemon sends from the addresses that its configuration names, and keeps to them.
import t from 'tap';
import { RECEIVER, registerSender, send, startWorld } from '../support/world.ts';

t.test('mail goes out from a configured address under its name', async (t) => {
  const visits: { from: string; ehlo: string }[] = [];
  const mood = { willing: false };
  const { postrider, dns } = await startWorld(t, {
    sink: {
      server: {
        onRcptTo(_address, { remoteAddress, hostNameAppearsAs }, done) {
          visits.push({ from: remoteAddress, ehlo: hostNameAppearsAs });
          done(mood.willing ? null : Object.assign(new Error('4.3.2 Not now'), { responseCode: 451 }));
        },
      },
    },
    settings: {
      delivery: {
        source_addresses: ['127.0.0.2 out2.postrider.test', '127.0.0.3 out3.postrider.test warm'],
        retry_steps: ['1h'],
      },
    },
  });
  const daemon = await postrider.serve();
  const told = await daemon.logged({ source_address: '127.0.0.2' });
  t.match(told.msg, 'mail is sent from 127.0.0.2, though it has no reverse name');
  t.match((await postrider.json('queue', 'sources')).sources, [
    { address: '127.0.0.2', usable: true, warm: false, reason: /no reverse name/ },
    { address: '127.0.0.3', ehlo_name: 'out3.postrider.test', warm: true },
  ]);
  const sender = await registerSender({ postrider, dns }, daemon);
  const [id] = await send(daemon, sender, `ann@${RECEIVER}`);
  await daemon.logged({ fact: 'deferred', message_id: id! });
  mood.willing = true;
  await daemon.stop();
  const next = await postrider.serve();
  await postrider.json('queue', 'retry', id!);
  await next.logged({ fact: 'delivered', message_id: id! });
  t.equal(visits.length, 2);
  t.same(visits[0], visits[1], 'both tries from the same address');
  const [{ from, ehlo }] = visits as [{ from: string; ehlo: string }];
  t.match(await postrider.json('queue', 'show', id!), { source_address: from });
  t.equal(ehlo, from === '127.0.0.2' ? 'out2.postrider.test' : 'out3.postrider.test');
});
