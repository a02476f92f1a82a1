// The dates of reports, as many programs write them.

/** Behind the time; a date may follow it (asctime with a zone). */
const ZONE = /:\d\d(?:\.\d+)?\s*(?:[ap]m\s*)?(?:z|utc?|gmt|[ecmp][sd]t|[+-]\d\d:?\d\d)\b/i;
/** What our events can express. */
const [EARLIEST, LATEST] = [Date.UTC(1970, 0), Date.UTC(10_000, 0) - 1];

/** Milliseconds since 1970; null: it is no date. One without a zone is in UTC, wherever this machine is. */
export function readReportedDate(text: string): number | null {
  // ISO 8601 wants it close; behind "PM" it must not be.
  const utc = /\dT\d/.test(text) ? 'Z' : ' Z';
  const time = Date.parse(ZONE.test(text) ? text : `${text.trim()}${utc}`);
  return time >= EARLIEST && time <= LATEST ? time : null;
}
