import { afterEach, beforeEach, expect, it } from 'vitest'
import { DAY, SECOND } from '../../../lib/core/units.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { each, sql } from '../../../lib/storage/sql.ts'
import { ageLeases, createPuppet } from '../../support/assistant.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, innerState, type Person, startService, type TestService, times } from '../../support/service.ts'

const PRICES = [{ model: 'm', input: 3_000_000, output: 15_000_000, cached: 300_000 }]
const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, cached_tokens: 40, reasoning_tokens: 3 }
const COST = 60 * 3 + 12 + 150

describeOnEachDatabase('what the assistant has used', (openUrl) => {
  let service: TestService
  let puppet: ReturnType<typeof createPuppet>
  let root: Person
  let ada: Person
  let conversation_id: string
  let now: number

  beforeEach(async () => {
    puppet = createPuppet()
    now = Date.UTC(2026, 0, 31, 23, 59, 50) * 1000
    const session = { idle_seconds: 34_560_000, absolute_seconds: 34_560_000 }
    const config = { prices: PRICES, assistant: { model: 'm' }, session }
    service = await startService(await openUrl(), { config, ports: { assistant: puppet.assistant, now: () => now } })
    root = await service.signIn('root')
    ada = await service.signIn('ada')
    conversation_id = (await ada.conversations.create({})).conversation_id
  })
  afterEach(() => service.close())

  const ask = async (content = 'Why?') => {
    const { message_id } = await ada.messages.postRoot(conversation_id, { content, role: 'assistant' })
    return { message_id, answer: await puppet.asked() }
  }
  const ended = (id: string, status = 'complete') =>
    expect.poll(async () => (await ada.messages.get(id)).status).toBe(status)
  const answered = async (usage?: object) => {
    const { message_id, answer } = await ask()
    answer.say('Because.', ...(usage ? [{ usage }] : []))
    answer.end()
    await ended(message_id)
    return message_id
  }
  const entries = () => innerState(service).db.all(sql`SELECT * FROM usage_entries ORDER BY at, message_id`)
  const isSound = async () => expect((await service.chat.ops.fsck()).findings).toEqual([])
  const rows = async (by: 'user' | 'assistant' | 'model' | 'day' | 'conversation', more = {}) =>
    (await service.chat.usage.report(OPERATOR, { by, ...more })).rows

  it('is stored with the end of an answer, at the prices of then', async () => {
    const message_id = await answered(USAGE)
    expect(await entries()).toEqual([
      {
        ...{ message_id, kind: 'answer', at: expect.any(Number), user_id: ada.id, conversation_id, steps: 1 },
        ...{ assistant: 'assistant', model: 'm', prompt_tokens: 100, completion_tokens: 10, cached_tokens: 40 },
        ...{ reasoning_tokens: 3, cost_micros: COST, estimated: 0 },
      },
    ])
    expect((await ada.messages.get(message_id)).usage).toEqual(USAGE)
    await isSound()
    const page = await service.chat.ops.metrics(null as never)
    expect(page).toContain('chat_assistant_tokens_total{kind="prompt"} 100')
    expect(page).toContain('chat_assistant_tokens_total{kind="completion"} 10')
    expect(page).toContain(`chat_assistant_cost_micros_total ${COST}`)
  })

  it('counts by the day and the month of the question', async () => {
    const { message_id, answer } = await ask()
    now += 20 * SECOND
    const sums = { answers: 1, tokens: 110, prompt_tokens: 100, completion_tokens: 10, cached_tokens: 40 }
    const nothing = { answers: 0, tokens: 0, prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, cost_micros: 0 }
    answer.say('Because.', { usage: USAGE })
    answer.end()
    await ended(message_id)
    const feb = { starts_at: '2026-02-01T00:00:00.000000Z', ...nothing }
    expect(await ada.usage.get()).toEqual({
      currency: 'USD',
      periods: [
        { period: 'day', resets_at: '2026-02-02T00:00:00.000000Z', ...feb },
        { period: 'month', resets_at: '2026-03-01T00:00:00.000000Z', ...feb },
      ],
    })
    now -= 20 * SECOND
    expect((await ada.usage.get()).periods[1]).toMatchObject({ ...sums, cost_micros: COST })
    expect((await root.usage.get()).periods[0]).toMatchObject(nothing)
    expect(await rows('day')).toEqual([{ key: '2026-01-31', ...sums, cost_micros: COST }])
  })

  it('is estimated by the texts where no provider has counted', async () => {
    const { message_id, answer } = await ask('ä'.repeat(10))
    answer.say('x'.repeat(30))
    answer.end()
    await ended(message_id)
    const reply = await ada.messages.reply(message_id, { content: 'y'.repeat(8), role: 'assistant' })
    const next = await puppet.asked()
    next.say('zz')
    next.fail(new Error('no'))
    await ended(reply.message_id, 'failed')
    expect(await entries()).toMatchObject([
      { prompt_tokens: 5, completion_tokens: 8, estimated: 1 },
      // The question of 8 bytes, and the answer above with its question.
      { prompt_tokens: Math.ceil((8 + 30 + 20) / 4), completion_tokens: 1, estimated: 1 },
    ])
    await isSound()
  })

  it('is of each answer, however it ends', async () => {
    const cancelled = await ask()
    cancelled.answer.say('Because')
    await ada.answers.cancel(cancelled.message_id)
    const deleted = await ask()
    await ada.messages.remove(deleted.message_id)
    const lost = await ask()
    await ageLeases(service.chat, 60)
    await innerState(service).answers.renewLeases()
    lost.answer.end()
    const removed = await ask()
    await ada.conversations.remove(conversation_id)
    const ids = [cancelled, deleted, lost, removed].map(({ message_id }) => message_id)
    await expect.poll(async () => (await entries()).map(({ message_id }) => message_id).sort()).toEqual(ids.sort())
    expect((await ada.usage.get()).periods[0]).toMatchObject({ answers: 4 })
    await innerState(service).tasks.settle()
    expect(await entries()).toHaveLength(4)
    await isSound()
  })

  it('is none of what a bot streams', async () => {
    const bot = await ada.bots.create({ username: 'bot' })
    const actor = await service.chat.users.actor(bot.bot.id)
    await ada.participants.add(conversation_id, { user_id: bot.bot.id, role: 'member' })
    const message = await service.chat.messages.stream(actor, conversation_id)
    await message.write('One')
    await message.end()
    expect(await entries()).toEqual([])
  })

  it('is reported by each dimension, what has used the most first, in pages', async () => {
    await answered(USAGE)
    now += 20 * SECOND
    const grace = await service.signIn('grace')
    await ada.participants.add(conversation_id, { user_id: grace.id, role: 'member' })
    await grace.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant' })
    const answer = await puppet.asked()
    answer.say('So.', { usage: { prompt_tokens: 1, completion_tokens: 1 } })
    answer.end()
    await ended(answer.request.message_id)
    const range = { from: '2026-01-01', to: '2026-02-28' }
    const keys = async (by: Parameters<typeof rows>[0], more = range) => (await rows(by, more)).map(({ key }) => key)
    expect(await keys('user')).toEqual([ada.id, grace.id])
    expect(await keys('day')).toEqual(['2026-02-01', '2026-01-31'])
    expect(await rows('model', range)).toMatchObject([{ key: 'm', answers: 2, tokens: 112 }])
    expect(await rows('assistant', range)).toMatchObject([{ key: 'assistant', answers: 2 }])
    expect(await rows('conversation', range)).toMatchObject([{ key: conversation_id, answers: 2 }])
    expect(await keys('user', { from: '2026-02-01', to: '2026-02-01' })).toEqual([grace.id])
    expect(await keys('user', { from: '2026-03-01', to: '2026-02-01' })).toEqual([])
    // By default this month.
    expect((await root.usage.report({})).rows.map(({ key }) => key)).toEqual([grace.id])
    for (const by of ['user', 'day'] as const) {
      const first = await root.usage.report({ by, ...range, limit: 1 })
      const second = await root.usage.report({ by, ...range, limit: 1, after: first.next_after! })
      expect([...first.rows, ...second.rows]).toEqual(await rows(by, range))
      expect(second.next_after).toBeUndefined()
      expect(await codeOf(root.usage.report({ by: 'model', after: first.next_after! }))).toBe('invalid_cursor')
    }
    expect(await codeOf(ada.usage.report({}))).toBe('forbidden')
    expect(await codeOf(root.usage.report({ from: '2026-02-30x' }))).toBe('validation_failed')
  })

  it('is reported as CSV, whole up to ten thousand rows', async () => {
    await answered(USAGE)
    const range = { from: '2026-01-01', to: '2026-02-28' }
    const [row] = await rows('user', range)
    const { answers, tokens, prompt_tokens, completion_tokens, cached_tokens, cost_micros } = row!
    const sums = [answers, tokens, prompt_tokens, completion_tokens, cached_tokens]
    const end = `${sums.join(',')},${(cost_micros / 1_000_000).toFixed(6)},USD\r\n`
    const headings = 'answers,tokens,prompt_tokens,completion_tokens,cached_tokens,cost,currency\r\n'
    expect(await root.usage.reportCsv({ by: 'user', ...range })).toBe(`user,username,${headings}${ada.id},ada,${end}`)
    expect(await root.usage.reportCsv({ by: 'day', ...range })).toBe(`day,${headings}2026-01-31,${end}`)
    expect(await root.usage.reportCsv({ by: 'model', from: '2026-03-01', to: '2026-03-01' })).toBe(`model,${headings}`)
    const response = await fetch(`${service.base_url}/api/admin/usage.csv`)
    expect(response.status).toBe(401)
    expect(await codeOf(ada.usage.reportCsv({}))).toBe('forbidden')

    const { db } = innerState(service)
    const add = (names: string[]) =>
      db.run(
        sql`INSERT INTO usage_totals (dimension, unit, starts_at, key, answers, prompt_tokens, completion_tokens,
                cached_tokens, cost_micros)
         SELECT 'model', 'day', ${Date.UTC(2026, 5, 1) * 1000}, value, 1, 1, 1, 0, 0 FROM ${each(db, names)}`,
      )
    const june = { by: 'model', from: '2026-06-01', to: '2026-06-02' } as const
    await add(['=1+1', ...times(9_999, (n) => `m${n}`)])
    const lines = (await root.usage.reportCsv(june)).trimEnd().split('\r\n')
    expect(lines).toHaveLength(10_001)
    expect(lines).toContain("'=1+1,1,2,1,1,0,0.000000,USD")
    await add(['one more'])
    expect(await codeOf(root.usage.reportCsv(june))).toBe('validation_failed')
    await db.run(sql`DELETE FROM usage_totals WHERE starts_at = ${Date.UTC(2026, 5, 1) * 1000}`)
  })

  it('outlives the user, without naming them', async () => {
    await answered(USAGE)
    const running = await ask()
    await service.chat.users.erase(OPERATOR, ada.id, { messages: 'keep' })
    await innerState(service).tasks.settle()
    running.answer.end()
    expect((await entries()).map(({ user_id }) => user_id)).toEqual([null, null])
    expect(await rows('user')).toEqual([])
    expect(await rows('day')).toMatchObject([{ answers: 2 }])
    await isSound()
  })

  it('becomes that of the user into whom another one is merged', async () => {
    await answered(USAGE)
    await service.chat.users.merge(OPERATOR, { from: { user_id: ada.id }, into: { user_id: root.id } })
    expect(await rows('user')).toMatchObject([{ key: root.id, answers: 1, tokens: 110 }])
    expect(await entries()).toMatchObject([{ user_id: root.id }])
    await isSound()
  })

  it('is deleted by whole months, which are compared with their entries until then', async () => {
    await answered(USAGE)
    now += 30 * DAY
    await answered(USAGE)
    now += 370 * DAY
    expect(await service.chat.ops.prune()).toMatchObject({ usage: 0 })
    now += DAY
    expect((await service.chat.ops.prune()).usage).toBe(11)
    expect(await entries()).toHaveLength(1)
    expect(await rows('day', { from: '2026-01-01', to: '2026-12-31' })).toHaveLength(1)
    await isSound()
  })
})
