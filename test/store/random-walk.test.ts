// Random walks through the store's verbs; `npm run thorough` takes more of them.
import t from 'tap';
import { takeRandomWalks } from './walk/random-walks.ts';

t.test('the store is as the model says after every walk', async (t) => takeRandomWalks(t, 100));
