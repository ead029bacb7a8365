const PROTOCOLS = ['http:', 'https:', 'mailto:']

/** The address of a link, if it is one of the web or of mail; anything else is no link. */
export function safeHref(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined
  const url = new URL(href)
  return PROTOCOLS.includes(url.protocol) ? url.href : undefined
}
