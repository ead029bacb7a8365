import * as v from 'valibot'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { ConversationStreamEvent, ReceivedEvent } from '../../lib/client/index.ts'
import type { AnyRoute } from '../../lib/endpoint.ts'
import { sql } from '../../lib/storage/sql.ts'
import { createRandom } from '../fault/random.ts'
import { allRoutes } from '../support/all-routes.ts'
import { checkedFetch, readFailure } from '../support/answers.ts'
import { describeOnEachDatabase, withoutRows } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { filesInFolder } from '../support/files-folder.ts'
import { codeOf, innerState, PASSWORD, type Person, startService, startThread } from '../support/service.ts'
import { openStream, type SignedHeaders, signInByHand } from '../support/stream.ts'

/** Malicious values of a field in a body, as JSON. */
const VALUES: Record<string, string> = {
  'an empty text': '""',
  'any text': '"text"',
  'a number': '5',
  zero: '0',
  'a negative number': '-1',
  'a fraction': '1.5',
  'a huge number': '1e308',
  'a number beyond all': '1e400',
  'a number that is not exact': '9007199254740993',
  true: 'true',
  false: 'false',
  null: 'null',
  'an empty list': '[]',
  'a list': '["admin", "admin", 5]',
  'an empty object': '{}',
  'an object': '{"$ne": null, "length": 5, "toString": "x"}',
  'a long text': JSON.stringify('x'.repeat(100_000)),
  'a NUL': '"a\\u0000b"',
  'a lone surrogate': '"a\\ud800b"',
  'surrogates the wrong way round': '"\\udc00\\ud800"',
  'nothing visible': '"\\u200b\\u200d\\u2060\\ufeff"',
  spaces: '"   "',
  'a turned direction': '"\\u202e"',
  'line breaks and bells': '"\\r\\n\\u0007\\u2028"',
  SQL: '"\' OR 1=1; DROP TABLE messages; --"',
  'the id of no user': '"01890000-0000-7000-8000-000000000000"',
}

/** Malicious values of a query parameter, as they are sent. */
const PARAMETERS: Record<string, string> = {
  nothing: '',
  text: 'text',
  zero: '0',
  'a negative number': '-1',
  'a fraction': '1.5',
  'a huge number': '1e308',
  'a number that is not exact': '9007199254740993',
  'many digits': '9'.repeat(400),
  'a list': '%5B%5D',
  'a long text': 'x'.repeat(8_000),
  'a long path': '10'.repeat(2_000),
  'a NUL': 'a%00b',
  'bytes that are no UTF-8': '%ED%A0%80%FF',
  'a broken escape': '%zz%',
  'nothing visible': '%E2%80%8B',
  wildcards: '%25_%5C%25',
  SQL: '%27%20OR%201%3D1--',
  'a day that is none': '2026-02-31T00:00:00Z',
  'the first instant': '0000-01-01T00:00:00Z',
  'the last instant': '9999-12-31T23:59:59.999999999Z',
  'a zone without minutes': '2026-01-01T00:00:00%2B05',
  'a blank between day and time': '2026-01-01%2000:00:00Z',
  'the cursor of another list': '9999999999999999_01890000-0000-7000-8000-000000000000',
}

