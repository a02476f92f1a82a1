// Where our links in mail lead: short paths, because they stand in every message, under
// `service.links_url`.

export const LINK_PATHS = { open: '/o/', click: '/c/', unsubscribe: '/u/' } as const;

export type LinkKind = keyof typeof LINK_PATHS;

/** `linksUrl` is an origin. */
export function linkUrl(linksUrl: string, kind: LinkKind, token: string): string {
  return `${linksUrl}${LINK_PATHS[kind]}${token}`;
}
