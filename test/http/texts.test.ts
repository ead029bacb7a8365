import crypto from 'node:crypto'
import { readdirSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { resolve } from 'node:path'
import type * as v from 'valibot'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { HostIdentity } from '../../lib/accounts/identities/schema.ts'
import { ProviderProfile } from '../../lib/accounts/oauth/schema.ts'
import { ChatError } from '../../lib/core/errors.ts'
import { MAX_LENGTH } from '../../lib/core/lengths.ts'
import { type AnyUseCase, parseInput } from '../../lib/core/use-case.ts'
import { bytesFor, startWithFiles, upload } from '../chat/attachments/files.ts'
import { allRoutes } from '../support/all-routes.ts'
import { describeService, setUpService } from '../support/describe-service.ts'
import { innerState, PASSWORD, startService } from '../support/service.ts'
import { signInByHand } from '../support/stream.ts'
import { boundOf, inputWith, textsOf } from '../support/texts.ts'

/** Combining marks in descending order of their class, each as far from its place as possible. */
const marks = (length: number) => '\u0345\u0315\u0301\u0327\u05b0'.repeat(Math.ceil(length / 5)).slice(0, length)

/** Every schema of external input: of routes, of use-cases, and of profiles from providers and hosts. */
const FILES = (readdirSync('lib', { recursive: true }) as string[]).filter((file) => file.endsWith('.ts'))
const features = await Promise.all(
  FILES.map(
    async (file): Promise<[string, Record<string, unknown>]> => [
      file,
      await import(/* @vite-ignore */ resolve('lib', file)),
    ],
  ),
)
const isUseCase = (value: unknown): value is AnyUseCase =>
  typeof value === 'object' && value !== null && 'takes' in value
const SCHEMAS: [name: string, schema: v.GenericSchema][] = [
  ...allRoutes.flatMap(([name, route]) =>
    (['query', 'body', 'headers'] as const)
      .filter((part) => route[part] !== undefined)
      .map((part): [string, v.GenericSchema] => [`${part} of ${name}`, route[part]!]),
  ),
  ...features.flatMap(([file, exported]) =>
    Object.entries(exported).flatMap(([name, value]): [string, v.GenericSchema][] =>
      isUseCase(value) && value.input ? [[`${file} ${name}`, value.input]] : [],
    ),
  ),
  ['profile at a provider', ProviderProfile],
  ['identity of the host', HostIdentity],
]
const FIELDS = SCHEMAS.flatMap(([name, schema]) => textsOf(schema).map((field) => ({ name, whole: schema, ...field })))

/** Every function that has read a text, by the length of the text. */
const seen: { by: string; length: number }[] = []
const note = (by: string, text: unknown) => {
  if (typeof text === 'string' && /\u0345\u0315/.test(text.slice(0, 99))) seen.push({ by, length: text.length })
}

/** Instruments the real functions of strings and hashes to record their arguments. */
function watch(): void {
  for (const name of ['normalize', 'toLowerCase', 'toUpperCase', 'localeCompare'] as const) {
    const real = String.prototype[name] as (...args: unknown[]) => unknown
    vi.spyOn(String.prototype, name).mockImplementation(function (this: string, ...args: unknown[]) {
      note(name, String(this))
      return real.apply(this, args) as never
    })
  }
  const { segment } = Intl.Segmenter.prototype
  vi.spyOn(Intl.Segmenter.prototype, 'segment').mockImplementation(function (this: Intl.Segmenter, text: string) {
    note('segment', text)
    return segment.call(this, text)
  })
  const { hash } = crypto
  vi.spyOn(crypto, 'hash').mockImplementation((...args: Parameters<typeof hash>) => {
    note('hash', args[1])
    return hash(...args) as never
  })
  syncBuiltinESMExports()
}

/** The same for regular expressions: `test` and the methods of strings call `exec`. */
function watchPatterns(): void {
  const { exec } = RegExp.prototype
  vi.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, text: string) {
    if (text.startsWith('\u0345\u0315')) seen.push({ by: this.source, length: text.length })
    return exec.call(this, text)
  })
}

afterEach(() => {
  vi.restoreAllMocks()
  syncBuiltinESMExports()
  seen.length = 0
})

it('finds every text of an input', () => {
  expect(FIELDS.length).toBeGreaterThan(80)
  const places = FIELDS.map(({ name, path }) => `${name}: ${path}`)
  for (const place of [
    'body of authLogin: password',
    'query of usersList: query',
    'headers of messagesPostRoot: idempotency-key',
    'body of openaiComplete: messages[].content',
    'body of openaiComplete: messages[].content[].text',
    'accounts/users/service.ts list: query',
    'profile at a provider: names[]',
    'identity of the host: subject',
  ])
    expect(places).toContain(place)
})

describe.each(FIELDS)('$path in the $name', ({ name, whole, path, schema }) => {
  it('is measured before any other check', () => {
    const isFile = /attachments/i.test(name) || path.endsWith('filename')
    const bound = boundOf(schema)
    expect(bound, 'has no longest length before its first check').toBeTypeOf('number')
    expect(bound).toBeLessThanOrEqual(MAX_LENGTH.message)
    if (/password/.test(path)) expect(bound).toBeLessThanOrEqual(MAX_LENGTH.password)
    if (/e?mail/.test(path)) expect(bound).toBeLessThanOrEqual(MAX_LENGTH.email)
    if (/name|title|query/.test(path))
      expect(bound).toBeLessThanOrEqual(isFile ? MAX_LENGTH.file_name : MAX_LENGTH.name)
  })

  it('is refused when it is too long, without another check', () => {
    const length = (boundOf(schema) ?? MAX_LENGTH.message) + 1
    const input = inputWith(path, marks(length))
    watch()
    watchPatterns()
    try {
      parseInput(whole, input)
    } catch (error) {
      if (!(error instanceof ChatError)) throw error
      expect(error.code).toBe('validation_failed')
      expect(JSON.stringify(error.errors).length).toBeLessThan(1_000)
    }
    const looked = [...seen]
    vi.restoreAllMocks()
    expect(looked.filter((each) => each.length >= length)).toEqual([])
  })
})

