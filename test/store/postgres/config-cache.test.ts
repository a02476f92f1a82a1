// What several transactions of a daemon share of what they read, while other daemons change it.
import t from 'tap';
import { ConfigCache } from '../../../src/store/postgres/engine/config-cache.ts';

function cacheAt(version: number): ConfigCache {
  const cache = new ConfigCache();
  cache.see(version, 1);
  return cache;
}

t.test('what one has read is there for all, until something has changed', async (t) => {
  const cache = cacheAt(7);
  cache.view().set('tenant', 'active');
  cache.see(7, 2);
  t.equal(cache.view().get('tenant'), 'active');
  t.equal(cache.groupView(7).get('tenant'), 'active');
  cache.see(8, 3);
  t.equal(cache.view().get('tenant'), undefined);
  cache.see(7, 4);
  cache.view().set('tenant', 'suspended');
  t.equal(cache.view().get('tenant'), 'suspended', 'an older snapshot says nothing');
});

t.test('a read that began before a change leaves nothing behind', async (t) => {
  const cache = cacheAt(7);
  const begun = cache.view();
  cache.see(8, 2);
  begun.set('tenant', 'active');
  t.equal(cache.view().get('tenant'), undefined);
});

t.test('a snapshot older than what another connection has seen by then shares nothing', async (t) => {
  const cache = cacheAt(7);
  cache.see(8, 2);
  cache.view().set('tenant', 'suspended');
  const read = cache.view(7);
  t.equal(read.get('tenant'), undefined, 'all that it sees is from one moment');
  read.set('domain', 'verified');
  const group = cache.groupView(7);
  t.equal(group.get('tenant'), undefined);
  group.set('lane', 'made');
  t.equal(group.get('lane'), 'made', 'it knows what it has made itself');
  group.committed();
  t.strictSame([cache.view().get('domain'), cache.view().get('lane')], [undefined, undefined]);
});

t.test('a change in the middle of a group ends what it shares', async (t) => {
  const cache = cacheAt(7);
  const group = cache.groupView(7);
  group.set('lane', 'made');
  cache.see(8, 2);
  cache.view().set('tenant', 'suspended');
  t.strictSame([group.get('lane'), group.get('tenant')], ['made', undefined]);
  group.committed();
  t.equal(cache.view().get('lane'), undefined);
});

t.test('what a group has made is there for others after its commit', async (t) => {
  const cache = cacheAt(7);
  const group = cache.groupView(7);
  group.set('lane', 'made');
  t.equal(cache.view().get('lane'), undefined);
  group.committed();
  t.equal(cache.view().get('lane'), 'made');
});
