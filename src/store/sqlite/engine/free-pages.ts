// The pages of the database file that are in no table or index: new rows take them before the file grows.
import type { Queries, Steps } from '../../sql/steps.ts';

export function* reusableBytes(db: Queries): Steps<number> {
  const pages = 'SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size';
  return (yield* db.sql(pages, 'column').get()) as number;
}
