// The client library for Ruby.
import t from 'tap';
import { ruby } from '../../clients/languages/ruby.ts';
import { testClient } from '../../clients/test-client.ts';

await testClient(t, ruby);
