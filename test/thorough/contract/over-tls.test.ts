// What depends on how bytes come in, over TLS that the daemon speaks itself.
import t from 'tap';
import { testContract, WHERE_BYTES_MATTER } from '../../contract/all-tables.ts';

for (const engine of ['uws', 'node'] as const) testContract(t, { engine, way: 'TLS', only: WHERE_BYTES_MATTER });
