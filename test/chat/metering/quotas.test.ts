import * as v from 'valibot'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { limitsOfRoles, limitsOfService } from '../../../lib/chat/metering/rules-quotas.ts'
import { ConfigError, parseConfig } from '../../../lib/config/parse.ts'
import type { Quota } from '../../../lib/config/usage.ts'
import { defineTool, OPERATOR } from '../../../lib/index.ts'
import { createPuppet } from '../../support/assistant.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, innerState, type Person, startService, type TestService, times } from '../../support/service.ts'

const PRICES = [{ model: 'm', input: 1_000_000, output: 1_000_000 }]

describe('the limits of a user', () => {
  const quotas: Quota[] = [
    { role: '*', period: 'day', answers: 1, tokens: 10 },
    { role: 'member', period: 'day', answers: 2, tokens: 20 },
    { role: 'sales', period: 'day', answers: 3 },
    { role: '*', period: 'month', answers: 9 },
    { role: 'service', period: 'month', cost_micros: 5 },
  ]
  it.each([
    ['of no role with a quota', ['guest'], { day: { answers: 1, tokens: 10 }, month: { answers: 9 } }],
    ['of one', ['member'], { day: { answers: 2, tokens: 20 }, month: { answers: 9 } }],
    [
      'of two: the largest, and none of what one leaves out',
      ['member', 'sales'],
      { day: { answers: 3 }, month: { answers: 9 } },
    ],
  ])('are those %s', (_, roles, limits) => {
    expect(limitsOfRoles(quotas, roles)).toEqual(limits)
  })

  it('are beside those of the service', () => {
    expect(limitsOfService(quotas)).toEqual({ month: { cost_micros: 5 } })
  })
})

describe('a configured quota', () => {
  it.each([
    ['of a role that is none', { role: 'nobody_has', period: 'day', answers: 1 }],
    ['of nothing', { role: '*', period: 'day' }],
    ['of costs without a price', { role: '*', period: 'day', cost_micros: 1 }],
  ])('is refused %s', (_, quota) => {
    expect(() => parseConfig({ usage: { quotas: [quota as Quota] } })).toThrow(ConfigError)
  })

  it('is refused twice for one role and period', () => {
    const quota = { role: '*', period: 'day', answers: 1 } as const
    expect(() => parseConfig({ usage: { quotas: [quota, quota] } })).toThrow(/another one/)
  })
})

