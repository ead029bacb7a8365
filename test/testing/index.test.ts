import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { transformSync } from 'esbuild'
import { afterEach, describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { createTestChat, createTestSchema, type TestChat, type TestChatOptions } from '../../lib/testing/index.ts'
import { createPostgresDatabase } from '../support/databases.ts'
import { textOf } from '../support/pages.ts'
import { codeOf } from '../support/service.ts'

let tests: TestChat[] = []
afterEach(async () => {
  await Promise.all(tests.map(({ close }) => close()))
  tests = []
})

async function start(options: TestChatOptions = {}): Promise<TestChat> {
  const test = await createTestChat(options)
  tests.push(test)
  return test
}

it('has users that act in process and over HTTP', async () => {
  const { chat, actor, client } = await start({ users: ['ada', { username: 'root', roles: ['admin'] }] })
  const { conversation_id } = await chat.conversations.create(actor('ada'), { title: 'Engines' })
  const ada = client('ada')
  expect((await ada.conversations.list()).conversations).toMatchObject([{ id: conversation_id, title: 'Engines' }])
  await ada.messages.postRoot(conversation_id, { content: 'Does it run?' })
  expect((await ada.auth.me()).user).toMatchObject({ username: 'ada', email: 'ada@example.org' })
  expect((await client('root').users.list()).users).toHaveLength(2)
  expect(await codeOf(ada.users.list())).toBe('forbidden')
  expect(await codeOf(client().auth.me())).toBe('unauthenticated')
})

it('gives each client a session that it can renew and end', async () => {
  const { client } = await start({ users: ['ada'] })
  const [here, there] = [client('ada'), client('ada')]
  await here.auth.refresh()
  await here.auth.me()
  await here.auth.logout()
  expect(await codeOf(here.auth.me())).toBe('unauthenticated')
  expect((await there.auth.me()).user.username).toBe('ada')
})

it('sends live events', async () => {
  const { client } = await start({ users: ['ada'] })
  const ada = client('ada')
  const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
  const { stream_position } = await ada.conversations.get(conversation_id)
  await ada.messages.postRoot(conversation_id, { content: 'missed' })
  const texts: string[] = []
  for await (const { event } of ada.events.follow(conversation_id, { last_event_id: stream_position })) {
    if (event.type !== 'message.new') continue
    texts.push(event.payload.message.content)
    if (texts.length === 1) await ada.messages.postRoot(conversation_id, { content: 'live' })
    else break
  }
  expect(texts).toEqual(['missed', 'live'])
})

it('holds the clock where the test puts it', async () => {
  const { client, clock } = await start({ users: ['ada'], clock: '2026-01-31T12:00:00Z' })
  const ada = client('ada')
  const { conversation } = await ada.conversations.create({ title: 'Engines' })
  expect(conversation.created_at).toMatch(/^2026-01-31T12:00:00/)
  clock.advance(3600)
  expect(clock.now().toISOString()).toBe('2026-01-31T13:00:00.000Z')
  clock.advance(365 * 24 * 3600)
  expect(await codeOf(ada.auth.me())).toBe('session_expired')
  expect(() => clock.advance(-1)).toThrow(RangeError)
  await expect(createTestChat({ clock: 'yesterday' })).rejects.toThrow('The clock "yesterday" is not an instant')
})

it('answers with a text, or with an assistant of the test', async () => {
  const { client } = await start({ users: ['ada'], assistant: 'Because of Rayleigh.' })
  const ada = client('ada')
  const { conversation_id } = await ada.conversations.create({ title: 'Sky' })
  const { stream_position } = await ada.conversations.get(conversation_id)
  const asked = await ada.messages.postRoot(conversation_id, { role: 'assistant', content: 'Why is it blue?' })
  for await (const { event } of ada.events.follow(conversation_id, { last_event_id: stream_position }))
    if (event.type === 'message.done') break
  expect(await ada.messages.get(asked.message_id)).toMatchObject({
    content: 'Because of Rayleigh.',
    status: 'complete',
  })
})

it('names the users there are', async () => {
  const { actor, client } = await start({ users: ['ada', 'grace'] })
  expect(() => actor('eve')).toThrow('createTestChat has no user "eve": its users are ada,grace')
  expect(() => client('eve')).toThrow('no user "eve"')
  expect(await codeOf(createTestChat({ users: ['ada', 'ada'] }))).toBe('email_taken')
})

it('opens no port, and takes a part of the configuration', async () => {
  const listen = vi.spyOn(Object.getPrototypeOf(createServer()), 'listen')
  const { client } = await start({ users: ['ada'], config: { limits: { message_bytes: 10 } } })
  const ada = client('ada')
  const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
  expect(await codeOf(ada.messages.postRoot(conversation_id, { content: 'more than ten bytes' }))).toBe(
    'validation_failed',
  )
  expect(listen).not.toHaveBeenCalled()
  listen.mockRestore()
})

it('takes the login of a host, whose users it has by their subjects', async () => {
  const { client, actor, chat } = await start({
    users: [{ username: 'ada', subject: '42', roles: ['admin'] }, 'grace'],
    identity: ({ headers }) => (headers.has('x-login') ? { subject: headers.get('x-login')! } : null),
  })
  const asAda = { headers: { 'x-login': '42' } }
  const { user } = await client().auth.me(asAda)
  expect(user).toMatchObject({ id: actor('ada').user_id, username: 'ada', roles: ['admin'] })
  expect((await client('ada').auth.me()).user).toEqual(user)
  expect(await chat.users.actorOf('grace')).toEqual(actor('grace'))
  expect(await codeOf(client().auth.me())).toBe('unauthenticated')
  expect(() => client('eve')).toThrow('no user "eve"')
  expect(await codeOf(client('ada').keys.list())).toBe('not_found')
})

it('passes hooks and every other port on', async () => {
  const [seen, lines]: [string[], string[]] = [[], []]
  const log = (message: string) => void lines.push(message)
  const { client, chat } = await start({
    users: ['ada'],
    hooks: { beforeMessage: () => ({ refuse: 'Not today.' }), afterEvent: ({ type }) => void seen.push(type) },
    log: { debug: log, info: log, warn: log, error: log },
  })
  const { conversation_id } = await client('ada').conversations.create({ title: 'Engines' })
  await expect(client('ada').messages.postRoot(conversation_id, { content: 'hello' })).rejects.toThrow('Not today.')
  await chat.idle()
  expect(seen).toEqual(['membership.changed'])
  expect(lines.join()).toContain('Created the schema')
})

describe.skipIf(inject('postgres_url') === null)('on PostgreSQL', () => {
  it('has a schema of its own, which it shares with a second one, and which can be dropped', async () => {
    const { url, remove } = await createPostgresDatabase()
    onTestFinished(remove)
    const [mine, other] = await Promise.all([createTestSchema(url), createTestSchema(url)])
    const first = await start({ users: ['ada'], database: mine })
    const second = await start({ users: ['ada', 'grace'], database: mine })
    const apart = await start({ users: ['ada'], database: other })
    await first.client('ada').conversations.create({ title: 'Engines' })
    expect(second.actor('ada')).toEqual(first.actor('ada'))
    expect((await second.client('ada').conversations.list()).conversations).toHaveLength(1)
    expect((await apart.client('ada').conversations.list()).conversations).toHaveLength(0)
    await Promise.all(tests.splice(0).map(({ close }) => close()))
    await Promise.all([mine.drop(), other.drop()])
    await mine.drop()
    await expect(createTestChat({ database: mine, config: { storage: { migrate: false } } })).rejects.toThrow(/schema/)
  })

  it('names why the database cannot be reached', async () => {
    await expect(createTestSchema('postgres://ada@127.0.0.1:1/none')).rejects.toThrow('ECONNREFUSED')
  })
})

it.for(codeOfPage('docs/embedding/testing.md'))('runs the code of its page: %s', async ([, code], { skip }) => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  if (code.includes('TEST_DATABASE')) {
    skip(inject('postgres_url') === null, 'PostgreSQL is not installed')
    await setTestDatabase()
  }
  const names = { assert, createTestChat, createTestSchema }
  await new AsyncFunction(...Object.keys(names), code)(...Object.values(names))
})

async function setTestDatabase(): Promise<void> {
  const { url, remove } = await createPostgresDatabase()
  vi.stubEnv('TEST_DATABASE', url)
  onTestFinished(async () => {
    vi.unstubAllEnvs()
    await remove()
  })
}

const AsyncFunction = (async () => {}).constructor as new (...args: string[]) => (...values: unknown[]) => Promise<void>

/** Each block of code of a page without its imports, with its first statement as its name. */
function codeOfPage(page: string): [name: string, code: string][] {
  return [...textOf(page).matchAll(/^```ts\n(.*?)^```/gms)].map(([, block]) => {
    const code = block!.replaceAll(/^import .*\n/gm, '').trim()
    return [code.split('\n')[0]!, transformSync(code, { loader: 'ts', target: 'node20' }).code]
  })
}
