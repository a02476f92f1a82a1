// The client library for Python.
import t from 'tap';
import { python } from './languages/python.ts';
import { testClient } from './test-client.ts';

await testClient(t, python);
