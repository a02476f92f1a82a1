// The whole contract on the engine that runs wherever Node runs.
import t from 'tap';
import { testContract } from '../../contract/all-tables.ts';

testContract(t, { engine: 'node' });
