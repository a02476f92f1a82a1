// Tells links for unsubscribing from all others: they are never rewritten, because whoever wants no
// more mail does not want to be counted either, and because scanners follow tracked links first.

/** In URLs, where they stand between punctuation or run together. */
const URL_WORDS =
  /unsubscri|opt[-_.]?out|abmeld|abbestell|desabonn|desinscri|darse[-_]?de[-_]?baja|cancelar[-_]?suscri|disiscri|afmeld|uitschrijv|wypis/i;

/** What people read on such links, in the languages that most mail is written in. */
const TEXT_WORDS =
  /unsubscribe|opt[\s-]?out|abmelden|abbestellen|abmeldung|austragen|d[ée]sabonne|d[ée]sinscri|darse de baja|cancelar (?:la )?suscripci|anular (?:la )?suscripci|cancelar (?:a )?(?:inscri|assinatura)|disiscri|annulla (?:l['’])?iscrizione|afmelden|uitschrijven|wypisz|отписаться|退订|取消订阅|配信停止|수신\s?거부/i;

export interface LinkToJudge {
  href: string;
  rel: string;
  text: string;
}

/** `ownUrls` are those that the message's own List-Unsubscribe names. */
export function isUnsubscribeLink({ href, rel, text }: LinkToJudge, ownUrls: ReadonlySet<string>): boolean {
  if (ownUrls.has(href) || /(?:^|\s)unsubscribe(?:\s|$)/i.test(rel)) return true;
  return URL_WORDS.test(withoutHost(href)) || TEXT_WORDS.test(text.replace(/\s+/g, ' '));
}

/** The URIs of a List-Unsubscribe header (RFC 2369 section 2). */
export function listUnsubscribeUrls(headers: readonly (readonly [name: string, value: string])[]): Set<string> {
  const values = headers.flatMap(([name, value]) => (name.toLowerCase() === 'list-unsubscribe' ? [value] : []));
  return new Set(values.flatMap((value) => [...value.matchAll(/<([^<>]*)>/g)].map((match) => match[1]!.trim())));
}

/** A shop called optout.example is no reason. */
function withoutHost(href: string): string {
  return href.replace(/^[a-z]+:\/\/[^/?#]*/i, '');
}
