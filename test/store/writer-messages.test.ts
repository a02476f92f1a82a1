// What crosses between the main thread and the writer's comes out as it went in.
import t from 'tap';
import { Fault } from '../../src/base/errors.ts';
import { faultOf, sendable, withBuffers } from '../../src/store/sqlite/engine/writer-messages.ts';

t.test('buffers stay buffers, wherever they stand', async (t) => {
  const key = () => Buffer.from('a key in a pool');
  const said = {
    ...{ none: null, missing: undefined, count: 3, text: 'x', long: 2n ** 60n },
    list: [key(), [key(), 'x'], { key: key() }],
    byName: new Map([
      ['one', { key: key() }],
      ['two', { key: Buffer.alloc(0) }],
    ]),
    names: new Set(['a']),
    at: new Date(7),
  };
  const crossed = structuredClone(said);
  t.notOk(Buffer.isBuffer(crossed.list[0]), 'a message alone makes arrays of octets of them');
  t.strictSame(withBuffers(crossed), said);
  t.ok(Buffer.isBuffer(crossed.list[0]));
  t.strictSame(withBuffers(structuredClone(key())), key(), 'also one by itself');
  for (const plain of [null, undefined, 7, 'x', true]) t.equal(withBuffers(plain), plain);
});

t.test('a fault tells the same on the other side', async (t) => {
  const cause = new Error('disk I/O error');
  const fault = new Fault('not stored', { permanence: 'permanent', detail: 'the disk', cause });
  const crossed = faultOf(structuredClone(sendable(fault)));
  t.match(crossed, {
    message: 'not stored',
    permanence: 'permanent',
    detail: 'the disk',
    cause: { message: 'disk I/O error' },
  });
  t.type(crossed, Fault);
  const strange = faultOf(structuredClone(sendable(new TypeError('x is no function'))));
  t.match(strange, { message: 'TypeError: x is no function', permanence: 'temporary' });
});
