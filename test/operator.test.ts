import { expect, it } from 'vitest'
import { ChatError, createChatService, OPERATOR, openStorage, parseConfig } from '../lib/index.ts'
import { describeOnEachDatabase } from './support/databases.ts'

const ID = '01a1fa2c-dc70-7963-8fcf-555d9af1412a'
const EMAIL = 'grace@example.org'
const PASSWORD = 'correct horse battery'
const PARAMS = { requests_per_second: 1, burst: 1 }

/** The arguments of each use-case after the actor; `undefined` for those without one. Use-cases not listed here get an id only. */
const CALLS: Record<string, unknown[]> = {
  'users.create': [{ username: 'grace', email: EMAIL }],
  'users.list': [],
  'users.find': ['ada'],
  'users.search': [{ query: 'ad' }],
  'users.get': [ID],
  'users.change': [ID, { display_name: 'Ada' }],
  'users.erase': [ID, {}],
  'users.merge': [{ from: { user_id: ID }, into: { user_id: ID } }],
  'users.endSession': [ID, ID],
  'users.ensure': [{ subject: '42', username: 'grace' }],
  'sessions.list': [{}],
  'sessions.revoke': [{ user_id: ID }],
  'audit.list': [],
  'audit.listNamed': [],
  'auth.refresh': [{}],
  'auth.logout': [],
  'auth.me': [],
  'auth.changePassword': [{ current_password: PASSWORD, new_password: PASSWORD }],
  'auth.changeProfile': [{ display_name: 'Operator' }],
  'auth.confirm': [{ password: PASSWORD }],
  'auth.listSessions': [],
  'auth.revokeSession': [ID],
  'resets.issue': [{ email: EMAIL }],
  'newcomers.invite': [{ email: 'newcomer@example.org', mail: false }],
  'newcomers.list': [],
  'newcomers.revoke': [ID],
  'newcomers.signUp': [{}, { token: 'x', username: 'newcomer', password: PASSWORD }],
  'mails.list': [],
  'mails.retry': [],
  'mails.drop': [],
  'keys.create': [{ name: 'a key' }],
  'keys.list': [],
  'keys.revoke': [ID],
  'keys.listAll': [],
  'keys.revokeAny': [ID],
  'oauthClients.create': [{ name: 'IDE', redirect_uris: ['http://localhost/'] }],
  'oauthClients.list': [],
  'oauthClients.remove': [ID],
  'serverKeys.create': [{ name: 'shop', scopes: ['act_as'] }],
  'serverKeys.list': [],
  'serverKeys.revoke': [ID],
  'hooks.create': [ID, { name: 'Alerts' }],
  'hooks.list': [ID],
  'hooks.remove': [ID, ID],
  'commands.set': [{ commands: [] }],
  'commands.setOfBot': [ID, { commands: [] }],
  'commands.listOfBot': [ID],
  'commands.list': [ID],
  'commands.invoke': [ID, { bot_id: ID, name: 'deploy' }],
  'notices.create': [ID, { user_id: ID, content: 'Only for you' }],
  'notices.list': [ID],
  'notices.remove': [ID],
  'webhooks.create': [{ url: 'https://receiver.example/events' }],
  'webhooks.list': [{}],
  'webhooks.get': [ID],
  'webhooks.change': [ID, { parallel: 2 }],
  'webhooks.remove': [ID],
  'webhooks.verify': [ID],
  'webhooks.test': [ID],
  'webhooks.rotate': [ID],
  'webhooks.listDeliveries': [ID, {}],
  'webhooks.replayDelivery': [ID, ID],
  'webhooks.replay': [ID, { since: '2026-01-01T00:00:00Z' }],
  'webhooks.listAll': [{}],
  'feedback.set': [ID, { rating: 'up' }],
  'feedback.remove': [ID],
  'feedback.list': [{}],
  'webhooks.changeAny': [ID, { enabled: false }],
  'bots.create': [{ username: 'deploys', owner_id: ID }],
  'bots.list': [{ owner_id: ID }],
  'bots.change': [ID, { description: 'Posts' }],
  'bots.remove': [ID],
  'bots.listKeys': [ID],
  'bots.createKey': [ID, { name: 'a key' }],
  'bots.revokeKey': [ID, ID],
  'oauth.begin': [{}, 'github', { link: true }],
  'oauth.finish': [{}, 'github', { code: 'c', state: 's' }],
  'oauth.exchangeCode': [{}, 'github', { auth_code: 'c' }],
  'conversations.create': [{ title: 'Engines' }],
  'conversations.ensure': [{ ref: 'order-42' }],
  'conversations.list': [],
  'conversations.get': [ID],
  'conversations.rename': [ID, { title: 'Engines' }],
  'conversations.remove': [ID],
  'conversations.listAll': [],
  'conversations.describe': [ID],
  'conversations.removeAny': [ID],
  'conversations.markAllRead': [{}],
  'conversations.markRead': [ID, {}],
  'conversations.markUnread': [ID, { message_id: ID }],
  'conversations.directory': [],
  'conversations.join': [ID],
  'conversations.leave': [ID],
  'participants.add': [ID, { user_id: ID }],
  'participants.changeRole': [ID, ID, { role: 'member' }],
  'participants.remove': [ID, ID],
  'participants.list': [ID],
  'invites.create': [ID, {}],
  'invites.list': [ID],
  'invites.accept': [{}, { token: 'INVITE' }],
  'invites.preview': [{}, { token: 'INVITE' }],
  'invites.revoke': ['unknown'],
  'invites.revokeById': [ID],
  'threads.list': [ID],
  'threads.tree': [ID],
  'threads.unread': [ID],
  'threads.markRead': [ID, {}],
  'threads.listFollowed': [],
  'threads.follow': [ID],
  'threads.unfollow': [ID],
  'messages.postRoot': [ID, { content: 'hello', idempotency_key: 'once' }],
  'messages.reply': [ID, { content: 'hello' }],
  'messages.get': [ID],
  'messages.listRevisions': [ID],
  'messages.edit': [ID, { content: 'hello' }],
  'messages.remove': [ID],
  'messages.restore': [ID],
  'answers.cancel': [ID],
  'answers.listChunks': [ID],
  'assistants.list': [],
  'answers.addChunk': [ID, { idx: 0, content: 'x' }],
  'answers.end': [ID],
  'presence.sendHeartbeat': [],
  'presence.setTyping': [{ conversation_id: ID }],
  'limits.listProfiles': [],
  'limits.createProfile': [{ name: 'slow', params: PARAMS }],
  'limits.updateProfile': [ID, { params: PARAMS }],
  'limits.deleteProfile': [ID],
  'limits.listAssignments': [],
  'limits.createAssignment': [
    [{ method: 'GET', path: '/api/users' }],
    { profile_id: ID, method: 'GET', path: '/api/users' },
  ],
  'limits.deleteAssignment': [ID],
  'usage.list': [{ by: 'user' }],
  'usage.get': [],
  'usage.report': [{}],
  'usage.reportCsv': [{}],
  'usage.getQuota': [ID],
  'usage.setQuota': [ID, {}],
  'usage.clearQuota': [ID],
  'events.open': [ID, {}],
  'events.openAll': [{}],
  'events.follow': [ID],
  'events.followAll': [],
}

