import { createServer } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createChatApp } from '../../lib/http/index.ts'
import { serve } from '../../lib/http/node/serve.ts'
import { type Chat, createChatService, openStorage, parseConfig } from '../../lib/index.ts'
import { createWebChat, hasWebChat, type WebChatOptions } from '../../lib/web/index.ts'
import { raw } from './raw.ts'

async function start(options?: WebChatOptions, config: object = {}): Promise<{ url: string; chat: Chat }> {
  const chat = createChatService(parseConfig(config), await openStorage({ database: 'sqlite::memory:' }))
  await chat.start()
  const web = options && createWebChat(options)
  const server = await serve(chat, { port: 0, web })
  onTestFinished(async () => {
    await server.close({ drain_seconds: 0 })
    await chat.close()
  })
  return { url: server.url, chat }
}

/** The addresses in the page of what it loads. */
async function filesOf(url: string): Promise<string[]> {
  const html = await (await fetch(url)).text()
  return Array.from(html.matchAll(/(?:href|src)="([^"]+)"/g), ([, path]) => path!)
}

describe('the page', () => {
  it('is served with its files, by GET and HEAD', async () => {
    const { url } = await start({})
    const page = await fetch(url)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(page.headers.get('cache-control')).toBe('no-cache')
    expect(page.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
    const files = await filesOf(url)
    expect(files).toEqual(expect.arrayContaining([expect.stringMatching(/^\/assets\/app-[A-Z0-9]{8}\.js$/)]))
    for (const path of files) {
      const [got, head] = await Promise.all([fetch(url + path), fetch(url + path, { method: 'HEAD' })])
      expect([path, got.status, head.status]).toEqual([path, 200, 200])
      expect((await got.arrayBuffer()).byteLength).toBeGreaterThan(10)
      for (const name of ['content-type', 'etag', 'cache-control', 'content-security-policy'])
        expect(head.headers.get(name)).toBe(got.headers.get(name))
      const isHashed = path.startsWith('/assets/')
      expect(got.headers.get('cache-control')).toBe(isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
    }
  })

  it('takes less than 80.3 kB, compressed, to the first screen', async () => {
    const { url } = await start({})
    const html = await (await fetch(url)).text()
    const first = Array.from(html.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g), ([, path]) => path!)
    const sizes = await Promise.all(
      first.map(async (path) => (await raw(url + path, { 'accept-encoding': 'gzip' })).body.length),
    )
    expect(sizes.length).toBeGreaterThan(1)
    // A browser loads six at once: more would wait for each other.
    expect(sizes.length).toBeLessThan(8)
    expect(sizes.reduce((sum, size) => sum + size, Buffer.byteLength(html))).toBeLessThan(80_300)
  })

  it('shows its name before a script runs', async () => {
    const { url } = await start({ brand: { name: 'Acme & <Co>' } })
    expect(await (await fetch(url)).text()).toMatch(
      /<div id="app"><div class="starting"><p>Acme &#38; &#60;Co&#62;<\/p>/,
    )
  })

  it('has a policy that allows no inline script, no other host and no frame', async () => {
    const { url } = await start({ api: 'https://api.example.org/chat/' })
    const policy = (await fetch(url)).headers.get('content-security-policy')!
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self' https://api.example.org",
      "img-src 'self' data: blob: https://api.example.org",
      "media-src 'self'",
      "manifest-src 'self'",
      "worker-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      'trusted-types chat-worker chat-paste',
    ])
    expect(policy).not.toMatch(/unsafe|\*/)
  })

  it('allows the pictures of the assistants of the configuration', async () => {
    const { url } = await start(
      {},
      {
        assistant: { provider: 'echo', avatar_url: 'https://pictures.example.org/a.png' },
        assistants: { coder: { avatar_url: 'https://example.net:8443/b/c.png' } },
      },
    )
    expect((await fetch(url)).headers.get('content-security-policy')!.split('; ')).toContain(
      "img-src 'self' data: blob: https://pictures.example.org https://example.net:8443",
    )
  })

  it('allows photos from the origins of the configuration', async () => {
    const page = createWebChat()
    const config = parseConfig({ avatars: { hosts: ['https://photos.example.org', 'https://example.net:8443'] } })
    const chat = await createChatService(config, await openStorage({ database: 'sqlite::memory:' }))
    onTestFinished(() => chat.close())
    const response = await createChatApp(chat, { web: page }).fetch(new Request('http://localhost/'))
    expect(response.headers.get('content-security-policy')!.split('; ')).toContain(
      "img-src 'self' data: blob: https://photos.example.org https://example.net:8443",
    )
    for (const host of [
      'http://a.example.org',
      'https://a.example.org/',
      'https://*.example.org',
      'https://a;b.org',
      'https://u:p@a.org',
    ])
      expect(() => parseConfig({ avatars: { hosts: [host] } })).toThrow()
  })

  it('sends the smallest form that the client takes, with one ETag for all of them', async () => {
    const { url } = await start({})
    const path = (await filesOf(url)).find((each) => each.endsWith('.js'))!
    const get = (encodings?: string, more = {}) =>
      raw(url + path, { ...(encodings && { 'accept-encoding': encodings }), ...more })
    const plain = await get()
    const [br, gzip, refused] = [
      await get('gzip, deflate, br'),
      await get('GZIP;q=0.5'),
      await get('br;q=0, gzip;q=0.0'),
    ]
    expect([plain, br, gzip, refused].map(({ headers }) => headers['content-encoding'])).toEqual([
      undefined,
      'br',
      'gzip',
      undefined,
    ])
    expect(brotliDecompressSync(br.body)).toEqual(plain.body)
    expect(gunzipSync(gzip.body)).toEqual(plain.body)
    expect(br.body.length).toBeLessThan(gzip.body.length)
    for (const { headers, body } of [plain, br, gzip]) {
      expect(headers).toMatchObject({ vary: 'accept-encoding', 'content-length': String(body.length) })
      expect(headers.etag).toBe(plain.headers.etag)
    }
    const known = await get('br', { 'if-none-match': `"other", ${plain.headers.etag}` })
    expect([known.status, known.body.length, known.headers.etag]).toEqual([304, 0, plain.headers.etag])
  })

  it('leaves every other path and method to the service', async () => {
    const { url } = await start({})
    const paths: [string, string][] = [
      ['GET', '/conversations'],
      ['GET', '/index.html'],
      ['GET', '/assets/app.js'],
      ['GET', '/assets/'],
      ['GET', '/assets/..%2fapi/setup'],
      ['POST', '/assets/app.js'],
    ]
    for (const [method, path] of paths) {
      const response = await fetch(url + path, { method })
      expect([path, response.headers.get('content-type')]).toEqual([path, 'application/problem+json'])
      expect([400, 404]).toContain(response.status)
    }
    expect(await (await fetch(`${url}/api/setup`)).json()).toEqual({ is_setup: false })
    const { url: without } = await start()
    expect((await fetch(without)).status).toBe(404)
  })

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'answers %s as a path of the API does: it can be read',
    async (method) => {
      const { url } = await start({ base: '/chat' }, { server: { base_path: '/chat' } })
      const script = (await filesOf(url)).find((path) => path.endsWith('.js'))!
      for (const path of ['/', '/chat', '/chat/', '/icon.svg', '/manifest.webmanifest', script]) {
        const response = await fetch(url + path, { method })
        const { status, headers } = response
        const body = await response.text()
        expect([path, status, headers.get('allow')]).toEqual([
          path,
          method === 'OPTIONS' ? 204 : 405,
          'GET, HEAD, OPTIONS',
        ])
        if (status === 405) expect(JSON.parse(body)).toMatchObject({ code: 'method_not_allowed' })
      }
    },
  )

  it('is below the base path, with it and, behind a proxy that has cut it off, without it', async () => {
    const { url } = await start({ base: '/chat' }, { server: { base_path: '/chat' } })
    for (const path of ['/chat', '/chat/', '/']) {
      const files = await filesOf(url + path)
      expect(files.length).toBeGreaterThan(3)
      for (const file of files) {
        expect(file).toMatch(/^\/chat\//)
        expect((await fetch(url + file)).status).toBe(200)
        expect((await fetch(url + file.replace('/chat', ''))).status).toBe(200)
      }
    }
    const manifest = (await (await fetch(`${url}/chat/manifest.webmanifest`)).json()) as object
    expect(manifest).toMatchObject({
      start_url: '/chat/',
      scope: '/chat/',
      icons: [{ src: '/chat/icon.svg' }, {}, {}, { src: '/chat/icon-maskable.png' }],
    })
  })

  it('is below any path that a public URL may have', async () => {
    const base = "/my%20chat/@a&b'c"
    const { url } = await start({ base }, { server: { public_url: `https://example.org${base}` } })
    const files = (await filesOf(url)).map((path) => path.replaceAll('&#38;', '&'))
    expect(files.length).toBeGreaterThan(3)
    for (const file of files) expect([file, (await fetch(url + file)).status]).toEqual([file, 200])
  })

  it('carries the brand, which cannot end the element it is in', async () => {
    const name = '</script><b>"Söhne" & Co'
    const { url } = await start({ brand: { name, sign_in_url: '/login?to=a&b' } })
    const html = await (await fetch(url)).text()
    const [, json = ''] = /<script id="config" type="application\/json">(.*?)<\/script>/s.exec(html) ?? []
    expect(JSON.parse(json)).toEqual({ api: '', brand: { name, sign_in_url: '/login?to=a&b' } })
    expect(html).not.toContain('<b>')
    expect(html).toContain('<title>&#60;/script&#62;&#60;b&#62;&#34;Söhne&#34; &#38; Co</title>')
    expect(await (await fetch(`${url}/manifest.webmanifest`)).json()).toMatchObject({ name })
  })

  it('has a short name of whole characters', async () => {
    const { url } = await start({ brand: { name: '12345678901😀' } })
    const manifest = (await (await fetch(`${url}/manifest.webmanifest`)).json()) as object
    expect(manifest).toMatchObject({ short_name: '12345678901😀' })
  })

  it('has icons of the sizes that systems ask for, and one that they may cut', async () => {
    const { url } = await start({})
    const { icons } = (await (await fetch(`${url}/manifest.webmanifest`)).json()) as { icons: Record<string, string>[] }
    expect(icons.map(({ sizes, purpose }) => `${sizes} ${purpose}`)).toEqual([
      'any any',
      '192x192 any',
      '512x512 any',
      '512x512 maskable',
    ])
    for (const { src, type, sizes } of icons.slice(1)) {
      const response = await fetch(url + src)
      expect([response.status, response.headers.get('content-type')]).toEqual([200, type])
      const bytes = Buffer.from(await response.arrayBuffer())
      expect(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`).toBe(sizes)
      expect(bytes.length).toBeLessThan(20_000)
    }
  })

  it('is a function from a request to a response, for any server', async () => {
    expect(await hasWebChat()).toBe(true)
    const web = createWebChat({ base: '/talk' })
    const server = createServer(async (request, response) => {
      const { status, headers, body } = await web.fetch(new Request(`http://host${request.url}`))
      response.writeHead(status, Object.fromEntries(headers)).end(body && (await new Response(body).text()))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    expect((await fetch(`http://127.0.0.1:${port}/talk/`)).status).toBe(200)
    expect((await fetch(`http://127.0.0.1:${port}/talker`)).status).toBe(404)
    const { status, headers } = await web.fetch(new Request('http://host/talk/', { method: 'PUT' }))
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })
})

it('reads a long Accept-Encoding header in time proportional to its length', async () => {
  const { fetch } = createWebChat()
  const ask = (encodings: string) =>
    fetch(new Request('http://host/icon.svg', { headers: { 'accept-encoding': encodings } }))
  const spaces = ' '.repeat(100_000)
  expect((await ask(`a${spaces}b`)).headers.get('content-encoding')).toBeNull()
  expect((await ask(`br;${spaces}q=0${spaces}, gzip${spaces};q=1`)).headers.get('content-encoding')).toBe('gzip')
})

it.each<[string, WebChatOptions]>([
  ['base', { base: 'chat' }],
  ['base', { base: '/a"b' }],
  ['base', { base: '/a/..' }],
  ['api', { api: '//other.example' }],
  ['api', { api: '/\\other.example' }],
  ['api', { api: 'other.example/chat' }],
  ['api', { api: 'ftp://other.example' }],
  ['api', { api: 'https://' }],
  ['api', { api: '/chat?a=b' }],
  ['brand.name', { brand: { name: ' ' } }],
  ['brand.name', { brand: { name: 'x'.repeat(61) } }],
  ['brand.logo', { brand: { logo: 'https://elsewhere.example/logo.svg' } }],
  ['brand.logo', { brand: { logo: '//elsewhere.example/logo.svg' } }],
  ['brand.colors.accent', { brand: { colors: { accent: 'red;background:url(//x)' } } }],
  ['brand.sign_in_url', { brand: { sign_in_url: 'javascript:alert(1)' } }],
  ['brand.sign_in_url', { brand: { sign_in_url: '//elsewhere.example' } }],
  ['brand.sign_in_url', { brand: { sign_in_url: '/\\elsewhere.example' } }],
])('refuses an invalid %s', (name, options) => {
  expect(() => createWebChat(options)).toThrow(new RegExp(`^${name.replaceAll('.', '\\.')} must`))
})
