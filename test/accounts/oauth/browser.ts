import { checkedFetch } from '../../support/answers.ts'

/** The public address of the service: providers redirect to it, and tests replace it by the real one. */
export const PUBLIC_URL = 'https://chat.example.org'

/** The parts of a browser that a sign-in needs: cookies by origin, redirects one at a time, forms. */
export interface Browser {
  /** Sends a request to the service, with every response checked. */
  ask(path: string, init?: RequestInit): Promise<Response>
  /** Starts a sign-in. @returns the URL that the service redirects to */
  begin(provider: string, query?: Record<string, string>): Promise<string>
  /** Signs in at a provider with its forms, or refuses there. @returns the path of the callback */
  visit(authUrl: string, login: string, options?: { deny?: boolean }): Promise<string>
  /** The whole flow: start, sign-in at the provider, callback. The response is JSON unless `accept` differs. */
  signIn(
    provider: string,
    login: string,
    options?: { accept?: string; query?: Record<string, string> },
  ): Promise<Response>
  /** The cookies that it would send to the service. */
  cookie(): string
}

export function createBrowser(serviceUrl: string): Browser {
  const jars = new Map<string, Map<string, string>>()

  const jarOf = (url: string) => {
    const { origin } = new URL(url)
    if (!jars.has(origin)) jars.set(origin, new Map())
    return jars.get(origin)!
  }
  const cookieFor = (url: string) => [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join('; ')

  async function send(url: string, init: RequestInit, by: typeof fetch): Promise<Response> {
    const headers = { cookie: cookieFor(url), ...(init.headers as Record<string, string>) }
    const response = await by(url, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      if (/Max-Age=0|expires=Thu, 01 Jan 1970/i.test(line)) jarOf(url).delete(name!)
      else jarOf(url).set(name!, value!)
    }
    return response
  }

  const ask = (path: string, init: RequestInit = {}) => send(serviceUrl + path, init, checkedFetch)

  async function begin(provider: string, query: Record<string, string> = {}): Promise<string> {
    const response = await ask(`/api/oauth/${provider}?${new URLSearchParams(query)}`)
    const { auth_url, ...failure } = (await response.json()) as { auth_url: string }
    if (!auth_url) throw new Error(JSON.stringify(failure))
    return auth_url
  }

  async function visit(authUrl: string, login: string, { deny = false } = {}): Promise<string> {
    let url = authUrl
    let response = await send(url, {}, fetch)
    for (let step = 0; step < 12; step++) {
      const location = response.headers.get('location')
      if (location) {
        url = new URL(location, url).href
        if (url.startsWith(PUBLIC_URL)) return url.slice(PUBLIC_URL.length)
        response = await send(url, {}, fetch)
        continue
      }
      const page = await response.text()
      const abort = /href="([^"]*\/abort)"/.exec(page)?.[1]
      const form = /<form[^>]*action="([^"]+)"/.exec(page)?.[1]
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1]
      if (!form || !prompt) throw new Error(`No form at ${url}: ${response.status} ${page.slice(0, 300)}`)
      url = new URL(deny ? abort! : form, url).href
      const body = new URLSearchParams({ prompt, login, password: 'any' })
      response = await send(url, deny ? {} : { method: 'POST', body }, fetch)
    }
    throw new Error(`The provider never sends the browser back from ${url}`)
  }

  return {
    ask,
    begin,
    visit,
    async signIn(provider, login, { accept = 'application/json', query = {} } = {}) {
      return ask(await visit(await begin(provider, query), login), { headers: { accept } })
    },
    cookie: () => cookieFor(serviceUrl),
  }
}
