import type { Message } from 'chat-server/client'
import { parseUrl } from '../markdown/parse-url.ts'
import { visibleText } from './visible-text.ts'

/** What an answer refers to. */
export interface Source {
  key: string
  /** Where it is, if that is a page. */
  href?: string
  /** The host of the page, which a title may hide. */
  host?: string
  title: string
}

/** The sources of an answer in their order, each page and each file once. */
export function sourcesOf(parts: Message['parts'] = []): Source[] {
  const sources = new Map<string, Source>()
  for (const part of parts) {
    if (part.type !== 'source') continue
    const page = part.url === undefined ? undefined : pageOf(part.url)
    const name = part.title || page?.host || part.filename
    const key = page?.href ?? part.filename
    // An address that no link may lead to.
    if (key === undefined || name === undefined || sources.has(key)) continue
    sources.set(key, { key, ...page, title: visibleText(name) })
  }
  return [...sources.values()]
}

function pageOf(url: string): { href: string; host: string } | undefined {
  const { protocol, href = '', host = '' } = parseUrl(url) ?? {}
  return protocol === 'https:' || protocol === 'http:' ? { href, host } : undefined
}
