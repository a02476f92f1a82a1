// STARTTLS: when it works, when it is only half trusted, and when clear text has to do.
import { createSecureContext } from 'node:tls';
import t, { type Test } from 'tap';
import { openSession, type SessionOptions } from '../../../src/protocol/smtp/session.ts';
import type { SmtpTimeouts } from '../../../src/protocol/smtp/timeouts.ts';
import { patience } from '../../support/patience.ts';
import { type PeerConnection, type PeerScript, startPeer } from '../../support/smtp-peer.ts';
import { TEST_ONLY_CERTIFICATE, TEST_ONLY_HOST } from '../../support/smtp-peer-tls.ts';

const trusting = createSecureContext({ ca: TEST_ONLY_CERTIFICATE });
const needs = { smtputf8: false, eightBit: false };
const letter = {
  mailFrom: 'a@postrider.test',
  rcptTo: 'b@peer.test',
  message: Buffer.from('a: b\r\n\r\nc\r\n'),
  needs,
};

async function open(t: Test, scripts: PeerScript[], options: Partial<SessionOptions> = {}) {
  const peer = await startPeer(scripts);
  t.teardown(() => peer.close());
  const { port } = peer;
  const defaults = { mx: TEST_ONLY_HOST, ip: '127.0.0.1', port, ehloName: 'out.test', tls: 'opportunistic' } as const;
  return { peer, result: await openSession({ ...defaults, ...options }) };
}

const secured: PeerScript = async (c) => {
  await c.welcome('STARTTLS', 'SIZE 1');
  await c.startTls();
  await c.hello('PIPELINING');
  await c.takeMessage();
  c.say('250 2.0.0 ok');
  await c.closed();
};

const clear: PeerScript = async (c) => {
  await c.welcome('STARTTLS', 'PIPELINING');
  await c.takeMessage();
  c.say('250 2.0.0 ok');
  await c.closed();
};

t.test('a certificate that is valid for the MX name', async (t) => {
  for (const tls of ['opportunistic', 'required'] as const) {
    const { peer, result } = await open(t, [secured], { secureContext: trusting, tls });
    if (result.kind !== 'open') return t.fail(result.peer.response);
    t.match(result.session, { tls: { version: 'TLSv1.3', verified: true }, tlsUnverified: null, tlsFailure: null });
    t.equal(result.session.capabilities.size, false, 'what was offered before TLS is forgotten');
    const sent = await result.session.send(letter);
    t.match(sent, { kind: 'accepted', peer: { tls: { version: 'TLSv1.3', cipher: /^TLS_/, verified: true } } });
    t.equal(peer.heard.filter((line) => line.startsWith('EHLO')).length, 2);
    result.session.destroy();
  }
});

t.test('a self-signed certificate will do without a policy, and is not called verified', async (t) => {
  const { result } = await open(t, [secured]);
  if (result.kind !== 'open') return t.fail(result.peer.response);
  t.match(result.session, { tls: { verified: false }, tlsUnverified: 'DEPTH_ZERO_SELF_SIGNED_CERT', tlsFailure: null });
  t.match(await result.session.send(letter), { kind: 'accepted', peer: { tls: { verified: false } } });
  result.session.destroy();
});