/** Use-cases without an actor. */
const WITHOUT_ACTOR = [
  'setup.get',
  'setup.assertOpen',
  'setup.run',
  'setup.runFrom',
  'users.actor',
  'users.actorOf',
  'sessions.endForSubject',
  'auth.login',
  'auth.recognise',
  'auth.authenticate',
  'resets.request',
  'resets.redeem',
  'emails.checkLink',
  'invites.preview',
  'newcomers.signUp',
  'ops.health',
  'ops.readiness',
  'ops.metrics',
  'ops.prune',
  'ops.fsck',
  'ops.probe',
  'wellKnown.get',
  'openai.listModels',
  'openai.complete',
]

/** The use-cases of the operator, who has no account and participates in no conversation. */
const MAY =
  /^(users|newcomers|mails|sessions|audit|resets|limits)\.|^usage\.(list|report|reportCsv|getQuota|setQuota|clearQuota)$|^keys\.(listAll|revokeAny)|^(oauthClients|serverKeys|bots|hooks|webhooks)\.|^invites\.(list|create|revoke)|^assistants\.list$|^conversations\.(listAll|describe|removeAny)/

type Call = (...args: unknown[]) => unknown

describeOnEachDatabase('the operator', (openUrl) => {
  async function open() {
    const config = parseConfig({
      security: { password: { bcrypt_cost: 4 } },
      bots: { enabled: true },
      hooks: { enabled: true },
      webhooks: { enabled: true },
    })
    const chat = createChatService(config, await openStorage({ database: await openUrl(), strict: true }))
    await chat.start({ background: false })
    const { user } = await chat.setup.run({ email: 'ada@example.org', password: PASSWORD })
    const ada = await chat.users.actor(user.id)
    const { conversation_id } = await chat.conversations.create(ada)
    const { token = '' } = await chat.invites.create(ada, conversation_id)
    const useCases = new Map<string, Call>()
    for (const [feature, calls] of Object.entries(chat)) {
      if (feature === 'context' || typeof calls !== 'object') continue
      for (const [name, call] of Object.entries(calls)) useCases.set(`${feature}.${name}`, call as Call)
    }
    return { chat, useCases, token, user }
  }

  it('gets a response or a clear error from every use-case', async () => {
    const { chat, useCases, token, user } = await open()
    for (const [name, call] of useCases) {
      if (WITHOUT_ACTOR.includes(name)) continue
      const given = CALLS[name] ?? [ID, {}]
      const args = JSON.parse(JSON.stringify(given).replace('INVITE', token))
      const code = await outcome(call, OPERATOR, ...args)
      if (!(name in CALLS)) continue
      expect(code, name).not.toBe('validation_failed')
      if (!MAY.test(name) && !/^(auth|oauth)\./.test(name))
        expect(['forbidden', 'not_found', 'empty'], name).toContain(code)
    }
    expect(await outcome(useCases.get('conversations.create')!, OPERATOR, {})).toBe('forbidden')
    expect((await chat.ops.fsck()).findings).toEqual([])
    expect((await chat.users.actor(user.id)).user_id).toBe(user.id)
    await chat.close()
  })

  /** The code of an error, `done`, or `empty` for a list of nothing; fails for an error that is none of ours. */
  async function outcome(call: Call, ...args: unknown[]): Promise<string> {
    try {
      const value = await call(...args)
      if (value && typeof value === 'object' && Symbol.asyncIterator in value) {
        for await (const _ of value as AsyncIterable<unknown>) return 'done'
        return 'done'
      }
      const isEmpty = Object.values(Object(value)).every((each) => Array.isArray(each) && each.length === 0)
      return value && isEmpty ? 'empty' : 'done'
    } catch (error) {
      if (!(error instanceof ChatError)) throw error
      return error.code
    }
  }
})