/** A valid body of each route, in which one field after the other is replaced. */
const VALID: Record<string, object> = {
  responsesCreate: { input: 'Why?', background: true },
  authLogin: { email: 'eve@example.org', password: PASSWORD },
  oauthExchangeCode: { auth_code: 'x' },
  authConfirm: { password: 'not the one' },
  authChangePassword: { current_password: 'not the one', new_password: PASSWORD },
  resetsRedeem: { token: 'made up', password: PASSWORD },
  emailsRequestChange: { email: 'new@example.org' },
  newcomersInvite: { email: 'new@example.org', mail: false },
  newcomersSignUp: { token: 'made up', username: 'somebody', password: PASSWORD },
  keysCreate: { name: 'a key' },
  botsCreate: { username: 'a-bot' },
  botsCreateKey: { name: 'a key' },
  webhooksCreate: { url: 'https://receiver.example/events' },
  webhooksChange: { parallel: 2 },
  webhooksReplay: { since: '2026-01-01T00:00:00Z' },
  webhooksChangeAny: { enabled: false },
  hooksCreate: { name: 'a tool' },
  commandsSetOfBot: { commands: [{ name: 'deploy', description: 'Deploys' }] },
  commandsInvoke: { bot_id: '01890000-0000-7000-8000-000000000000', name: 'deploy' },
  answersAddChunk: { idx: 0, content: 'x' },
  uiChatsSend: { id: 'trip', messages: [{ role: 'user', parts: [{ type: 'text', text: 'x' }] }] },
  runsStart: { threadId: 'trip', runId: 'r', messages: [{ id: 'q', role: 'user', content: 'x' }] },
  runsConnect: { threadId: 'trip', runId: 'r' },
  runsStop: { threadId: 'trip' },
  feedbackSet: { rating: 'up' },
  approvalsDecide: { approve: true },
  noticesCreate: { user_id: '01890000-0000-7000-8000-000000000000', content: 'Only for you' },
  usersEnsure: { username: 'somebody-else' },
  usersMerge: { from: { subject: 'one' }, into: { subject: 'other' } },
  usersCreate: { username: 'somebody', email: 'somebody@example.org' },
  participantsAdd: { username: 'eve' },
  conversationsDirect: { username: 'eve' },
  conversationsRename: { title: 'Engines' },
  participantsChangeRole: { role: 'member' },
  invitesAccept: { token: 'x' },
  emailsCheckLink: { link: 'undo_email', token: 'made up' },
  invitesPreview: { token: 'x' },
  attachmentsCreate: { name: 'x', size: 1 },
  messagesPostRoot: { content: 'x' },
  messagesReply: { content: 'x' },
  messagesEdit: { content: 'y' },
  notificationsMarkRead: { ids: [] },
  limitsCreateProfile: { name: 'x', params: { requests_per_second: 1, burst: 1 } },
  limitsUpdateProfile: { params: { requests_per_second: 1, burst: 1 } },
  usageSetQuota: { day: { answers: 1 } },
  limitsCreateAssignment: {
    profile_id: '01890000-0000-7000-8000-000000000000',
    method: 'GET',
    path: '/api/users',
  },
  openaiComplete: { model: 'gpt-4', messages: [{ role: 'user', content: 'x' }] },
}

interface SchemaNode {
  entries?: Record<string, unknown>
  options?: SchemaNode[]
}

/** The fields of an object, or of every object of a union. */
function fieldsOf(schema: v.GenericSchema | undefined): string[] {
  const node = (schema ?? {}) as unknown as SchemaNode
  return [...new Set((node.options ?? [node]).flatMap((each) => Object.keys(each.entries ?? {})))]
}

/** Calls of the clients of others, which know no cookies. */
const isByKey = ({ by_token, access }: AnyRoute) => by_token === true && access === 'session'

/** A body as the route reads it: for clients of others, a field that is null says nothing. */
function readAs(route: AnyRoute, body: string): unknown {
  const value = JSON.parse(body)
  return isByKey(route) ? Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null)) : value
}

const having = (part: 'body' | 'query') =>
  allRoutes.filter(([, route]) => route[part] !== undefined).map(([name, route]) => ({ name, route }))

