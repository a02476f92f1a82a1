// The client library for Go.
import t from 'tap';
import { go } from '../../clients/languages/go.ts';
import { testClient } from '../../clients/test-client.ts';

await testClient(t, go);
