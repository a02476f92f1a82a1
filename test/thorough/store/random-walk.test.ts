// Many random walks through the store's verbs, each from a seed of its own.
import t from 'tap';
import { takeRandomWalks } from '../../store/walk/random-walks.ts';

t.test('the store is as the model says after every walk', async (t) => takeRandomWalks(t, 1000));
