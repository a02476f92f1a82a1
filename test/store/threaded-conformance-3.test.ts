// The store with its writer on a thread passes the conformance suite: part 3 of 3.
import t from 'tap';
import { storeConformance } from './conformance/store-conformance.ts';
import { openThreaded } from './open-threaded.ts';

storeConformance(t, 'sqlite, written by a thread', openThreaded, 2);
