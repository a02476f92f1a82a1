// The client library for Go.
import t from 'tap';
import { go } from './languages/go.ts';
import { testClient } from './test-client.ts';

await testClient(t, go);
