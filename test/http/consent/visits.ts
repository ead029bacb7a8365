import { createHash, randomBytes } from 'node:crypto'

/** What a browser shows: a page of the service, or where it was sent to. */
export interface Shown {
  status: number
  /** The address of the page, or where the browser was sent to. */
  url: string
  text: string
  headers: Headers
}

/** A browser without a script: cookies, redirects of the service, forms. */
export function openBrowser(base_url: string) {
  const cookies = new Map<string, string>()

  async function go(url: string, init: RequestInit = {}): Promise<Shown> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(cookie && { cookie }), ...(init.headers as object) }
    const response = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const text = await response.text()
    const location = response.headers.get('location')
    if (location === null) return { status: response.status, url, text, headers: response.headers }
    const next = new URL(location, url).href
    if (response.status === 303 && next.startsWith(base_url)) return go(next)
    return { status: response.status, url: next, text, headers: response.headers }
  }

  return {
    cookies,
    go: (path: string, init?: RequestInit) => go(new URL(path, base_url).href, init),
    /** Sends the form of a page as a browser does, with what is filled in; `undefined` leaves a field out. */
    submit(page: Shown, filled: Record<string, string | undefined>, headers: Record<string, string> = {}) {
      const action = /<form method="post" action="([^"]+)">/.exec(page.text)?.[1]
      if (action === undefined) throw new Error(`no form: ${page.status} ${page.text}`)
      const fields = Object.entries({ ...fieldsOf(page), ...filled }).filter(([, value]) => value !== undefined)
      const body = new URLSearchParams(fields as [string, string][])
      return go(new URL(action, page.url).href, { method: 'POST', body, headers })
    },
  }
}

/** The fields of a form that a browser sends unless they are changed. */
export function fieldsOf({ text }: Pick<Shown, 'text'>): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [input] of text.matchAll(/<input [^>]*>/g)) {
    const attribute = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(input)?.[1]
    const isSent = attribute('type') !== 'checkbox' || / checked/.test(input)
    if (isSent) fields[attribute('name')!] = unescapeHtml(attribute('value') ?? '')
  }
  return fields
}

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }

const unescapeHtml = (text: string) => text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity]!)

/** What a page says is wrong. */
export const alertIn = ({ text }: Pick<Shown, 'text'>) => /role="alert">([^<]*)</.exec(text)?.[1]

/** The parameters that a client is sent back with. */
export function answerIn({ url }: Pick<Shown, 'url'>): Record<string, string> {
  return Object.fromEntries(new URL(url).searchParams)
}

/** A verifier, and its challenge. */
export function createChallenge() {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, code_challenge: createHash('sha256').update(verifier).digest('base64url') }
}
