import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { AnswerPiece, AssistantRequest } from '../../lib/assistant/provider.ts'
import { ChatError, createChatService, openStorage, parseConfig, type Storage } from '../../lib/index.ts'
import { sql, statement } from '../../lib/storage/sql.ts'
import { ageLeases, createPuppet } from '../support/assistant.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { collectGarbage } from '../support/gc.ts'
import { placementOf } from '../support/placement.ts'
import {
  innerState,
  type ServiceOptions,
  startService,
  startThread,
  type TestService,
  times,
} from '../support/service.ts'

/** A storage whose writes are acknowledged by `acknowledge`, after their commit. */
function acknowledging(storage: Storage, acknowledge: () => Promise<void> | undefined): Storage {
  const write: Storage['db']['write'] = async (work) => {
    const value = await storage.db.write(work)
    await acknowledge()
    return value
  }
  return { ...storage, db: { ...storage.db, write } }
}

describeOnEachDatabase('answers in exceptional situations', (openUrl, dialect) => {
  const services: TestService[] = []
  let url: string

  beforeEach(async () => {
    url = await openUrl()
  })
  afterEach(async () => {
    for (const service of services.splice(0)) await service.close()
  })

  async function start(options: ServiceOptions = {}): Promise<TestService> {
    const config = { assistant: { drain_seconds: 0 } }
    const service = await startService(url, { config, ...options, ports: options.ports ?? {} })
    services.push(service)
    return service
  }

  async function startAsking(options: ServiceOptions = {}) {
    const service = await start(options)
    const { ada, conversation_id } = await startThread(service)
    const ask = (to = conversation_id) => ada.messages.postRoot(to, { content: 'Why?', role: 'assistant' })
    const statusOf = async (message_id: string) => (await ada.messages.get(message_id)).status
    return { service, chat: service.chat, ada, conversation_id, ask, statusOf, answers: innerState(service).answers }
  }

  it('end even if the post that requested them was never acknowledged', async () => {
    let isLost = false
    const { assistant, asked } = createPuppet()
    const wrap = (storage: Storage) =>
      acknowledging(storage, async () => {
        // From the post on every write, also those of background tasks: any of them may be the next one.
        if (!isLost || !(await storage.db.get(sql`SELECT 1 AS one FROM messages WHERE role = 'assistant'`))) return
        throw new ChatError('unavailable')
      })
    const { chat, ada, conversation_id, ask, statusOf, answers } = await startAsking({ ports: { assistant }, wrap })
    const actor = await chat.users.actor(ada.id)
    const post = { content: 'Why?', role: 'assistant' as const, idempotency_key: 'once' }
    isLost = true
    await expect(chat.messages.postRoot(actor, conversation_id, post)).rejects.toMatchObject({ code: 'unavailable' })
    isLost = false
    const again = await chat.messages.postRoot(actor, conversation_id, post)
    expect(again.idempotency_replayed).toBe('true')
    // Another answer of the same process continues, so its leases are renewed.
    const { message_id } = await ask()
    await asked()
    for (let seconds = 0; seconds < 15; seconds += 3) {
      await ageLeases(chat, 3)
      await answers.renewLeases()
    }
    expect(await statusOf(again.message_id)).toBe('interrupted')
    expect(await statusOf(message_id)).toBe('streaming')
  })

  it('fail when the provider throws a value that is not an error', async () => {
    async function* assistant() {
      yield 'a'
      throw Object.create(null)
    }
    const { ask, statusOf, answers } = await startAsking({ ports: { assistant } })
    const { message_id } = await ask()
    await answers.idle()
    expect(await statusOf(message_id)).toBe('failed')
  })

  it('wait for a busy storage when they begin', async () => {
    let failures = 0
    const { assistant, asked } = createPuppet()
    const { ask, statusOf, answers } = await startAsking({
      ports: { assistant },
      wrap: (storage) => ({
        ...storage,
        db: {
          ...storage.db,
          all: async (sql) => {
            if (!sql.text.includes('path IN') || failures === 0) return storage.db.all(sql)
            failures--
            throw new ChatError('unavailable')
          },
        },
      }),
    })
    failures = 1
    const { message_id } = await ask()
    const answer = await asked()
    answer.say('Because.')
    answer.end()
    await answers.idle()
    expect(await statusOf(message_id)).toBe('complete')
  })

  it('are all awaited when the service closes, including those that begin meanwhile', async () => {
    const { ada, conversation_id } = await startAsking()
    const { assistant, asked } = createPuppet()
    let slow: Promise<void> | undefined
    const storage = acknowledging(await openStorage({ database: url, ...placementOf(url) }), () => {
      const wait = slow
      slow = undefined
      return wait
    })
    const chat = createChatService(parseConfig({ assistant: { drain_seconds: 60 } }), storage, { assistant })
    await chat.start()
    const actor = await chat.users.actor(ada.id)
    const ask = () => chat.messages.postRoot(actor, conversation_id, { content: 'Why?', role: 'assistant' })
    const first = await ask()
    const one = await asked()
    let acknowledge = () => {}
    slow = new Promise((resolve) => (acknowledge = resolve))
    const late = ask()
    while (slow) await new Promise(setImmediate)
    const closing = chat.close()
    acknowledge()
    const second = await late
    const two = await asked()
    one.say('done')
    one.end()
    two.say('late')
    two.end()
    await closing
    expect(innerState(chat).answers.size()).toBe(0)
    const { statusOf } = {
      statusOf: async (id: string) => (await ada.messages.get(id)).status,
    }
    expect(await Promise.all([first, second].map(({ message_id }) => statusOf(message_id)))).toEqual([
      'complete',
      'complete',
    ])
  })

  it('are released once they are cancelled', async () => {
    const signals: WeakRef<AbortSignal>[] = []
    async function* assistant({ signal }: AssistantRequest): AsyncGenerator<AnswerPiece> {
      signals.push(new WeakRef(signal))
      yield 'a'
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    }
    const { ada, ask, answers } = await startAsking({ ports: { assistant } })
    for (const _ of times(10, (index) => index)) {
      const { message_id } = await ask()
      await ada.answers.cancel(message_id)
    }
    await answers.idle()
    await collectGarbage()
    expect(signals.filter((signal) => signal.deref()).length).toBeLessThan(3)
  })

  it('of a dead process are all ended, however many', async () => {
    const { assistant } = createPuppet()
    const { chat, ask, answers } = await startAsking({ ports: { assistant } })
    for (const _ of times(12, (index) => index)) await Promise.all(times(10, () => ask()))
    await innerState(chat).db.write((tx) => tx.run(sql`UPDATE answers_under_way SET writer = 'ghost'`))
    const other = (await start()).chat
    const streaming = "SELECT id FROM messages WHERE status = 'streaming'"
    expect(await innerState(chat).db.all(statement(streaming))).toHaveLength(120)
    await ageLeases(chat, 11)
    // Both processes also run by themselves: an answer that one of them has locked is left to the next run.
    while ((await innerState(chat).db.all(statement(streaming))).length > 0)
      await Promise.all([innerState(other).answers.renewLeases(), answers.renewLeases()])
  })

  it.runIf(dialect === 'postgresql')('are ended even if another conversation is locked', async () => {
    const { assistant } = createPuppet()
    const { chat, ada, conversation_id, ask, statusOf } = await startAsking({ ports: { assistant } })
    await ask()
    await ageLeases(chat, 1)
    const { conversation_id: free } = await ada.conversations.create({})
    const { message_id } = await ask(free)
    await innerState(chat).db.write((tx) => tx.run(sql`UPDATE answers_under_way SET writer = 'ghost'`))
    const other = (await start()).chat
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query('BEGIN')
    await client.query('SELECT 1 FROM conversations WHERE id = $1 FOR UPDATE', [conversation_id])
    await ageLeases(chat, 11)
    await innerState(other).answers.renewLeases()
    expect(await statusOf(message_id)).toBe('interrupted')
    await client.query('ROLLBACK')
    await client.end()
  })

  it.runIf(dialect === 'postgresql')('are ended in a conversation that others lock again and again', async () => {
    const { assistant } = createPuppet()
    const { chat, conversation_id, ask, statusOf } = await startAsking({ ports: { assistant } })
    const { message_id } = await ask()
    await innerState(chat).db.write((tx) => tx.run(sql`UPDATE answers_under_way SET writer = 'ghost'`))
    const other = (await start()).chat
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const isAwaited = async () => {
      const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
      return (await client.query(waiting)).rowCount !== 0
    }
    let hasWaited = false
    // A process that only looks finds the lock taken each time: it is passed on to those that wait for it.
    do {
      await client.query('BEGIN')
      await client.query('SELECT 1 FROM conversations WHERE id = $1 FOR UPDATE', [conversation_id])
      await ageLeases(chat, 11)
      let isOver = false
      const renewed = innerState(other)
        .answers.renewLeases()
        .finally(() => {
          isOver = true
        })
      let isSeen = false
      while (!isOver && !isSeen) isSeen = await isAwaited()
      hasWaited ||= isSeen
      await client.query('ROLLBACK')
      await renewed
    } while ((await statusOf(message_id)) === 'streaming')
    expect(await statusOf(message_id)).toBe('interrupted')
    expect(hasWaited).toBe(true)
    await client.end()
  })

  it('are stopped in time even if their provider never waits', async () => {
    async function* assistant(): AsyncGenerator<AnswerPiece> {
      for (;;) yield ''
    }
    const config = { assistant: { timeout_seconds: 1 } }
    const { ask, statusOf, answers } = await startAsking({ config, ports: { assistant } })
    const { message_id } = await ask()
    await answers.idle()
    expect(await statusOf(message_id)).toBe('failed')
  })

  it('have no chunks long after their end', async () => {
    const { ada, ask, answers } = await startAsking()
    const { message_id } = await ask()
    await answers.idle()
    expect(await ada.answers.listChunks(message_id, { from: 9_000_000_000 })).toEqual([])
  })
})
