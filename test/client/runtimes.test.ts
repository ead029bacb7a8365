import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { createChatClient, streamMessage } from '../../lib/client/index.ts'

afterEach(() => void vi.unstubAllGlobals())

it('sends whole queries from a runtime that has no crypto, and URL and URLSearchParams in part only', async () => {
  const urls: string[] = []
  const fetch = async (url: string) => {
    urls.push(url)
    return Response.json({ users: [] })
  }
  for (const [name, value] of Object.entries({ fetch, crypto: undefined, URL: class {}, URLSearchParams: class {} }))
    vi.stubGlobal(name, value)
  const client = createChatClient({ base_url: 'https://chat.test/chat/' })
  await client.users.search({ query: 'Ödön & co=+1 \uD83D 😀', limit: 5, ids: undefined })
  await client.users.search({})
  vi.unstubAllGlobals()
  expect(urls[0]).toBe(`https://chat.test/chat/api/users?query=${encodeURIComponent('Ödön & co=+1 \uFFFD 😀')}&limit=5`)
  expect(Object.fromEntries(new URL(urls[0]!).searchParams)).toEqual({ query: 'Ödön & co=+1 \uFFFD 😀', limit: '5' })
  expect(urls[1]).toBe('https://chat.test/chat/api/users')
})

it('streams a message where there is no crypto, as a page without https has no randomUUID', async () => {
  const keys: (string | null)[] = []
  const fetch = async (_: unknown, { headers }: RequestInit = {}) => {
    keys.push(new Headers(headers).get('idempotency-key'))
    return Response.json({ message_id: 'a', root_id: 'a' })
  }
  vi.stubGlobal('crypto', undefined)
  const client = createChatClient({ base_url: 'https://chat.test', fetch })
  for (const conversation_id of ['one', 'other']) await streamMessage(client, conversation_id)
  vi.unstubAllGlobals()
  expect(new Set(keys).size).toBe(2)
})

it('needs no crypto anywhere', () => {
  const files = readdirSync('lib/client', { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path))
  expect(files.length).toBeGreaterThan(50)
  expect(files.filter((path) => /\bcrypto\b\./.test(readFileSync(`lib/client/${path}`, 'utf8')))).toEqual([])
})

it('refuses to follow events by a transport that the runtime does not have, and does not try it again', async () => {
  const client = createChatClient({ base_url: 'http://chat.test', transport: 'xhr' })
  await expect(client.events.followAll().next()).rejects.toMatchObject({
    code: 'bad_request',
    message: 'The transport "xhr" needs XMLHttpRequest',
  })
})

it('uploads a file where a signal has neither a reason nor throwIfAborted', async () => {
  const { throwIfAborted } = AbortSignal.prototype
  const reason = Object.getOwnPropertyDescriptor(AbortSignal.prototype, 'reason')!
  onTestFinished(() => {
    AbortSignal.prototype.throwIfAborted = throwIfAborted
    Object.defineProperty(AbortSignal.prototype, 'reason', reason)
  })
  Reflect.deleteProperty(AbortSignal.prototype, 'throwIfAborted')
  Object.defineProperty(AbortSignal.prototype, 'reason', { ...reason, get: () => undefined })
  const attachment = { id: 'a', size: 3 }
  const fetch = async (_: unknown, { method }: RequestInit = {}) =>
    method === 'POST'
      ? Response.json({ attachment: { ...attachment, status: 'uploading' }, part_bytes: 4, parts: 1 })
      : Response.json({ attachment: { ...attachment, status: 'ready' } })
  const client = createChatClient({ base_url: 'http://chat.test', fetch })
  const upload = (signal?: AbortSignal) =>
    client.upload('id', new Blob(['abc']), { name: 'abc', ...(signal && { signal }) })
  expect(await upload()).toMatchObject({ status: 'ready' })
  await expect(upload(AbortSignal.abort())).rejects.toThrow('The upload was broken off')
})
