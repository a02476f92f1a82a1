// Section 2.6 of the specification: the health check, and what else happens when the database is away.
import fs from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import type { Cases, HEALTH_RESPONSE } from './tables.ts';

const LOOK_EVERY_MS = 100;

export const healthCases: Cases<typeof HEALTH_RESPONSE> = {
  async ok(t, { world }) {
    t.match(await world.call('GET /healthz'), { status: 200, body: { status: 'ok' } });
  },

  async db_unreachable(t, { world, send }) {
    const { databaseFile } = world.postrider;
    const aside = `${databaseFile}.aside`;
    const unreachable = { status: 503, body: { status: 'db_unreachable' } };
    fs.renameSync(databaseFile, aside);
    try {
      const { status, body } = await world.call('GET /healthz');
      t.same({ status, body }, unreachable, 'the file is gone');
      t.match(await world.call('HEAD /healthz'), { status: 503, body: null });
      fs.writeFileSync(databaseFile, '');
      t.match(await world.call('GET /healthz'), unreachable, 'another file is in its place');
    } finally {
      fs.renameSync(aside, databaseFile);
    }
    t.match(await world.call('GET /healthz'), { status: 200, body: { status: 'ok' } }, 'back again');
    const other = new Database(databaseFile);
    other.exec('BEGIN IMMEDIATE');
    t.match(await world.call('GET /healthz'), unreachable, 'somebody else has locked it');
    other.close();
    t.match(await world.call('GET /healthz'), { status: 200, body: { status: 'ok' } }, 'and let go of it');
    // If the daemon wanted to write just then, and waited in vain, mail is taken again once it has proved that it can.
    for (let answer = await send(); answer.status !== 202; answer = await send()) {
      t.match(
        [answer.status, answer.body.message],
        [500, /^New mail is not accepted at the moment: the database cannot be/],
      );
      await pause(LOOK_EVERY_MS);
    }
  },
};