describeOnEachDatabase('quotas of the assistant', (openUrl) => {
  let nodes: TestService[]
  let puppet: ReturnType<typeof createPuppet>
  let now: number
  const start = async (quotas: Quota[], more = {}) => {
    const url = await openUrl()
    const assistant = { model: 'm', max_running_per_user: 100 }
    const config = { prices: PRICES, assistant, usage: { quotas, reserve_tokens: 100, ...more } }
    const open = () => startService(url, { config, ports: { assistant: puppet.assistant, now: () => now } })
    nodes = [await open(), await open()]
  }
  beforeEach(() => {
    puppet = createPuppet()
    now = Date.UTC(2026, 0, 31, 12) * 1000
  })
  afterEach(async () => void (await Promise.all(nodes.map((node) => node.close()))))

  const askWith = async (person: Person) => {
    const { conversation_id } = await person.conversations.create({})
    const actor = await nodes[0]!.chat.users.actor(person.id)
    return (n = 0) =>
      nodes[n % 2]!.chat.messages.postRoot(actor, conversation_id, { content: 'Why?', role: 'assistant' })
  }
  const outcomes = (calls: Promise<unknown>[]) => Promise.all(calls.map((call) => codeOf(call).catch(() => 'asked')))
  const count = (codes: string[], code: string) => codes.filter((each) => each === code).length

  it('let exactly those pass that fit, of many at once on two nodes', async () => {
    await start([{ role: '*', period: 'day', tokens: 350 }])
    const ada = await nodes[0]!.signIn('ada')
    const ask = await askWith(ada)
    const codes = await outcomes(times(12, (n) => ask(n)))
    expect(count(codes, 'asked')).toBe(3)
    expect(count(codes, 'rate_limited') + count(codes, 'unavailable')).toBe(9)
  })

  it('are refused with what is used and when to try again, and nothing is stored', async () => {
    await start([{ role: 'member', period: 'day', answers: 1 }])
    const root = await nodes[0]!.signIn('root')
    const ada = await nodes[0]!.signIn('ada')
    const { conversation_id } = await ada.conversations.create({})
    const ask = () => ada.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant' })
    await ask()
    const limit = { scope: 'user', period: 'day', unit: 'answers', limit: 1, used: 1 }
    await expect(ask()).rejects.toMatchObject({
      code: 'rate_limited',
      retry_after_seconds: 12 * 3600,
      quota: { ...limit, resets_at: '2026-02-01T00:00:00.000000Z' },
    })
    expect((await ada.messages.list(conversation_id)).messages).toHaveLength(1)
    expect((await ada.usage.get()).periods[0]!.limits).toEqual({ answers: 1 })

    expect(await root.usage.setQuota(ada.id, { day: { answers: 2 } })).toEqual({ day: { answers: 2 } })
    await ask()
    expect(await codeOf(ask())).toBe('rate_limited')
    await root.usage.clearQuota(ada.id)
    await root.usage.clearQuota(ada.id)
    expect((await ada.usage.get()).periods[0]!.limits).toEqual({ answers: 1 })
    expect(await codeOf(root.usage.setQuota(conversation_id, {}))).toBe('not_found')
    expect(await codeOf(ada.usage.setQuota(ada.id, {}))).toBe('forbidden')
    const { entries } = await root.audit.list({ subject_id: ada.id })
    expect(entries.map(({ act, detail }) => [act, detail]).slice(0, 2)).toEqual([
      ['user.quota_cleared', undefined],
      ['user.quota_set', { day_answers: 2 }],
    ])
  })

  it('have what an answer has used instead of what was reserved, once it has ended', async () => {
    await start([{ role: 'service', period: 'month', cost_micros: 250 }])
    await nodes[0]!.signIn('root')
    const [ada, grace] = [await nodes[0]!.signIn('ada'), await nodes[0]!.signIn('grace')]
    const [ask, askAsGrace] = [await askWith(ada), await askWith(grace)]
    const { message_id } = await ask()
    await askAsGrace()
    expect(await codeOf(ask())).toBe('rate_limited')
    const answer = await puppet.asked()
    answer.say('So.', { usage: { prompt_tokens: 10, completion_tokens: 10 } })
    answer.end()
    await expect.poll(async () => (await ada.messages.get(message_id)).status).toBe('complete')
    // 20 and 100 are taken: 100 more fit.
    await askAsGrace(1)
    await expect(ask()).rejects.toMatchObject({ quota: { scope: 'service', unit: 'cost_micros', used: 220 } })
    expect((await nodes[0]!.chat.ops.fsck()).findings).toEqual([])
  })

  it('have the prices of assistants in code, for what is reserved and for what waits for participants', async () => {
    const approval = { by: 'asker' as const, expires_seconds: 3600 }
    const refund = defineTool({ description: 'Refunds', input: v.object({}), approval, run: () => null })
    const service = await startService(await openUrl(), {
      config: {
        prices: [...PRICES, { model: 'free', input: 0, output: 0 }],
        assistant: { model: 'free', max_running_per_user: 100 },
        usage: { quotas: [{ role: 'service', period: 'month', cost_micros: 250 }], reserve_tokens: 100 },
      },
      ports: {
        assistants: { helper: { provider: puppet.assistant, model: 'm', tools: ['refund'] } },
        tools: { refund },
        now: () => now,
      },
    })
    nodes = [service]
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create({})
    const actor = await service.chat.users.actor(ada.id)
    const input = { content: 'Why?', role: 'assistant' as const, assistant: 'helper' }
    const ask = () => service.chat.messages.postRoot(actor, conversation_id, input)
    const { message_id } = await ask()
    const answer = await puppet.asked()
    answer.say(
      { tool_call: { name: 'refund', input: {} } },
      { usage: { prompt_tokens: 90, completion_tokens: 90, total_tokens: 180 } },
    )
    answer.end()
    await expect.poll(async () => (await ada.messages.get(message_id)).status).toBe('waiting')
    await expect(ask()).rejects.toMatchObject({ quota: { unit: 'cost_micros', used: 180 } })
    await ada.answers.cancel(message_id)
    now += 86_400_000_000
    expect(await outcomes([ask(), ask(), ask()]).then((codes) => count(codes, 'asked'))).toBe(2)
    await expect(ask()).rejects.toMatchObject({ quota: { unit: 'cost_micros', used: 200 } })
  })

  it('of costs need a price of each assistant, at the start, in a reload and for a user', async () => {
    const url = await openUrl()
    const helper = (model: string) => ({ assistants: { helper: { provider: puppet.assistant, model } } })
    const config = { prices: PRICES, assistant: { model: 'm' } }
    const quotas: Quota[] = [{ role: '*', period: 'day', cost_micros: 1 }]
    const refused = { problems: [{ key: 'usage.quotas', message: expect.stringContaining('entry 1') }] }
    await expect(
      startService(url, { config: { ...config, usage: { quotas } }, ports: helper('x') }),
    ).rejects.toMatchObject(refused)
    const node = await startService(url, { config, ports: helper('x') })
    nodes = [node]
    const ada = await node.signIn('ada')
    const set = () => node.chat.usage.setQuota(OPERATOR, ada.id, { day: { cost_micros: 5 } })
    expect(await codeOf(set())).toBe('validation_failed')
    const { current } = innerState(node).settings
    const withPrice = { ...current(), prices: [...PRICES, { model: 'x', input: 1, output: 1 }] }
    await expect(node.chat.reload({ ...current(), usage: { ...current().usage, quotas } })).rejects.toMatchObject(
      refused,
    )
    await node.chat.reload({ ...withPrice, usage: { ...withPrice.usage, quotas } })
    expect(await set()).toEqual({ day: { cost_micros: 5 } })
  })

  it('of costs need no price of a default that is not offered', async () => {
    const config = { prices: PRICES, assistants: { helper: { provider: 'echo' as const, model: 'm' } } }
    const quotas: Quota[] = [{ role: '*', period: 'day', cost_micros: 1 }]
    nodes = [await startService(await openUrl(), { config: { ...config, usage: { quotas } } })]
    const ada = await nodes[0]!.signIn('ada')
    const quota = { day: { cost_micros: 5 } }
    expect(await nodes[0]!.chat.usage.setQuota(OPERATOR, ada.id, quota)).toEqual(quota)
  })

  it('of a user alone replace those of the roles', async () => {
    await start([{ role: '*', period: 'day', answers: 1 }])
    const ada = await nodes[0]!.signIn('ada')
    const ask = await askWith(ada)
    await nodes[1]!.chat.usage.setQuota(OPERATOR, ada.id, {})
    for (let n = 0; n < 3; n++) await ask(n)
    await nodes[1]!.chat.usage.setQuota(OPERATOR, ada.id, { month: { answers: 3 } })
    expect(await codeOf(ask())).toBe('rate_limited')
    now += 86_400_000_000
    await ask(1)
  })

  it('of a user are read with those of the roles, by administrators', async () => {
    await start([{ role: '*', period: 'day', answers: 1 }])
    const root = await nodes[0]!.signIn('root')
    const ada = await nodes[0]!.signIn('ada')
    const roles = { day: { answers: 1 } }
    expect(await root.usage.getQuota(ada.id)).toEqual({ roles })
    await root.usage.setQuota(ada.id, { month: { tokens: 7 } })
    expect(await root.usage.getQuota(ada.id)).toEqual({ quota: { month: { tokens: 7 } }, roles })
    await root.usage.setQuota(ada.id, {})
    expect(await root.usage.getQuota(ada.id)).toEqual({ quota: {}, roles })
    await root.usage.clearQuota(ada.id)
    expect(await root.usage.getQuota(ada.id)).toEqual({ roles })
    expect(await codeOf(root.usage.getQuota('01890000-0000-7000-8000-000000000000'))).toBe('not_found')
    expect(await codeOf(ada.usage.getQuota(ada.id))).toBe('forbidden')
  })
})
