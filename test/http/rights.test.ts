import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { insertIdentity } from '../../lib/accounts/identities/store.ts'
import { insertCall, setCall } from '../../lib/chat/answers/store-calls.ts'
import { insertPart } from '../../lib/chat/answers/store-parts.ts'
import { limitedEndpoints } from '../../lib/http/request/rate-limit.ts'
import { type Actor, OPERATOR } from '../../lib/index.ts'
import { toName, toOpenAiId } from '../../lib/openai-api/responses/rules-ids.ts'
import { askInChat } from '../../lib/protocols/chats/asking.ts'
import { sql } from '../../lib/storage/sql.ts'
import { png } from '../files/pictures/make.ts'
import { allRoutes } from '../support/all-routes.ts'
import { checkedFetch } from '../support/answers.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { filesInFolder } from '../support/files-folder.ts'
import { innerState, PASSWORD, startService, UNREACHABLE_PROVIDER } from '../support/service.ts'
import { signInByHand } from '../support/stream.ts'

/** The callers: the columns of the table. `member` wrote the message of the calls. */
const CALLERS = [
  'anonymous',
  'administrator',
  'owner',
  'admin',
  'member',
  'viewer',
  'read_only',
  'removed',
  'outsider',
  'open_reader',
] as const
type Caller = (typeof CALLERS)[number]

/** `docs/reference/rights.md` as route → caller → status. */
const TABLE = new Map(
  readFileSync(new URL('../../docs/reference/rights.md', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const [name, ...cells] = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim())
      return [
        name!.replaceAll('`', ''),
        Object.fromEntries(CALLERS.map((caller, i) => [caller, Number(cells[i])])),
      ] as const
    }),
)

/** Calls of the clients of OpenAI about an answer. */
const PROTOCOL = /^responses|^openaiGetCompletion/

