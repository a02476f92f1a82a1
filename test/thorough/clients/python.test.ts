// The client library for Python.
import t from 'tap';
import { python } from '../../clients/languages/python.ts';
import { testClient } from '../../clients/test-client.ts';

await testClient(t, python);
