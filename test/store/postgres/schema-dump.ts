// The schema of a PostgreSQL database as text, for comparison. From its catalogs: pg_dump's text changes with its version.
import pg from 'pg';

const COLUMNS = `SELECT c.relname AS of, a.attnum AS at,
    format('  %s %s%s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
      CASE WHEN a.attcollation <> 0 THEN ' COLLATE ' || quote_ident(l.collname) END,
      CASE WHEN a.attnotnull THEN ' NOT NULL' END, ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid),
      CASE a.attidentity WHEN 'd' THEN ' IDENTITY' END) AS text
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid LEFT JOIN pg_collation l ON l.oid = a.attcollation
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  WHERE c.relnamespace = 'postrider'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped`;
/** Since PostgreSQL 18 NOT NULL is a constraint, too. */
const CONSTRAINTS = `SELECT conrelid::regclass::text AS of, 1000 AS at, '  ' || pg_get_constraintdef(oid) AS text
  FROM pg_constraint WHERE connamespace = 'postrider'::regnamespace AND contype IN ('p', 'u', 'c', 'f')`;
const OPTIONS = `SELECT relname AS of, 2000 AS at, '  ' || unnest(reloptions) AS text
  FROM pg_class WHERE relnamespace = 'postrider'::regnamespace AND relkind = 'r'`;
const INDEXES = `SELECT tablename AS of, 3000 AS at, '  ' || indexdef AS text FROM pg_indexes
  WHERE schemaname = 'postrider'`;
const TRIGGERS = `SELECT tgrelid::regclass::text AS of, 4000 AS at, '  ' || pg_get_triggerdef(oid) AS text
  FROM pg_trigger WHERE NOT tgisinternal`;
/** PostgreSQL 18 has aggregates of the same names, so a regprocedure would tell the schema there. */
const FUNCTIONS = `SELECT 'functions' AS of, 0 AS at, pg_get_functiondef(oid) AS text
  FROM pg_proc WHERE pronamespace = 'postrider'::regnamespace AND prokind = 'f'
  UNION ALL SELECT 'aggregates', 0,
      format('%s(%s) by %s', proname, pg_get_function_identity_arguments(pg_proc.oid), aggtransfn) FROM pg_aggregate
    JOIN pg_proc ON pg_proc.oid = aggfnoid WHERE pronamespace = 'postrider'::regnamespace
  UNION ALL SELECT 'operators', 0, format('%s %s %s by %s', oprleft::regtype, oprname, oprright::regtype, oprcode)
    FROM pg_operator WHERE oprnamespace = 'postrider'::regnamespace`;

export async function dumpSchema(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url, password: () => '' });
  await client.connect();
  try {
    await client.query('SET search_path = postrider');
    const parts = [COLUMNS, CONSTRAINTS, OPTIONS, INDEXES, TRIGGERS, FUNCTIONS].join(' UNION ALL ');
    const { rows } = await client.query(`SELECT * FROM (${parts}) parts ORDER BY of COLLATE "C", at, text COLLATE "C"`);
    return textOf(rows as { of: string; text: string }[]);
  } finally {
    await client.end();
  }
}

function textOf(rows: { of: string; text: string }[]): string {
  const lines = rows.flatMap(({ of, text }, at) => (rows[at - 1]?.of === of ? [text] : ['', of, text]));
  return `${lines.slice(1).join('\n')}\n`;
}
