import { parseUrl } from './parse-url.ts'

const PROTOCOLS = ['http:', 'https:', 'mailto:']

/** The address of a link, if it is one of the web or of mail; anything else is no link. */
export function safeHref(href: string): string | undefined {
  const url = parseUrl(href)
  return url && PROTOCOLS.includes(url.protocol) ? url.href : undefined
}

/** Signs that nobody sees: a host is the same without them. */
const UNSEEN = /\p{Cf}/gu

/** What stands between the words of a text. Browsers take other full stops for dots, too. */
const BETWEEN = /[^\p{L}\p{M}\p{N}.\u3002\uff0e\uff61-]+/u
const DOT = /[.\u3002\uff0e\uff61]/

/** The longest name of a host. */
const MAX_HOST = 253

/** Where a link leads, if the first host that its text names is another one. @param href as `safeHref` returns it */
export function hostBehind(href: string, text: string): string | undefined {
  const { host, hostname, pathname } = new URL(href)
  const named = hostIn(text)
  const own = hostname || pathname.slice(pathname.lastIndexOf('@') + 1)
  return named === undefined || bare(named) === bare(own) ? undefined : host || own
}

function hostIn(text: string): string | undefined {
  for (const word of text.replace(UNSEEN, '').split(BETWEEN)) {
    const labels = word.length > MAX_HOST ? [] : word.split(DOT).filter((label) => label !== '')
    const url = isHost(labels) ? parseUrl(`http://${labels.join('.')}`) : undefined
    if (url) return url.hostname
  }
  return undefined
}

/** Whether it is a name that ends with letters, or four numbers. */
function isHost(labels: readonly string[]): boolean {
  if (labels.length === 4 && labels.every((label) => /^\d+$/.test(label))) return true
  return labels.length > 1 && /^\p{L}[\p{L}\p{M}\p{N}-]/u.test(labels.at(-1)!)
}

const bare = (host: string) => host.toLowerCase().replace(/^www\./, '')
