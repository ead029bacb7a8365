import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { findServiceId } from '../../../lib/storage/secret.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, startService } from '../../support/service.ts'
import { signInByHand } from '../../support/stream.ts'

describeOnEachDatabase('incoming hooks', (openUrl) => {
  const lines: string[] = []
  const note = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  const log = { debug: note, info: note, warn: note, error: note }
  let ahead = 0
  const now = () => Date.now() * 1000 + ahead
  const asked: object[] = []
  const beforeMessage = ({ actor }: { actor: object }) => void asked.push(actor)
  const service = setUpService(async () =>
    startService(await openUrl(), {
      ports: { log, now, hooks: { beforeMessage } },
      config: { log: { requests: 'all' } },
    }),
  )
  let ada: Person
  let conversation_id: string
  beforeAll(async () => {
    ada = await service.signIn('ada')
  })

  async function make(input: { root_id?: string } = {}) {
    ;({ conversation_id } = await ada.conversations.create({ title: 'Alerts' }))
    const { hook, url } = await ada.hooks.create(conversation_id, { name: 'Alertmanager', ...input })
    return { hook, url, conversation_id }
  }

  const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
    checkedFetch(service.base_url + url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })

  const textsIn = async (id: string) =>
    (await ada.messages.list(id)).messages.map(({ content, author_kind }) => [content, author_kind])

  it('posts as a bot of its name, which does not participate', async () => {
    const { hook, url, conversation_id } = await make()
    expect(url).toMatch(/^\/api\/hooks\/[\w-]{43}$/)
    const response = await post(url, { content: 'web is down', metadata: { severity: 'critical' } })
    expect(response.status).toBe(201)
    const { message_id, root_id } = (await response.json()) as { message_id: string; root_id: string }
    expect(root_id).toBe(message_id)
    expect(await ada.messages.get(message_id)).toMatchObject({
      content: 'web is down',
      role: 'user',
      author_user_id: hook.bot_id,
      author_kind: 'bot',
      metadata: { severity: 'critical' },
    })
    // Users choose the name: to the host it is no part of the host.
    expect(asked.at(-1)).toEqual({ user_id: hook.bot_id, roles: ['member'], is_bot: true })
    expect((await ada.conversations.get(conversation_id)).participant_count).toBe(1)
    const { users } = await ada.users.search({ ids: hook.bot_id })
    expect(users).toMatchObject([{ kind: 'bot', display_name: 'Alertmanager' }])
    const reply = await post(url, { content: 'web is up', parent_id: message_id })
    expect(await reply.json()).toMatchObject({ root_id: message_id })
    expect((await ada.hooks.list(conversation_id)).hooks).toEqual([hook])
    expect(lines.filter((line) => line.includes(url.split('/').at(-1)!))).toEqual([])
  })

  it('posts as a bot that is neither added, written to nor found', async () => {
    const { hook, url, conversation_id } = await make()
    await post(url, { content: 'web is down' })
    const { username } = (await ada.users.search({ ids: hook.bot_id })).users[0]!
    for (const role of ['member', 'viewer'] as const)
      expect(await codeOf(ada.participants.add(conversation_id, { user_id: hook.bot_id, role }))).toBe('not_found')
    expect(await codeOf(ada.conversations.direct({ user_id: hook.bot_id }))).toBe('not_found')
    expect(await codeOf(ada.conversations.direct({ username }))).toBe('not_found')
    const { bot } = await ada.bots.create({ username: 'alertmanagers' })
    for (const query of [username, 'Alertm', 'al']) {
      const ids = (await ada.users.search({ query, limit: 50 })).users.map(({ id }) => id)
      expect(ids).not.toContain(hook.bot_id)
      if (query === 'Alertm') expect(ids).toContain(bot.id)
    }
    expect(await codeOf(service.chat.users.actor(hook.bot_id))).toBe('not_found')
  })

  it('answers a message of Slack with ok, as JSON and as a form', async () => {
    const { url, conversation_id } = await make()
    const body = { text: '*web* is down', attachments: [{ title: 'Runbook', title_link: 'https://example.org' }] }
    const form = new URLSearchParams({ payload: JSON.stringify(body) }).toString()
    for (const response of [
      await post(url, body),
      await post(url, form, { 'content-type': 'application/x-www-form-urlencoded' }),
    ]) {
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
      expect(await response.text()).toBe('ok')
    }
    const text = '**web** is down\n\n**[Runbook](https://example.org)**'
    expect(await textsIn(conversation_id)).toEqual([
      [text, 'bot'],
      [text, 'bot'],
    ])
  })

  it('replies in its thread, and posts the same only once with a key', async () => {
    const { conversation_id } = await make()
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'Alerts of today' })
    const { url } = await ada.hooks.create(conversation_id, { name: 'Grafana', root_id })
    const first = await post(url, { content: 'once' }, { 'idempotency-key': 'alert-1' })
    const again = await post(url, { content: 'once' }, { 'idempotency-key': 'alert-1' })
    expect(await again.json()).toEqual(await first.json())
    expect([first, again].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true'])
    expect((await (await post(url, { content: 'another' })).json()) as object).toMatchObject({ root_id })
    const other = await ada.conversations.create({})
    expect(await codeOf(ada.hooks.create(other.conversation_id, { name: 'Grafana', root_id }))).toBe('not_found')
  })

  it('refuses what has no text, an unknown token, its own events, and a frozen conversation', async () => {
    const { url, conversation_id } = await make()
    for (const body of [{}, { text: '' }, { content: 1 }, [], 'true', { content: 'x', parent_id: 'no' }])
      expect([422, 404]).toContain((await post(url, body)).status)
    expect((await post('/api/hooks/unknown', { text: 'x' })).status).toBe(404)
    const origin = await findServiceId(innerState(service).db)
    expect((await post(url, { text: 'x' }, { 'x-chat-server-origin': origin })).status).toBe(409)
    expect((await post(url, { text: 'x' }, { 'x-chat-server-origin': 'another' })).status).toBe(200)
    await ada.conversations.rename(conversation_id, { policy: { post: 'nobody' } })
    expect((await post(url, { text: 'x' })).status).toBe(200)
    await ada.conversations.rename(conversation_id, { frozen: true })
    expect((await post(url, { text: 'x' })).status).toBe(409)
  })

  it('takes a body of Slack beside an empty content, and mentions all whatever the policy of the room says', async () => {
    const { url, conversation_id } = await make()
    const grace = await service.signIn('grace')
    await ada.participants.add(conversation_id, { user_id: grace.id })
    await ada.conversations.rename(conversation_id, { policy: { mention_all: 'nobody' } })
    expect((await post(url, { content: null, text: '@all web is down' })).status).toBe(200)
    expect((await ada.messages.list(conversation_id)).messages).toMatchObject([{ mentions: { all: true } }])
    expect((await post(url, { content: null })).status).toBe(422)
  })

  it('posts from a page of any site, whose cookies have no effect', async () => {
    const { url } = await make()
    const page = { origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' }
    expect((await post(url, { text: 'x' }, page)).status).toBe(200)
    const { cookie } = await signInByHand(service.base_url, ada.email, PASSWORD)
    expect((await post(url, { text: 'x' }, { ...page, cookie })).status).toBe(200)
  })

  it('posts thirty at once, and one a second', async () => {
    const { url } = await make()
    const statuses: number[] = []
    for (let n = 0; n < 32; n++) statuses.push((await post(url, { text: `${n}` })).status)
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(30)
    expect(statuses).toContain(429)
    ahead += 60_000_000
    expect((await post(url, { text: 'later' })).status).toBe(200)
  })

  it('cuts what is too long of Slack, and refuses it of others', async () => {
    const { url, conversation_id } = await make()
    const { message_bytes } = innerState(service).config.limits
    const long = 'é'.repeat(message_bytes)
    expect((await post(url, { content: long })).status).toBe(422)
    expect((await post(url, { text: long })).status).toBe(200)
    const [[content]] = (await textsIn(conversation_id)) as [[string]]
    expect(Buffer.byteLength(content)).toBe(message_bytes)
  })

  it('is made, listed and deleted by owners and admins', async () => {
    const { hook, url, conversation_id } = await make()
    const grace = await service.signIn('grace')
    const eve = await service.signIn('eve')
    await ada.participants.add(conversation_id, { user_id: grace.id })
    for (const [person, code] of [
      [grace, 'forbidden'],
      [eve, 'not_found'],
    ] as const) {
      expect(await codeOf(person.hooks.create(conversation_id, { name: 'x' }))).toBe(code)
      expect(await codeOf(person.hooks.list(conversation_id))).toBe(code)
      expect(await codeOf(person.hooks.remove(conversation_id, hook.id))).toBe(code)
    }
    const direct = await ada.conversations.direct({ user_id: ada.id })
    expect(await codeOf(ada.hooks.create(direct.conversation_id, { name: 'x' }))).toBe('conflict')
    for (let n = 1; n < 20; n++) await ada.hooks.create(conversation_id, { name: `hook ${n}` })
    expect(await codeOf(ada.hooks.create(conversation_id, { name: 'one too many' }))).toBe('conflict')
    await ada.hooks.remove(conversation_id, hook.id)
    expect((await post(url, { text: 'x' })).status).toBe(404)
    expect(await codeOf(ada.hooks.remove(conversation_id, hook.id))).toBe('not_found')
  })

  it('ends with the access of its maker, and not with a deleted maker of others', async () => {
    const grace = await service.signIn('maker')
    const { conversation_id: place } = await grace.conversations.create({})
    const { url } = await grace.hooks.create(place, { name: 'Alerts' })
    expect((await post(url, { text: 'x' })).status).toBe(200)
    await service.chat.users.lockDown(OPERATOR, grace.id)
    expect((await post(url, { text: 'x' })).status).toBe(404)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('any JSON is posted or refused, and never fails', async () => {
    const { url } = await make()
    const body = fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      fc.record(
        {
          content: fc.jsonValue(),
          text: fc.jsonValue(),
          blocks: fc.array(
            fc.record({ type: fc.constantFrom('section', 'rich_text', 'header'), text: fc.jsonValue() }),
          ),
          attachments: fc.jsonValue(),
          metadata: fc.jsonValue(),
          parent_id: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
    )
    await fc.assert(
      fc.asyncProperty(body, async (value) => {
        ahead += 2_000_000
        const { status } = await post(url, JSON.stringify(value))
        return [200, 201, 400, 404, 422].includes(status)
      }),
      { numRuns: 60 },
    )
  })
})
