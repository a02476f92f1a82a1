// Which errors of COPY are about a row, and which only name the row at which something else happened.
import t from 'tap';
import { refusedRow } from '../../../src/store/postgres/moving/target.ts';

function ofServer(code: string, where: string, severity = 'ERROR'): Error {
  return Object.assign(new Error('said by the server'), { code, where, severity });
}

t.test('a row that is refused', async (t) => {
  t.equal(refusedRow(ofServer('54000', 'COPY broken_tls, line 7, column host: "…"')), 7);
  t.equal(refusedRow(ofServer('23514', 'COPY messages, line 1')), 1);
  t.equal(refusedRow(ofServer('23503', 'SQL statement "SELECT 1"')), null);
});

t.test('a row at which the server had no room, stopped, or lost the connection', async (t) => {
  t.equal(refusedRow(ofServer('53100', 'COPY events, line 12')), null);
  t.equal(refusedRow(ofServer('57P01', 'COPY mail_links, line 0', 'FATAL')), null);
  t.equal(refusedRow(new Error('Connection terminated unexpectedly')), null);
});