/** The valid body of a call. Every name is new for each call. */
const BODIES: Record<string, (world: World) => object> = {
  setupRun: () => ({ email: 'late@example.org', password: PASSWORD }),
  authLogin: () => ({ email: 'nobody@example.org', password: PASSWORD }),
  oauthExchangeCode: () => ({ auth_code: 'of nobody' }),
  authChangeProfile: () => ({ display_name: 'Somebody' }),
  authConfirm: () => ({ password: PASSWORD }),
  authChangePassword: () => ({ current_password: PASSWORD, new_password: PASSWORD }),
  resetsRequest: () => ({ email: 'nobody@example.org' }),
  resetsRedeem: () => ({ token: 'made up', password: PASSWORD }),
  newcomersInvite: (world) => ({ email: `invited-${world.serial}@example.org`, mail: false }),
  newcomersSignUp: () => ({ token: 'made up', username: 'somebody', password: PASSWORD }),
  responsesCreateConversation: () => ({}),
  responsesCreate: () => ({ input: 'Why?', background: true }),
  hooksCreate: () => ({ name: 'Alerts' }),
  commandsSetOfBot: () => ({ commands: [{ name: 'deploy', description: 'Deploys' }] }),
  commandsInvoke: ({ bot_id }) => ({ bot_id, name: 'deploy' }),
  answersAddChunk: () => ({ idx: 0, content: 'x' }),
  noticesCreate: ({ user_id }) => ({ user_id, content: 'Only for you' }),
  feedbackSet: () => ({ rating: 'up' }),
  approvalsDecide: () => ({ approve: true }),
  usageSetQuota: () => ({ day: { answers: 1 } }),
  webhooksCreate: () => ({ url: 'https://receiver.example/events' }),
  webhooksChange: () => ({ description: 'Orders' }),
  webhooksReplay: () => ({ since: '2026-01-01T00:00:00Z' }),
  webhooksChangeAny: () => ({ enabled: false }),
  hooksPost: () => ({ content: 'Version 42 is live.' }),
  botsCreate: (world) => ({ username: `bot-${world.serial}` }),
  botsChange: () => ({ description: 'Posts' }),
  botsCreateKey: () => ({ name: 'a key' }),
  guestsCreate: () => ({}),
  guestsClaim: () => ({ token: 'made-up' }),
  emailsRequestChange: (world) => ({ email: `new-${world.serial}@example.org` }),
  emailsConfirmChange: () => ({ token: 'made up' }),
  emailsUndoChange: () => ({ token: 'made up' }),
  emailsCheckLink: () => ({ link: 'verify_email', token: 'made up' }),
  emailsVerify: () => ({ token: 'made up' }),
  keysCreate: () => ({ name: 'a key' }),
  usersEnsure: () => ({}),
  usersMerge: () => ({ from: { subject: 'one' }, into: { subject: 'other' } }),
  usersCreate: (world) => ({ username: `new-${world.serial}`, email: `new-${world.serial}@example.org` }),
  usersChange: () => ({ display_name: 'Renamed' }),
  conversationsCreate: () => ({}),
  conversationsDirect: (world) => ({ user_id: world.user_id }),
  conversationsRename: () => ({ title: 'Renamed' }),
  conversationsSetSettings: () => ({ level: 'all' }),
  conversationsMarkUnread: ({ root_id }) => ({ message_id: root_id }),
  participantsAdd: (world) => ({ user_id: world.stranger }),
  participantsChangeRole: () => ({ role: 'viewer' }),
  invitesCreate: () => ({}),
  invitesAccept: (world) => ({ token: world.token }),
  invitesPreview: (world) => ({ token: world.token }),
  attachmentsCreate: () => ({ name: 'file.txt', size: 3 }),
  messagesPostRoot: () => ({ content: 'hello' }),
  threadsSetTitle: (world) => ({ title: `title ${world.serial}` }),
  threadsMarkUnread: ({ root_id }) => ({ message_id: root_id }),
  messagesReply: () => ({ content: 'hello' }),
  messagesEdit: () => ({ content: 'edited' }),
  notificationsMarkRead: () => ({ ids: [] }),
  presenceSendHeartbeat: () => ({}),
  presenceSetTyping: (world) => ({ conversation_id: world.conversation_id }),
  limitsReset: () => ({ address: '192.0.2.7' }),
  limitsCreateProfile: (world) => ({ name: `new-${world.serial}`, params: PARAMS }),
  limitsUpdateProfile: () => ({ params: PARAMS }),
  limitsCreateAssignment: (world) => ({ profile_id: world.profile_id, method: 'GET', path: '/api/users' }),
  uiChatsSend: ({ root_id }) => ({
    id: root_id,
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'Why?' }] }],
  }),
  runsStart: ({ root_id }) => ({
    threadId: root_id,
    runId: 'r',
    messages: [{ id: 'q', role: 'user', content: 'Why?' }],
  }),
  runsConnect: ({ root_id }) => ({ threadId: root_id, runId: 'r' }),
  runsStop: ({ root_id }) => ({ threadId: root_id }),
  openaiComplete: () => ({ model: 'gpt-4', messages: [{ role: 'user', content: 'hello' }] }),
}

/** The query of a call. */
const QUERIES: Record<string, string> = {
  usersSearch: '?query=target',
  searchMessages: '?q=target',
  presenceList: '?user_ids=01890000-0000-7000-8000-000000000000',
}

/** The file of the message. */
const FILE = new TextEncoder().encode('abc')

/** The photo that a caller sets. */
const PHOTO = png(2, 2)

/** Limits that no call reaches. */
const PARAMS = { requests_per_second: 1000, burst: 1000 }

/** Routes whose calls need a world of their own. */
const PARTICULAR =
  /^limits|^responses|^openaiGetCompletion$|^attachmentsLinked$|^messagesRestore$|^newcomersRevoke$|^usersErase$|^usersLockDown$|^usersEnsure$|BySubject$/