t.test('a trusted certificate for another name is not verified', async (t) => {
  const { result } = await open(t, [secured], { secureContext: trusting, mx: 'other.peer.test' });
  if (result.kind !== 'open') return t.fail(result.peer.response);
  t.match(result.session, { tls: { verified: false }, tlsUnverified: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  result.session.destroy();
});

t.test('required TLS', async (t) => {
  const greetsOnly: PeerScript = async (c) => {
    await c.welcome('STARTTLS');
    await c.startTls();
    await c.closed();
  };
  await t.test('refuses an invalid certificate', async (t) => {
    const { peer, result } = await open(t, [greetsOnly], { tls: 'required' });
    const response = 'certificate not valid for mx.peer.test: DEPTH_ZERO_SELF_SIGNED_CERT';
    t.match(result, {
      kind: 'failed',
      peer: { stage: 'starttls', smtpCode: null, response, tls: { verified: false } },
    });
    t.same(peer.heard, ['EHLO out.test', 'STARTTLS'], 'nothing was said over it');
  });

  await t.test('refuses a wrong name', async (t) => {
    const { result } = await open(t, [greetsOnly], { tls: 'required', secureContext: trusting, mx: 'other.peer.test' });
    t.match(result, { kind: 'failed', peer: { stage: 'starttls', response: /ALTNAME/ } });
  });

  await t.test('is not given up when STARTTLS is not offered', async (t) => {
    const { peer, result } = await open(t, [(c) => c.welcome('PIPELINING')], { tls: 'required' });
    t.match(result, {
      kind: 'failed',
      peer: { stage: 'starttls', smtpCode: null, response: /does not offer STARTTLS/ },
    });
    t.equal(peer.connections, 1);
  });

  await t.test('is not given up when STARTTLS is refused', async (t) => {
    const script: PeerScript = async (c) => {
      await c.welcome('STARTTLS');
      await c.answer('STARTTLS', '454 4.7.0 TLS not available');
    };
    const { peer, result } = await open(t, [script], { tls: 'required' });
    t.match(result, { kind: 'failed', peer: { stage: 'starttls', smtpCode: 454, enhancedCode: '4.7.0' } });
    t.equal(peer.connections, 1);
  });
});

t.test('TLS is not used when it is not wanted', async (t) => {
  const { result } = await open(t, [clear], { tls: 'none' });
  if (result.kind !== 'open') return t.fail(result.peer.response);
  t.match(result.session, { tls: null, tlsFailure: null });
  t.match(await result.session.send(letter), { kind: 'accepted', peer: { tls: null } });
  result.session.destroy();
});

const broken: {
  name: string;
  fails: (c: PeerConnection) => Promise<void>;
  failure: RegExp;
  timeouts?: Partial<SmtpTimeouts>;
}[] = [
  {
    name: 'STARTTLS refused with 454',
    fails: async (c) => void (await c.answer('STARTTLS', '454 4.7.0 TLS not available')),
    failure: /^TLS not available$/,
  },
  {
    name: 'STARTTLS refused with 502',
    fails: async (c) => void (await c.answer('STARTTLS', '502 no')),
    failure: /^no$/,
  },
  {
    name: 'no TLS behind 220',
    fails: async (c) => {
      await c.answer('STARTTLS', '220 go ahead');
      c.socket.once('data', () => c.sayRaw('I do not speak TLS\r\n'.repeat(3)));
      await c.closed();
    },
    failure: /^TLS handshake: ERR_SSL_/,
  },
  {
    name: 'hangs up in the handshake',
    fails: async (c) => {
      await c.answer('STARTTLS', '220 go ahead');
      c.socket.once('data', () => c.reset());
      await c.closed();
    },
    failure: /TLS handshake/,
  },
  {
    name: 'hangs up at STARTTLS',
    fails: async (c) => {
      await c.expect('STARTTLS');
      c.hangUp();
    },
    failure: /^connection closed by the server$/,
  },
  {
    name: 'stalls in the handshake',
    timeouts: { startTlsMs: patience(60) },
    fails: async (c) => {
      await c.answer('STARTTLS', '220 go ahead');
      await c.closed();
    },
    failure: /^no TLS handshake within [\d.]+ s$/,
  },
  {
    name: 'injects a reply before the handshake (RFC 3207)',
    fails: async (c) => {
      await c.expect('STARTTLS');
      c.sayRaw('220 go ahead\r\n250-evil\r\n250 SIZE 7\r\n');
      await c.closed();
    },
    failure: /^protocol error: data between the reply to STARTTLS and the TLS handshake$/,
  },
  {
    name: 'injects half a reply before the handshake',
    fails: async (c) => {
      await c.expect('STARTTLS');
      c.sayRaw('220 go ahead\r\n250');
      await c.closed();
    },
    failure: /^protocol error: data between/,
  },
];

for (const { name, fails, failure, timeouts = {} } of broken) {
  const script: PeerScript = async (c) => {
    await c.welcome('STARTTLS');
    await fails(c);
  };

  t.test(`${name}: clear text on a new connection`, async (t) => {
    const { peer, result } = await open(t, [script, clear], { timeouts });
    if (result.kind !== 'open') return t.fail(result.peer.response);
    t.match(result.session, { tls: null, tlsFailure: failure, capabilities: { pipelining: true } });
    t.match(await result.session.send(letter), { kind: 'accepted', peer: { tls: null } });
    t.equal(peer.connections, 2);
    result.session.destroy();
  });

  t.test(`${name}: the end where TLS is required`, async (t) => {
    const { peer, result } = await open(t, [script, clear], { timeouts, tls: 'required' });
    t.match(result, { kind: 'failed', peer: { stage: 'starttls', response: failure, tls: null } });
    t.equal(peer.connections, 1);
  });
}

/** In TLS 1.3 the server may refuse what ends our side of the handshake; we have said EHLO by then. */
const leavesBehindIt: Record<string, PeerScript> = {
  'hangs up at EHLO': async (c) => {
    await c.expect('EHLO');
    c.hangUp();
  },
  'hangs up': (c) => void c.socket.destroy(),
};
for (const [what, leave] of Object.entries(leavesBehindIt)) {
  const script: PeerScript = async (c) => {
    await c.welcome('STARTTLS');
    await c.startTls();
    await leave(c);
  };

  t.test(`a server that ${what} right after the handshake: clear text on a new connection`, async (t) => {
    const { peer, result } = await open(t, [script, clear]);
    if (result.kind !== 'open') return t.fail(result.peer.response);
    t.match(result.session, { tls: null, tlsFailure: /^after the TLS handshake: connection /, tlsBroken: true });
    t.equal(peer.connections, 2);
    result.session.destroy();
  });

  t.test(`a server that ${what} right after the handshake: a lost connection where TLS is required`, async (t) => {
    const { peer, result } = await open(t, [script, clear], { tls: 'required', secureContext: trusting });
    const how = { stage: 'ehlo', response: /^connection /, tls: { verified: true } };
    t.match(result, { kind: 'failed', tlsTrouble: null, peer: how });
    t.equal(peer.connections, 1);
  });
}

t.test('421 to EHLO under TLS is not about TLS', async (t) => {
  const script: PeerScript = async (c) => {
    await c.welcome('STARTTLS');
    await c.startTls();
    await c.answer('EHLO', '421 4.3.2 shutting down');
  };
  const { peer, result } = await open(t, [script, clear]);
  t.match(result, {
    kind: 'failed',
    tlsFailure: null,
    peer: { stage: 'ehlo', smtpCode: 421, tls: { verified: false } },
  });
  t.equal(peer.connections, 1);
});

t.test('421 to STARTTLS is about the whole service', async (t) => {
  const script: PeerScript = async (c) => {
    await c.welcome('STARTTLS');
    await c.answer('STARTTLS', '421 4.3.2 shutting down');
  };
  const { peer, result } = await open(t, [script]);
  t.match(result, { kind: 'failed', tlsFailure: null, peer: { stage: 'starttls', smtpCode: 421 } });
  t.equal(peer.connections, 1);
});

t.test('when clear text fails too, both failures are told', async (t) => {
  const first: PeerScript = async (c) => {
    await c.welcome('STARTTLS');
    await c.answer('STARTTLS', '454 no TLS');
  };
  const { result } = await open(t, [first, (c) => c.say('554 5.7.0 and no mail')]);
  t.match(result, { kind: 'failed', tlsFailure: 'no TLS', peer: { stage: 'greeting', smtpCode: 554 } });
});

t.test('an abort in the handshake does not lead to clear text', async (t) => {
  const controller = new AbortController();
  const script: PeerScript = async (c) => {
    await c.welcome('STARTTLS');
    await c.answer('STARTTLS', '220 go ahead');
    c.socket.once('data', () => controller.abort());
    await c.closed();
  };
  const { peer, result } = await open(t, [script, clear], { signal: controller.signal });
  t.match(result, { kind: 'failed', peer: { stage: 'starttls', response: 'aborted' } });
  t.equal(peer.connections, 1);
});
