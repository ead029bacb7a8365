import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Ports } from '../../lib/index.ts'
import { ChatError } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'
import { ageLeases, createPuppet } from '../support/assistant.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import {
  codeOf,
  innerState,
  type ServiceOptions,
  startService,
  startThread,
  type TestService,
} from '../support/service.ts'

describeOnEachDatabase('answers that lose their process or their storage', (openUrl) => {
  const services: TestService[] = []
  let url: string

  beforeEach(async () => {
    url = await openUrl()
  })
  afterEach(async () => {
    for (const service of services.splice(0)) await service.close()
  })

  async function start(options: ServiceOptions & { ports: Ports }): Promise<TestService> {
    const service = await startService(url, { config: { assistant: { drain_seconds: 0 } }, ...options })
    services.push(service)
    return service
  }

  /** A service with a user who asks, and its puppet. */
  async function startAsked(options: ServiceOptions = {}) {
    const { assistant, asked } = createPuppet()
    const service = await start({ ...options, ports: { assistant } })
    const { ada, conversation_id } = await startThread(service)
    const ask = () => ada.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant' })
    const read = (message_id: string) => ada.messages.get(message_id)
    const { answers } = innerState(service)
    return { service, ada, conversation_id, asked, ask, read, answers }
  }

  it('are interrupted by another process after the lease has expired, and not before', async () => {
    const { service, ada, conversation_id, asked, ask, read } = await startAsked()
    const { message_id } = await ask()
    const answer = await asked()
    answer.say('Because')
    await untilStored(service, message_id, 1)

    const other = (await start({ ports: {} })).chat
    await ageLeases(service.chat, 9)
    await innerState(other).answers.renewLeases()
    expect((await read(message_id)).status).toBe('streaming')
    await vi.waitUntil(
      async () => {
        // The timer of the first process may just have renewed it.
        await ageLeases(service.chat, 11)
        await Promise.all([innerState(other).answers.renewLeases(), innerState(other).answers.renewLeases()])
        return (await read(message_id)).status === 'interrupted'
      },
      { timeout: 30_000 },
    )
    expect(await read(message_id)).toMatchObject({ content: 'Because' })

    // The first process was only suspended: it must not continue.
    answer.say(' of the air.')
    await answer.aborted
    await innerState(service).answers.idle()
    expect(await read(message_id)).toMatchObject({ status: 'interrupted', content: 'Because' })
    const { stream_position } = await ada.conversations.get(conversation_id)
    const types: string[] = []
    const actor = await service.chat.users.actor(ada.id)
    for await (const { id, event } of service.chat.events.follow(actor, conversation_id, {
      last_event_id: stream_position!.replace(/\.\d+$/, '.0'),
    })) {
      if (id) types.push(event.type)
      if (id === stream_position) break
    }
    expect(types.slice(-2)).toEqual(['message.delta', 'message.done'])
  })

  it('continue while the lease is renewed', async () => {
    const { service, asked, ask, read, answers } = await startAsked()
    const { message_id } = await ask()
    const answer = await asked()
    const other = (await start({ ports: {} })).chat
    for (let seconds = 0; seconds < 30; seconds += 6) {
      await ageLeases(service.chat, 6)
      await answers.renewLeases()
      await innerState(other).answers.renewLeases()
    }
    answer.say('Because.')
    answer.end()
    await answers.idle()
    expect(await read(message_id)).toMatchObject({ status: 'complete', content: 'Because.' })
  })

  it('are not ended by a process whose clock is ahead', async () => {
    const { asked, ask, read, answers } = await startAsked()
    const { message_id } = await ask()
    const answer = await asked()
    const ahead = await start({ ports: { now: () => (Date.now() + 3_600_000) * 1000 } })
    await innerState(ahead).answers.renewLeases()
    expect((await read(message_id)).status).toBe('streaming')
    answer.say('Because.')
    answer.end()
    await answers.idle()
    expect(await read(message_id)).toMatchObject({ status: 'complete', content: 'Because.' })
  })

  it('of a process whose clock is ahead are ended once the lease has expired', async () => {
    const ahead = await start({
      ports: { now: () => (Date.now() + 3_600_000) * 1000, assistant: createPuppet().assistant },
    })
    const { ada, conversation_id } = await startThread(ahead)
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant' })
    const other = await start({ ports: {} })
    await ageLeases(other.chat, 11)
    await innerState(other).answers.renewLeases()
    expect(await ada.messages.get(message_id)).toMatchObject({ status: 'interrupted' })
  })

  it('are stopped by a cancellation in another process', async () => {
    const { ada, asked, ask, read, answers } = await startAsked()
    const { message_id } = await ask()
    const answer = await asked()
    const other = (await start({ ports: {} })).chat
    const actor = await other.users.actor(ada.id)
    expect(await other.answers.cancel(actor, message_id)).toMatchObject({ status: 'cancelled' })
    await answers.renewLeases()
    await answer.aborted
    await answers.idle()
    expect(await read(message_id)).toMatchObject({ status: 'cancelled', content: '' })
  })

  it('are awaited when the service stops, and then interrupted', async () => {
    const { assistant, asked } = createPuppet()
    const patient = await startService(url, { config: { assistant: { drain_seconds: 60 } }, ports: { assistant } })
    const { ada, conversation_id } = await startThread(patient)
    const ask = () => ada.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant' })
    const { message_id } = await ask()
    const answer = await asked()
    patient.chat.drain()
    expect(await codeOf(ask())).toBe('unavailable')
    const closing = patient.close()
    answer.say('Because.')
    answer.end()
    await closing

    const hasty = await startAsked()
    expect(await hasty.read(message_id)).toMatchObject({ status: 'complete', content: 'Because.' })
    const second = await hasty.ask()
    const cut = await hasty.asked()
    cut.say('Be')
    await untilStored(hasty.service, second.message_id, 1)
    services.pop()
    await hasty.service.close()
    await cut.aborted
    const { chat } = await start({ ports: {} })
    const actor = await chat.users.actor(hasty.ada.id)
    expect(await chat.messages.get(actor, second.message_id)).toMatchObject({ status: 'interrupted', content: 'Be' })
  })

  it('are left to other processes when they are requested while the service closes', async () => {
    const { service, ada, conversation_id } = await startAsked()
    const { chat } = service
    const actor = await chat.users.actor(ada.id)
    const posting = chat.messages.postRoot(actor, conversation_id, { content: 'Why?', role: 'assistant' })
    services.pop()
    await Promise.all([service.close(), posting])
    expect(innerState(chat).answers.size()).toBe(0)

    const { message_id } = await posting
    const next = (await start({ ports: {} })).chat
    expect(await next.messages.get(actor, message_id)).toMatchObject({ status: 'streaming' })
    await ageLeases(next, 11)
    await innerState(next).answers.renewLeases()
    expect(await next.messages.get(actor, message_id)).toMatchObject({ status: 'interrupted' })
  })

  it('time out after the configured time', async () => {
    const config = { assistant: { timeout_seconds: 1, drain_seconds: 0 } }
    const { asked, ask, read, answers } = await startAsked({ config })
    const { message_id } = await ask()
    const answer = await asked()
    answer.say('Because')
    await answer.aborted
    await answers.idle()
    expect(await read(message_id)).toMatchObject({ status: 'failed', content: 'Because' })
  })

  it.each(['before the commit', 'after the commit'])(
    'lose and repeat nothing when the storage fails %s',
    async (when) => {
      let failures = 0
      const { asked, ask, read, answers } = await startAsked({
        wrap: (storage) => ({
          ...storage,
          db: {
            ...storage.db,
            write: async (work) => {
              if (failures > 0 && when === 'before the commit') {
                failures--
                throw new ChatError('unavailable')
              }
              const value = await storage.db.write(work)
              if (failures > 0) {
                failures--
                throw new ChatError('unavailable')
              }
              return value
            },
          },
        }),
      })
      const { message_id } = await ask()
      const answer = await asked()
      failures = 1
      answer.say('One, ')
      answer.say('two, ')
      answer.say('three.')
      answer.end()
      await answers.idle()
      expect(failures).toBe(0)
      expect(await read(message_id)).toMatchObject({ status: 'complete', content: 'One, two, three.' })
    },
  )
})

/** Resolves once an answer has this many chunks. */
async function untilStored(service: TestService, message_id: string, count: number): Promise<void> {
  for (;;) {
    const [row] = await innerState(service).db.all<{ count: number }>(
      sql`SELECT count(*) AS count FROM message_chunks WHERE message_id = ${message_id}`,
    )
    if (row!.count >= count) return
    // A read of SQLite needs no turn of the event loop, but the answer does.
    await new Promise(setImmediate)
  }
}
