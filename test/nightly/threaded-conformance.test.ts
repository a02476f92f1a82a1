// The store with its writer on a thread passes the conformance suite.
import t from 'tap';
import { storeConformance } from '../store/conformance/store-conformance.ts';
import { openThreaded } from '../store/open-threaded.ts';

storeConformance(t, 'sqlite, written by a thread', openThreaded);