interface World {
  serial: number
  subject: string
  id: string
  profile_id: string
  conversation_id: string
  root_id: string
  parent_id: string
  message_id: string
  emoji: string
  user_id: string
  stranger: string
  token: string
  provider: string
  /** Of a well-known document. */
  path: string
  session_id: string
  key_id: string
  grant_id: string
  identity_id: string
  bot_id: string
  webhook_id: string
  delivery_id: string
  hook_id: string
  notice_id: string
  /** Of a tool, on which members decide. */
  call_id: string
  /** Of a newcomer. */
  invite_id: string
  /** Of a user's photo. */
  key: string
  /** Of the message. */
  attachment_id: string
  /** Of its only part. */
  n: number
  /** Of an answer, as clients of OpenAI have it. */
  response_id: string
  completion_id: string
  model_id: string
  named_id: string
  item_id: string
}

it('has a row for each route', () => {
  expect([...TABLE.keys()].sort()).toEqual(allRoutes.map(([name]) => name).sort())
})

/** The whole matrix on one database; on the other one for each way to be found there, or not. */
const ON_POSTGRES: readonly Caller[] = ['outsider', 'open_reader', 'admin', 'viewer', 'removed']

describeOnEachDatabase('rights', (openUrl, dialect) => {
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: {
        session: { max_sessions_per_user: 100 },
        security: { password: { bcrypt_cost: 4 } },
        direct: { who: 'everyone' },
        oauth: { provider_a: UNREACHABLE_PROVIDER },
        attachments: await filesInFolder(),
      },
    }),
  )
  const actors = new Map<string, Actor>()
  const sessions = new Map<Caller, Record<string, string>>([['anonymous', {}]])
  let [session_id, key_id, identity_id, key, bot_id] = ['', '', '', '', '']
  let n = 0
  let untouched: { world: World; is_open: boolean } | undefined

  beforeAll(async () => {
    const { chat } = service
    for (const name of [...CALLERS.slice(1), 'founder', 'target', 'stranger']) {
      const { id } = await service.signIn(name, name === 'read_only' ? ['read_only'] : ['member'])
      actors.set(name, await chat.users.actor(id))
    }
    const { sessions: ofTarget } = await chat.auth.listSessions(actors.get('target')!)
    session_id = ofTarget[0]!.id
    key_id = (await chat.keys.create(actors.get('target')!, { name: "the target's" })).id
    bot_id = (await chat.bots.create(actors.get('target')!, { username: "the target's bot" })).bot.id
    const { write, now, id } = innerState(chat)
    const user_id = actors.get('target')!.user_id
    const linked = { id: id(), provider: 'provider_a', issuer: 'https://a.example', subject: 'target', user_id }
    await write((tx) => insertIdentity(tx, { ...linked, created_at: now() }))
    identity_id = linked.id
    const { avatar_url } = await chat.auth.setAvatar(actors.get('stranger')!, PHOTO)
    key = avatar_url.split('/').at(-1)!
  })

  async function createWorld(name: string, is_open: boolean): Promise<World> {
    const { chat } = service
    const idOf = (name: string) => actors.get(name)!.user_id
    const founder = actors.get('founder')!
    const { conversation_id } = await chat.conversations.create(founder)
    const add = (name: string, role: 'owner' | 'admin' | 'member' | 'viewer') =>
      chat.participants.add(founder, conversation_id, { user_id: idOf(name), role })
    await add('owner', 'owner')
    await add('admin', 'admin')
    for (const name of ['member', 'read_only', 'removed', 'target']) await add(name, 'member')
    await add('viewer', 'viewer')
    await chat.participants.remove(founder, conversation_id, idOf('removed'))
    const member = actors.get('member')!
    const { attachment } = await chat.attachments.create(member, conversation_id, { name: 'file.txt', size: 3 })
    await chat.attachments.putPart(member, attachment.id, 1, { bytes: FILE })
    const { message_id } = await chat.messages.postRoot(member, conversation_id, {
      content: 'by the member',
      attachment_ids: [attachment.id],
    })
    await chat.conversations.rename(founder, conversation_id, { policy: { receipts: 'on' } })
    const host = await chat.system('host')
    if (is_open)
      await chat.conversations.rename(host, conversation_id, { visibility: 'open', policy: { join: 'anyone' } })
    const { notice } = await chat.notices.create(host, conversation_id, { user_id: idOf('member'), content: 'for you' })
    const { token = '' } = await chat.invites.create(founder, conversation_id, {})
    const ids = { chat_id: message_id, root_id: message_id, parent_id: message_id, message_id, user_id: idOf('target') }
    const limits = /^limits/.test(name) ? await createLimits(name) : { id: '', profile_id: '' }
    return {
      serial: n++,
      n: 1,
      conversation_id,
      ...ids,
      ...limits,
      stranger: idOf('stranger'),
      token: name === 'attachmentsLinked' ? await linkTo(attachment.id) : token,
      attachment_id: attachment.id,
      session_id,
      key_id,
      grant_id: bot_id,
      identity_id,
      bot_id,
      hook_id: bot_id,
      notice_id: notice.id,
      call_id: await requestCall(message_id, conversation_id),
      webhook_id: bot_id,
      delivery_id: bot_id,
      key,
      invite_id: name === 'newcomersRevoke' ? await inviteNewcomer() : '',
      provider: 'provider_a',
      path: 'security.txt',
      emoji: ':tada:',
      subject: `person-${n}`,
      model_id: 'gpt-4',
      ...(await answerIn(name, conversation_id)),
    }
  }

  /** A world that no call has changed: the last one, unless one did. */
  async function worldFor(name: string, is_open: boolean): Promise<World> {
    const last = PARTICULAR.test(name) || untouched?.is_open !== is_open ? undefined : untouched?.world
    untouched = undefined
    // Who is in an open conversation is read by all who browse.
    if (!is_open) await innerState(service).write((tx) => tx.run(sql`UPDATE conversations SET visibility = NULL`))
    return last ?? createWorld(name, is_open)
  }

  /** A profile, and the `id` in the path of the route: the profile's, or that of an assignment of it. */
  async function createLimits(name: string): Promise<Pick<World, 'id' | 'profile_id'>> {
    const { limits } = service.chat
    const profile = await limits.createProfile(OPERATOR, { name: `profile-${n}`, params: PARAMS })
    if (name !== 'limitsDeleteAssignment') return { id: profile.id, profile_id: profile.id }
    const path = `${limitedEndpoints[0]!.path.slice(0, n % 5)}*`
    const method = (['GET', 'POST', 'PUT', 'PATCH', 'DELETE', '*'] as const)[n % 6]!
    const { id } = await limits.createAssignment(OPERATOR, limitedEndpoints, { profile_id: profile.id, method, path })
    return { id, profile_id: profile.id }
  }

  /** An answer of the echo to the member, and a conversation of OpenAI that the member has made, with its first question. */
  async function answerIn(
    name: string,
    conversation_id: string,
  ): Promise<Pick<World, 'response_id' | 'completion_id' | 'named_id' | 'item_id'>> {
    if (!PROTOCOL.test(name)) return { response_id: '', completion_id: '', named_id: '', item_id: '' }
    const { chat } = service
    const member = actors.get('member')!
    const { message_id } = await chat.messages.postRoot(member, conversation_id, { content: 'Why?', role: 'assistant' })
    const { id } = await chat.responses.createConversation(member, { metadata: { conversation_id } })
    const { message_id: asked } = await askInChat(innerState(chat), member, {
      name: toName(id),
      kind: 'ask',
      answer_ids: [],
      content: 'Why?',
    })
    // One that is being written is another answer.
    await chat.answers.wait(member, message_id, { seconds: 55 })
    return {
      response_id: toOpenAiId('response', message_id),
      completion_id: toOpenAiId('completion', message_id),
      named_id: id,
      item_id: toOpenAiId('message', asked, 'question'),
    }
  }

  /** A call of a tool that waits for a member: as if the message were an answer. */
  async function requestCall(message_id: string, conversation_id: string): Promise<string> {
    const { db, id, now } = innerState(service)
    const call_id = id()
    const part = { id: 0, type: 'tool', call_id, name: 'pay', step: 1, state: 'waiting', input: {} }
    const row = { message_id, idx: 0, content: '', part: JSON.stringify(part), provider_data: null, created_at: 1 }
    await insertPart(db, row)
    const call = { id: call_id, message_id, conversation_id, user_id: null, part_id: 0, step: 1, name: 'pay' }
    await insertCall(db, { ...call, title: null, input: '[{}]', requested_at: now() })
    const rule = { approvers: 'members', quorum: 1, not_asker: 0, by_keys: 0 } as const
    await setCall(db, call_id, { state: 'waiting', approval: 'waiting', ...rule, expires_at: now() + 1e12 })
    return call_id
  }

  /** The token of a link of the member's. */
  async function linkTo(attachmentId: string): Promise<string> {
    const { url } = await service.chat.attachments.link(actors.get('member')!, attachmentId)
    return url.split('/').at(-1)!
  }

  async function openSessionOfTarget(): Promise<string> {
    await signInByHand(service.base_url, 'target@example.org', PASSWORD)
    return (await service.chat.auth.listSessions(actors.get('target')!)).sessions[0]!.id
  }

  async function inviteNewcomer(): Promise<string> {
    return (await service.chat.newcomers.invite(OPERATOR, { email: `late-${n}@example.org`, mail: false })).id
  }

  async function sessionOf(caller: Caller): Promise<Record<string, string>> {
    return caller === 'anonymous' ? {} : signInByHand(service.base_url, `${caller}@example.org`, PASSWORD)
  }

  const keys = new Map<Caller, Record<string, string>>([['anonymous', {}]])
  async function keyOf(caller: Caller): Promise<Record<string, string>> {
    const known = keys.get(caller)
    if (known) return known
    const { key } = await service.chat.keys.create(actors.get(caller)!, { name: 'sdk' })
    const headers = { authorization: `Bearer ${key}` }
    keys.set(caller, headers)
    return headers
  }

  describe.each(allRoutes.map(([name, route]) => ({ name, route })))('$name', ({ name, route }) => {
    it.each(dialect === 'sqlite' ? CALLERS : ON_POSTGRES)('by %s', async (caller) => {
      const ownSession = name === 'authLogout' || name === 'authRefresh'
      const isByKey = route.by_token === true && route.access === 'session'
      const session = isByKey
        ? await keyOf(caller)
        : ownSession
          ? await sessionOf(caller)
          : (sessions.get(caller) ?? (await sessionOf(caller)))
      if (!ownSession && !isByKey) sessions.set(caller, session)
      const is_open = caller === 'open_reader'
      const world = await worldFor(name, is_open)
      if (name === 'messagesRestore') await service.chat.messages.remove(actors.get('member')!, world.message_id)
      if (name === 'usersEndSession') world.session_id = await openSessionOfTarget()
      if (name === 'usersErase' || name === 'usersLockDown') {
        const passing = { username: `passing-${world.serial}`, email: `passing-${world.serial}@example.org` }
        world.user_id = (await service.chat.users.create(OPERATOR, passing)).user.id
      }
      if (name.endsWith('BySubject')) await service.chat.users.ensure(OPERATOR, { subject: world.subject })
      const path = route.path.replace(/\{(\w+)\}/g, (_: string, param: string) => String(world[param as keyof World]))
      const json = BODIES[name]?.(world)
      const bytes = name === 'authSetAvatar' ? new Uint8Array(PHOTO) : FILE
      const body = route.bytes ? bytes : json && JSON.stringify(json)
      const type = route.bytes ? 'application/octet-stream' : 'application/json'
      const response = await checkedFetch(service.base_url + path + (QUERIES[name] ?? ''), {
        method: route.method,
        headers: { ...session, ...(body && { 'content-type': type }) },
        ...(body && { body }),
      })
      // What a participant may read or write of its own is refused to one who only reads.
      if (is_open && response.status === 403 && !isByKey && TABLE.get(name)?.outsider === 404)
        expect(await response.json()).toMatchObject({ reason: 'not_joined' })
      else await response.body?.cancel()
      if (!PARTICULAR.test(name) && (route.method === 'GET' || response.status >= 400)) untouched = { world, is_open }
      expect(response.status).toBe(TABLE.get(name)?.[caller])
    })
  })
})