describeOnEachDatabase('input', (openUrl, dialect) => {
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: {
        attachments: await filesInFolder(),
        assistant: { drain_seconds: 0 },
      },
    }),
  )
  let ada: Person
  let grace: Person
  let conversation_id: string
  let headers: SignedHeaders
  let authorization: string
  let ids: Record<string, string>
  beforeAll(async () => {
    const thread = await startThread(service)
    ;({ ada, grace, conversation_id } = thread)
    const other = await ada.messages.postRoot(conversation_id, { content: 'x' })
    // A user for destructive calls.
    const frank = await service.signIn('frank')
    await ada.participants.add(conversation_id, { user_id: frank.id })
    ids = {
      conversation_id,
      chat_id: thread.root.root_id,
      user_id: frank.id,
      root_id: thread.root.root_id,
      parent_id: thread.root.message_id,
      message_id: other.message_id,
      emoji: ':tada:',
      attachment_id: '01890000-0000-7000-8000-000000000000',
      token: 'made up',
    }
    headers = await signInByHand(service.base_url, ada.email, PASSWORD)
    authorization = `Bearer ${(await ada.keys.create({ name: 'sdk' })).key}`
  })

  /** Answers that were asked for before are being written meanwhile, with events of their own. */
  const countRows = async (route: AnyRoute) => {
    const { events, ...counts } = (await innerState(service).db.get<Record<string, number>>(
      sql`SELECT (SELECT count(*) FROM messages) AS messages, (SELECT count(*) FROM participants) AS participants,
              (SELECT count(*) FROM invites) AS invites, (SELECT count(*) FROM conversations) AS conversations,
              (SELECT count(*) FROM users) AS users, (SELECT count(*) FROM events) AS events`,
    ))!
    return isByKey(route) || route.answer === 'frames' ? counts : { ...counts, events }
  }

  /** Makes a call whose response is checked against its route, and checks that a refused call has changed nothing. */
  async function send(route: AnyRoute, { search = '', body }: { search?: string; body?: string }) {
    const path = route.path.replace(/\{(\w+)\}/g, (_: string, name: string) => ids[name]!)
    const before = await countRows(route)
    const response = await checkedFetch(`${service.base_url}${path}${search}`, {
      method: route.method,
      // Signing in would end the current session.
      headers: {
        ...(isByKey(route) ? { authorization } : route.access !== 'public' && headers),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body }),
    })
    if (response.ok) {
      // At the end of its stream, an answer changes nothing any more.
      await (route.answer === 'frames' ? response.text() : response.body?.cancel())
      return { status: response.status }
    }
    expect(response.status, 'a failure of ours').toBeLessThan(500)
    expect(await countRows(route)).toEqual(before)
    const { code, errors } = await readFailure(response)
    return { status: response.status, code, paths: errors?.map((error) => error.path) }
  }

  const validBody = (name: string): object => (name === 'presenceSetTyping' ? { conversation_id } : (VALID[name] ?? {}))

  /** The valid body of a route with some fields replaced by JSON. */
  function toBody(name: string, fields: Record<string, string>): string {
    const members = new Map(Object.entries(validBody(name)).map(([key, value]) => [key, JSON.stringify(value)]))
    for (const [key, json] of Object.entries(fields)) members.set(key, json)
    return `{${[...members].map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(',')}}`
  }

  /** Input that violates the schema is `validation_failed`, before any other check of the call. */
  async function sendBody(route: AnyRoute, body: string) {
    const answer = await send(route, { body })
    const isRefused = !v.safeParse(route.body, readAs(route, body)).success
    // The body of a completion is bounded before it is read.
    const isLarge = route.path.startsWith('/v1/') && !isByKey(route) && body.length > 64 * 1024
    const refusal = isLarge ? { status: 413 } : { status: 422, code: 'validation_failed' }
    if ((isRefused && !route.before) || isLarge) expect(answer).toMatchObject(refusal)
    return { isRefused: isRefused && !isLarge, ...answer }
  }

  /** What a schema refuses reaches no storage: on one database that is enough. */
  const isShownBefore = (route: AnyRoute, body: string) =>
    dialect === 'postgresql' && !route.before && !v.safeParse(route.body, readAs(route, body)).success

  describe.each(having('body'))('the body of $name', ({ name, route }) => {
    it.each(fieldsOf(route.body))('is refused or understood, with any value in %s', async (field) => {
      for (const [what, json] of Object.entries(VALUES)) {
        const body = toBody(name, { [field]: json })
        if (isShownBefore(route, body)) continue
        const { isRefused, paths } = await sendBody(route, body).catch((error: Error) => {
          throw new Error(`${what}: ${error.message}`)
        })
        const isUnion = 'options' in (route.body as object)
        // An object may be refused for several of its fields.
        const named = new Set(paths?.map((path) => path.split(/[.[]/)[0]))
        if (isRefused && !isUnion && !route.before) expect([...named]).toEqual([field])
      }
    })

    it('is refused or understood, whatever it is as a whole', async () => {
      const random = createRandom(name.length)
      const pick = <T>(list: T[]) => list[Math.floor(random() * list.length)]!
      const fields = [...fieldsOf(route.body), 'id', 'constructor', 'toString']
      for (let round = 0; round < 25; round++) {
        const chosen = fields.filter(() => random() < 0.5)
        const body = toBody(name, Object.fromEntries(chosen.map((field) => [field, pick(Object.values(VALUES))])))
        if (isShownBefore(route, body)) continue
        await sendBody(route, body).catch((error: Error) => {
          throw new Error(`${body.slice(0, 500)}: ${error.message}`)
        })
      }
    })
  })

  describe.each(having('query'))('the query of $name', ({ route }) => {
    it.each(fieldsOf(route.query))('is refused or understood, with any value in %s', async (field) => {
      for (const [what, parameter] of Object.entries(PARAMETERS)) {
        await send(route, { search: `?${field}=${parameter}` }).catch((error: Error) => {
          throw new Error(`${what}: ${error.message}`)
        })
      }
    })

    it.each(withoutRows(dialect, fieldsOf(route.query)))('has %s once', async (field) => {
      for (const search of [`?${field}=1&${field}=1`, `?${field}=&${field}`, `?${field}=1&x=2&${field}=3`])
        expect(await send(route, { search })).toMatchObject({ code: 'validation_failed', paths: [field] })
    })
  })

  describe('the content of a message', () => {
    const KEPT: Record<string, string> = {
      CRLF: 'one\r\ntwo\r\n',
      'a lone CR': 'one\rtwo\r',
      'Unicode line breaks': 'one\u2028two\u2029three\u0085',
      'marks of direction': '\u202Eabc\u202C \u2067\u05D0\u05D1\u2069 \u200F',
      'an emoji of several': '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466} \u{1F44D}\u{1F3FD} \u2764\uFE0F',
      'what looks like an event': 'data: x\nid: 1\n\nevent: stream.closed\ndata: {}\n\n: comment\nretry: 1',
      'what looks like an escape': '\\u0000 \\n "quoted" \\',
      'a byte order mark': '\uFEFFtext\uFEFF',
      'outer blanks and controls': ' \t text\u0001\u001B[31m \u00A0\n',
      'the same letter in two ways': '\u00E9 e\u0301 \u212B \uFB01',
      'the last characters there are': '\u{10FFFF} \uFFFF \uFFFE \uE000',
      markup: '</script><img src=x onerror=alert(1)> & &amp;',
      '65,536 bytes of one each': 'x'.repeat(65_536),
      '65,536 bytes of four each': '\u{1F600}'.repeat(16_384),
      '65,536 bytes of line breaks': `x${'\n'.repeat(65_535)}`,
    }

    it.each(Object.entries(KEPT))('is stored and returned unchanged by every read: %s', async (_, content) => {
      const { stream_position } = await ada.conversations.get(conversation_id)
      const live = await follow()
      const { message } = await ada.messages.postRoot(conversation_id, { content })
      const params = { message_id: message.id }
      expect(message.content).toBe(content)
      expect((await ada.messages.get(params.message_id)).content).toBe(content)
      expect((await ada.threads.tree(message.id)).messages[0]!.content).toBe(content)
      expect(contentOf(await live.until('message.new'))).toBe(content)
      expect(contentOf(await (await follow(stream_position)).until('message.new'))).toBe(content)

      await ada.messages.edit(params.message_id, { content: 'another' })
      expect((await ada.messages.listRevisions(params.message_id)).revisions[0]!.content).toBe(content)
      await ada.messages.edit(params.message_id, { content })
      const edits = await live.until('message.edited', (event) => textOf(event) === content)
      expect(contentOf(edits)).toBe(content)
      await ada.messages.remove(params.message_id)
      await ada.messages.restore(params.message_id)
      expect((await grace.messages.get(params.message_id)).content).toBe(content)
    })

    it.each(['x'.repeat(65_537), `${'\u{1F600}'.repeat(16_384)}x`, '\u00E9'.repeat(32_769)])(
      'has 65,536 bytes at most',
      async (content) => {
        const call = ada.messages.postRoot(conversation_id, { content })
        expect(await codeOf(call)).toBe('validation_failed')
      },
    )

    async function follow(last_event_id?: string) {
      const { cookie } = headers
      const options = { cookie, ...(last_event_id !== undefined && { last_event_id }) }
      const stream = await openStream(service.base_url, conversation_id, options)
      onTestFinished(() => stream.close())
      await stream.until('stream.ready')
      return stream
    }
    const textOf = (event: ConversationStreamEvent) =>
      event.type === 'message.new' || event.type === 'message.edited' ? event.payload.message.content : undefined
    const contentOf = (events: ReceivedEvent[]) => textOf(events.at(-1)!.event)
  })
})
