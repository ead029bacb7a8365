import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createChatApp } from '../lib/http/app.ts'
import { createChatService, OPERATOR, openStorage, parseConfig } from '../lib/index.ts'
import { describeOnEachDatabase, describeOnEachEmptyDatabase } from './support/databases.ts'
import { codeOf } from './support/service.ts'

const CONFIG = parseConfig({ security: { password: { bcrypt_cost: 4 } } })
const ADA = { email: 'ada@example.org', password: 'correct horse' }

describeOnEachDatabase('the library', (openUrl) => {
  it('creates users, a conversation and a thread, and follows events, without HTTP', async () => {
    const chat = createChatService(CONFIG, await openStorage({ database: await openUrl(), strict: true }))
    await chat.start()
    const { user } = await chat.setup.run(ADA)
    const ada = await chat.users.actor(user.id)
    const { conversation_id } = await chat.conversations.create(ada)
    const { root_id } = await chat.messages.postRoot(ada, conversation_id, { content: 'hello' })
    await chat.messages.reply(ada, root_id, { content: 'again' })
    const tree = await chat.threads.tree(ada, root_id)
    expect(tree.messages.map((message) => message.content)).toEqual(['hello', 'again'])

    const signedIn = await chat.auth.login({}, ADA)
    const actor = await chat.auth.authenticate(new Headers({ cookie: `SESSION_ID=${signedIn.token}` }))
    expect(actor).toMatchObject({ user_id: user.id, roles: ['admin', 'member'], session_id: signedIn.session.id })
    await chat.close()
  })
})

describeOnEachEmptyDatabase('the library on a new database', (openUrl) => {
  it('does nothing before start and after close', async () => {
    const url = await openUrl()
    const storage = await openStorage({ database: url })
    const chat = createChatService(CONFIG, storage)
    expect((await storage.migrations()).every((step) => !step.applied_at)).toBe(true)
    await chat.start()
    expect((await storage.migrations()).every((step) => step.applied_at)).toBe(true)
    await chat.close()
    expect(await codeOf(chat.setup.get())).toBe('unavailable')
    await chat.close()
  })

  it('migrates an old schema at the start only if the configuration allows it', async () => {
    const chat = createChatService(
      parseConfig({ storage: { migrate: false } }),
      await openStorage({ database: await openUrl() }),
    )
    await expect(chat.start()).rejects.toThrow(/chat-server migrate/)
    await chat.close()
  })
})

describe('use-cases', () => {
  it.each([
    ['no content', {}],
    ['the wrong type', { content: 5 }],
    ['null', null],
    ['an array', [{ content: 'x' }]],
  ])('validate the input of a host: %s', async (_, input) => {
    const chat = createChatService(CONFIG, await openStorage({ database: 'sqlite::memory:' }))
    await chat.start()
    const { user } = await chat.setup.run(ADA)
    const ada = await chat.users.actor(user.id)
    const { conversation_id } = await chat.conversations.create(ada, {})
    expect(await codeOf(chat.messages.postRoot(ada, conversation_id, input as never))).toBe('validation_failed')
    expect(await codeOf(chat.messages.postRoot(ada, 'no id\0', { content: 'x' }))).toBe('not_found')
    await chat.close()
  })

  it('never throw at the call: a promise rejects, a loop fails at its first step', async () => {
    const chat = createChatService(CONFIG, await openStorage({ database: 'sqlite::memory:' }))
    await chat.start()
    const endless = 'x'.repeat(1_000_000)
    expect(await codeOf(chat.conversations.get(OPERATOR, endless))).toBe('not_found')
    expect(await codeOf(chat.ops.metrics(endless))).toBe('not_found')
    expect(await codeOf(chat.ops.probe({ ...OPERATOR, ip: endless }))).toBe('validation_failed')
    const loop = chat.events.follow(OPERATOR, endless)
    expect(await codeOf(loop.next())).toBe('not_found')
    expect((await loop.next()).done).toBe(true)
    // Left before its first step, a loop has looked at nothing.
    expect((await chat.events.follow(OPERATOR, endless).return(undefined)).done).toBe(true)
    await chat.close()
  })
})

describe('the adapters', () => {
  it('serve the result of createChatService or a copy of it, and refuse any other object', async () => {
    const chat = createChatService(CONFIG, await openStorage({ database: 'sqlite::memory:' }))
    await chat.start()
    expect(Object.keys(chat)).not.toContain('context')
    const app = createChatApp({ ...chat })
    expect((await app.fetch(new Request('http://host/healthz'))).status).toBe(200)
    expect(() => createChatApp({} as never)).toThrow('Expected a service that createChatService returned')
    await chat.close()
  })
})

describe('embedding', () => {
  it('runs two independent services in one process', async () => {
    const [one, two] = await Promise.all(
      [1, 2].map(async () => createChatService(CONFIG, await openStorage({ database: 'sqlite::memory:' }))),
    )
    await Promise.all([one!.start(), two!.start()])
    await one!.setup.run(ADA)
    expect(await one!.setup.get()).toEqual({ is_setup: true })
    expect(await two!.setup.get()).toEqual({ is_setup: false })
    await one!.close()
    expect(await two!.setup.get()).toEqual({ is_setup: false })
    await two!.close()
  })

  it('answers under a base path of another h3 app', async () => {
    const { H3 } = await import('h3')
    const chat = createChatService(CONFIG, await openStorage({ database: 'sqlite::memory:' }))
    await chat.start()
    const host = new H3().get('/', () => 'host').mount('/chat', createChatApp(chat) as InstanceType<typeof H3>)
    const get = async (path: string) => (await host.fetch(new Request(`http://host${path}`))).status
    expect(await get('/chat/api/setup')).toBe(200)
    expect(await get('/chat/api/nothing')).toBe(404)
    expect(await get('/')).toBe(200)
    await chat.close()
  })

  it('adds no handler, listener or output to the process, and leaves nothing open', () => {
    const script = `
      const before = process.eventNames().join()
      const { createChatService, openStorage, parseConfig } = await import('./lib/index.ts')
      const { createChatApp } = await import('./lib/http/app.ts')
      const chat = createChatService(parseConfig({}), await openStorage({ database: 'sqlite::memory:' }))
      await chat.start()
      await (await createChatApp(chat).fetch(new Request('http://x/metrics'))).text()
      await chat.close()
      const open = () => process.getActiveResourcesInfo().filter((kind) => !['PipeWrap', 'TTYWrap', 'MessagePort'].includes(kind))
      // The loader of the modules may still read and write its cache; a leak stays.
      const deadline = Date.now() + 5_000
      while (open().length > 0 && Date.now() < deadline) await new Promise(setImmediate)
      process.stdout.write(JSON.stringify({ added: process.eventNames().join() !== before, open: open() }))
    `
    const output = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      encoding: 'utf8',
    })
    expect(JSON.parse(output)).toEqual({ added: false, open: [] })
  })
})