describe('over HTTP', () => {
  const service = setUpService(() => startService('sqlite::memory:'))
  let headers: Record<string, string>
  let authorization: string
  beforeAll(async () => {
    const ada = await service.signIn('ada')
    headers = { ...(await signInByHand(service.base_url, ada.email, PASSWORD)) }
    authorization = `Bearer ${(await ada.keys.create({ name: 'sdk' })).key}`
  })

  it.each(allRoutes)('%s processes no text that is too long, in any field', async (_, route) => {
    // Of the header block, and of a body, all that a request may have.
    const [short, long] = [marks(1_100), marks(30_000)]
    const plain = route.path.replace(/\{\w+\}/g, '01890000-0000-7000-8000-000000000000')
    const calls: [target: string, body?: unknown][] = [
      ...(route.query ? textsOf(route.query) : [])
        // A list of ids may be as long.
        .filter(({ schema }) => (boundOf(schema) ?? 0) < short.length)
        .map(({ path }): [string] => [`${plain}?${path}=${encodeURI(short)}`]),
      ...(route.path.includes('{')
        ? [[route.path.replace(/\{\w+\}/g, encodeURI(short)), route.body && {}] as [string, unknown]]
        : []),
      ...(route.body ? textsOf(route.body) : []).map(({ path }): [string, unknown] => [plain, inputWith(path, long)]),
    ]
    watch()
    for (const [target, body] of calls) {
      const response = await fetch(service.base_url + target, {
        method: route.method,
        headers: {
          ...(route.by_token ? { authorization } : route.access !== 'public' && headers),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(route.bytes && { 'content-type': 'application/octet-stream' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      // What is told to a model may be that long.
      const others = [...(route.is_protocol ? [200] : []), ...(route.status_if_empty ? [route.status_if_empty] : [])]
      expect([400, 404, 422, ...others], `${target.slice(0, 99)} ${await response.text()}`).toContain(response.status)
    }
    // A path may be as long as an address; what is looked up by it is not normalised.
    const allowed = { normalize: 0, toLowerCase: 0, hash: MAX_LENGTH.url } as Record<string, number>
    expect(seen.filter(({ by, length }) => length > (allowed[by] ?? 0))).toEqual([])
  })
})

describeService('a text that is stored', startWithFiles, (service) => {
  it('is normalised and segmented in pieces of at most 64 units, whatever is done with it', async () => {
    const ada = await service.signIn('ada')
    const grace = await service.signIn('grace')
    const { conversation_id } = await ada.conversations.create({ title: `t${marks(150)}` })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const bytes = await bytesFor(service, ada)
    watch()
    const longest = (by: string) => Math.max(0, ...seen.filter((each) => each.by === by).map(({ length }) => length))

    // Runs of marks behind each kind of letter, behind words and in mentions, as long as a message may be.
    const run = marks(20_000)
    const texts = ['a', 'م', 'क', '京', '\u1100', '1', '👨', 'needle '].map((letter) => `${letter}${run} needle`)
    const mention = `${`@grace${marks(60)} `.repeat(300)}@grace needle`
    const ids: string[] = []
    for (const content of [...texts, mention])
      ids.push((await ada.messages.postRoot(conversation_id, { content })).message_id)
    const [first, second] = ids as [string, string]
    await ada.messages.reply(first, { content: texts[1]! })
    await ada.messages.edit(first, { content: texts[2]! })
    await ada.messages.remove(second, { reason: marks(100) })
    await ada.messages.restore(second)
    await ada.reactions.add(first, ':tada:')
    await ada.pins.add(first)
    const search = async () => {
      for (const q of ['needle', 'needle -nothing', `"a${marks(400)}"`, 'from:@grace needle', 'needle has:mention'])
        await grace.search.messages({ q })
    }
    await search()
    await Promise.all(service.nodes.map((node) => innerState(node).search.move()))
    await search()
    expect((await grace.search.messages({ q: 'needle' })).results.length).toBeGreaterThanOrEqual(9)
    await grace.threads.list(conversation_id)
    await grace.threads.tree(first)
    await grace.messages.listRevisions(first)
    await grace.notifications.list()
    await grace.conversations.list()
    expect(longest('segment')).toBeGreaterThan(0)
    expect(longest('segment')).toBeLessThanOrEqual(64)
    // What stands behind an @ may be a username that is decomposed.
    expect(longest('normalize')).toBeGreaterThan(60)
    expect(longest('normalize')).toBeLessThanOrEqual(2 * MAX_LENGTH.username)

    // The name of a file is searched, and sent in a header.
    const file = await upload(ada, bytes, conversation_id, { name: `f${marks(200)}.txt` })
    await ada.messages.postRoot(conversation_id, { content: '', attachment_ids: [file] })
    await bytes.read(`/api/attachments/${file}/content`)
    await grace.search.messages({ q: 'txt' })
    expect(longest('normalize')).toBeGreaterThan(2 * MAX_LENGTH.username)
    expect(longest('normalize')).toBeLessThanOrEqual(MAX_LENGTH.file_name)
    for (const by of ['toLowerCase', 'toUpperCase', 'localeCompare'])
      expect(longest(by)).toBeLessThanOrEqual(MAX_LENGTH.file_name)
  })
})
