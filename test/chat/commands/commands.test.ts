import { beforeAll, expect, it } from 'vitest'
import { createAdminClient } from '../../../lib/client/admin.ts'
import { DAY, HOUR, MINUTE } from '../../../lib/core/units.ts'
import { type Actor, OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, times } from '../../support/service.ts'

/** The clock of the services: it runs on from here. */
let ahead = 0
const now = () => Date.now() * 1000 + ahead

const DEPLOY = {
  name: 'deploy',
  description: 'Deploys a version',
  options: [
    { name: 'version', description: 'Which', type: 'string', required: true },
    { name: 'times', description: 'How often', type: 'integer' },
    { name: 'place', description: 'Where', type: 'string', choices: ['staging', 'production'] },
    { name: 'dry', description: 'Only tries', type: 'boolean' },
    { name: 'for', description: 'On behalf of', type: 'user' },
  ],
} as const

describeOnEachDatabase('commands', (openUrl) => {
  const [service, node] = setUpNodes(async () =>
    startNodes(await openUrl(), { config: { bots: { enabled: true, messages_per_min: 1000 } }, ports: { now } }),
  )
  let ada: Person
  let grace: Person
  let eve: Person
  let bot: ReturnType<typeof createAdminClient>
  let bot_id: string
  let program: Actor
  let host: Actor
  let serial = 0

  beforeAll(async () => {
    ada = await service.signIn('ada')
    eve = await service.signIn('eve')
    const made = await ada.bots.create({ username: 'deploys' })
    bot_id = made.bot.id
    bot = createAdminClient({ base_url: node.base_url, api_key: made.key, fetch: checkedFetch, retry_ms: 10 })
    program = { user_id: bot_id, roles: ['member'], is_bot: true }
    host = await service.chat.system('host')
    await ada.commands.setOfBot(bot_id, { commands: [DEPLOY as never] })
  })

  /** A conversation of ada, a new person and the bot. Each person has a limit of calls. */
  async function open(): Promise<string> {
    grace = await service.signIn(`grace${serial++}`)
    const { conversation_id } = await ada.conversations.create({ title: 'deploys' })
    for (const user_id of [grace.id, bot_id]) await ada.participants.add(conversation_id, { user_id })
    return conversation_id
  }

  const position = async (actor: Actor) => (await service.chat.feed.read(actor)).position
  const call = { name: 'deploy', options: { version: '42' } }

  it('are in the audit log where they change', async () => {
    const { bot: made } = await ada.bots.create({ username: 'audited' })
    for (let n = 0; n < 2; n++) await ada.commands.setOfBot(made.id, { commands: [DEPLOY as never] })
    const { entries } = await service.chat.audit.list(OPERATOR, { act: 'user.changed' })
    expect(entries.filter(({ subject_id }) => subject_id === made.id)).toMatchObject([
      { actor_id: ada.id, detail: { changed: ['commands'] } },
    ])
  })

  it('are set by the owner or the bot itself, and listed with their bot where it participates', async () => {
    const conversation_id = await open()
    const { commands } = await grace.commands.list(conversation_id)
    expect(commands).toEqual([{ ...DEPLOY, bot: { id: bot_id, username: 'deploys', kind: 'bot' } }])
    expect(await bot.commands.setOfBot(bot_id, { commands: [DEPLOY as never] })).toEqual({ commands: [DEPLOY] })
    expect(await codeOf(eve.commands.setOfBot(bot_id, { commands: [] }))).toBe('not_found')
    expect(await codeOf(eve.commands.list(conversation_id))).toBe('not_found')
    const { conversation_id: without } = await ada.conversations.create({ title: 'without the bot' })
    expect(await ada.commands.list(without)).toEqual({ commands: [] })

    await service.chat.commands.set(host, { commands: [{ name: 'deploy', description: 'Everywhere' }] })
    expect((await ada.commands.list(without)).commands).toMatchObject([{ name: 'deploy', bot: { kind: 'system' } }])
    expect((await ada.commands.list(conversation_id)).commands.map(({ name }) => name)).toEqual(['deploy', 'deploy'])
    await service.chat.commands.set(host, { commands: [] })
    expect(await codeOf(service.chat.commands.set(program, { commands: [] }))).toBe('forbidden')
  })

  it('are set and read by the operator, and read by those who may set them', async () => {
    const { bot: made } = await ada.bots.create({ username: 'releases' })
    const actor = await service.chat.users.actor(ada.id)
    const commands = [{ name: 'release', description: 'Releases' }]
    expect(await service.chat.commands.listOfBot(actor, made.id)).toEqual({ commands: [] })
    expect(await service.chat.commands.setOfBot(OPERATOR, made.id, { commands })).toEqual({ commands })
    for (const reader of [OPERATOR, actor, { user_id: made.id, roles: ['member'], is_bot: true } as Actor])
      expect(await service.chat.commands.listOfBot(reader, made.id)).toEqual({ commands })
    const other = await service.chat.users.actor(eve.id)
    expect(await codeOf(service.chat.commands.listOfBot(other, made.id))).toBe('not_found')
    expect(await codeOf(service.chat.commands.listOfBot(OPERATOR, ada.id))).toBe('not_found')
    expect(await codeOf(service.chat.commands.listOfBot(host, made.id))).toBe('forbidden')
    expect(await codeOf(ada.commands.invoke(made.id, { bot_id: made.id, name: 'release' }))).toBe('not_found')
  })

  it('take no number that JSON cannot have', async () => {
    const conversation_id = await open()
    const input = { bot_id, name: 'deploy', options: { version: '42', times: Number.POSITIVE_INFINITY } }
    const actor = await service.chat.users.actor(grace.id)
    expect(await codeOf(service.chat.commands.invoke(actor, conversation_id, input))).toBe('validation_failed')
  })

  it('are refused with equal names, too many, or choices of another type', async () => {
    const option = DEPLOY.options[0]
    const bad = [
      [[DEPLOY, DEPLOY], 'commands'],
      [[{ ...DEPLOY, name: 'De ploy' }], 'commands[0].name'],
      [[{ ...DEPLOY, options: [option, option] }], 'commands[0].options'],
      [[{ ...DEPLOY, options: [{ ...option, choices: [1] }] }], 'commands[0].options[0].choices'],
      [[{ ...DEPLOY, options: [{ ...option, type: 'date' }] }], 'commands[0].options[0].type'],
      [times(51, (n) => ({ name: `c${n}`, description: '' })), 'commands'],
    ] as const
    for (const [commands, path] of bad)
      await expect(ada.commands.setOfBot(bot_id, { commands: commands as never })).rejects.toMatchObject({
        code: 'validation_failed',
        errors: [{ path }],
      })
  })

  it('tell their program alone who has called them, and with what', async () => {
    const conversation_id = await open()
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'a thread' })
    const [mine, others] = [await position(program), await position(await service.chat.users.actor(ada.id))]
    const options = { version: '42', times: 2, place: 'staging', dry: true, for: ada.id }
    const { invocation_id } = await grace.commands.invoke(conversation_id, { bot_id, name: 'deploy', options, root_id })
    const { events } = await bot.feed.read({ after: mine })
    expect(events).toMatchObject([
      {
        type: 'command.invoked',
        conversation_id,
        data: { invocation_id, conversation_id, root_id, user_id: grace.id, name: 'deploy', options },
      },
    ])
    expect((await ada.feed.read({ after: others })).events).toEqual([])
    expect((await ada.messages.list(conversation_id)).messages).toHaveLength(1)
  })

  it('refuse values that do not fit, unknown commands and threads, and persons who may not post', async () => {
    const conversation_id = await open()
    const bad = [
      {},
      { version: 42 },
      { version: '42', times: 1.5 },
      { version: '42', place: 'moon' },
      { version: '42', dry: 'true' },
      { version: '42', for: 'ada' },
      { version: '42', other: 1 },
    ]
    for (const options of bad)
      expect(
        await codeOf(grace.commands.invoke(conversation_id, { bot_id, name: 'deploy', options: options as never })),
      ).toBe('validation_failed')
    const unknown = [
      { ...call, bot_id: ada.id },
      { ...call, bot_id, name: 'rollback' },
      { ...call, bot_id, root_id: bot_id },
    ]
    for (const input of unknown) expect(await codeOf(grace.commands.invoke(conversation_id, input))).toBe('not_found')
    expect(await codeOf(eve.commands.invoke(conversation_id, { ...call, bot_id }))).toBe('not_found')
    await ada.participants.changeRole(conversation_id, grace.id, { role: 'viewer' })
    expect(await codeOf(grace.commands.invoke(conversation_id, { ...call, bot_id }))).toBe('forbidden')
  })

  it('are called once for a key, also at once on two nodes', async () => {
    const conversation_id = await open()
    const after = await position(program)
    const actor = await service.chat.users.actor(grace.id)
    const input = { ...call, bot_id, idempotency_key: 'once' }
    const calls = await Promise.all(
      [service, node, service, node].map(({ chat }) => chat.commands.invoke(actor, conversation_id, input)),
    )
    expect(new Set(calls.map(({ invocation_id }) => invocation_id)).size).toBe(1)
    expect(calls.filter(({ idempotency_replayed }) => idempotency_replayed === 'true')).toHaveLength(3)
    expect((await bot.feed.read({ after })).events).toHaveLength(1)
    const headers = { 'idempotency-key': 'by-http' }
    const [first, again] = [
      await grace.commands.invoke(conversation_id, { ...call, bot_id }, { headers }),
      await grace.commands.invoke(conversation_id, { ...call, bot_id }, { headers }),
    ]
    expect(first).not.toHaveProperty('idempotency_replayed')
    expect(again).toEqual({ ...first, idempotency_replayed: 'true' })
    const other = { ...input, options: { version: '43' } }
    expect(await codeOf(service.chat.commands.invoke(actor, conversation_id, other))).toBe('idempotency_mismatch')
  })

  it('are called at most 30 times in a minute', async () => {
    const conversation_id = await open()
    for (const _ of times(30, () => 0)) await grace.commands.invoke(conversation_id, { ...call, bot_id })
    expect(await codeOf(grace.commands.invoke(conversation_id, { ...call, bot_id }))).toBe('rate_limited')
  })

  it('are answered by messages and notices of their program, for 15 minutes', async () => {
    const conversation_id = await open()
    const { invocation_id } = await grace.commands.invoke(conversation_id, { ...call, bot_id })
    const invocation = { user_id: grace.id, name: 'deploy' }
    const { message_id } = await bot.messages.postRoot(conversation_id, { content: 'Done.', invocation_id })
    expect(await ada.messages.get(message_id)).toMatchObject({ content: 'Done.', invocation })
    const { message_id: reply } = await bot.messages.reply(message_id, { content: 'Really.', invocation_id })
    expect((await ada.messages.list(conversation_id)).messages.map((message) => message.invocation)).toContainEqual(
      invocation,
    )
    expect(await ada.messages.get(reply)).toMatchObject({ invocation })
    const notice = { user_id: grace.id, content: 'For you.', invocation_id }
    expect(await bot.notices.create(conversation_id, notice)).toMatchObject({ notice: { invocation } })

    // Of others, elsewhere, and later.
    expect(await codeOf(ada.messages.postRoot(conversation_id, { content: 'mine', invocation_id }))).toBe('not_found')
    expect(await codeOf(service.chat.notices.create(host, conversation_id, notice))).toBe('not_found')
    const { conversation_id: elsewhere } = await ada.conversations.create({ title: 'elsewhere' })
    await ada.participants.add(elsewhere, { user_id: bot_id })
    expect(await codeOf(bot.messages.postRoot(elsewhere, { content: 'x', invocation_id }))).toBe('not_found')
    ahead += 16 * MINUTE
    expect(await codeOf(bot.messages.postRoot(conversation_id, { content: 'late', invocation_id }))).toBe('not_found')
  })

  it('name no caller who is erased', async () => {
    const conversation_id = await open()
    const { invocation_id } = await grace.commands.invoke(conversation_id, { ...call, bot_id })
    const { message_id } = await bot.messages.postRoot(conversation_id, { content: 'Done.', invocation_id })
    await ada.users.erase(grace.id)
    expect(await ada.messages.get(message_id)).not.toHaveProperty('invocation')
  })

  it('come to a program that was away as long as the log has them', async () => {
    const conversation_id = await open()
    const after = await position(program)
    const { invocation_id } = await grace.commands.invoke(conversation_id, { ...call, bot_id })
    const { message_id } = await bot.messages.postRoot(conversation_id, { content: 'Done.', invocation_id })
    const invocation = { user_id: grace.id, name: 'deploy' }
    ahead += 7 * HOUR
    await service.chat.ops.prune()
    expect((await bot.feed.read({ after, types: 'command.invoked' })).events).toMatchObject([
      { data: { invocation_id, ...call } },
    ])
    ahead += 8 * DAY
    await service.chat.ops.prune()
    const { db } = innerState(service)
    expect(await db.all(sql`SELECT 1 AS one FROM invocations WHERE id = ${invocation_id}`)).toEqual([])
    const row = await db.get<{ invoked_by: string }>(sql`SELECT invoked_by FROM messages WHERE id = ${message_id}`)
    expect(row).toEqual({ invoked_by: invocation.user_id })
  })
})
