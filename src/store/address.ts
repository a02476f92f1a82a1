// Where a store is: handed as it is to threads and processes that open something of it (opening/open-store.ts). Only the
// drivers look inside.

/** One member for each driver. Plain data, since it is cloned on the way. */
export type StoreAddress = SqliteAddress | PostgresAddress;

interface SqliteAddress {
  driver: 'sqlite';
  file: string;
}

interface PostgresAddress {
  driver: 'postgres';
  /** With the password: it must not get into a log. */
  url: string;
}

export function sqliteAt(file: string): SqliteAddress {
  return { driver: 'sqlite', file };
}
