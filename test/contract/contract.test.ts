// The whole contract on the engine that is used where nothing else is said.
import t from 'tap';
import { testContract } from './all-tables.ts';

testContract(t, { engine: 'uws' });
