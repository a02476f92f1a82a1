// The client library for Ruby.
import t from 'tap';
import { ruby } from './languages/ruby.ts';
import { testClient } from './test-client.ts';

await testClient(t, ruby);
