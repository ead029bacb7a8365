import { OPERATOR, openStorage } from '../../../lib/index.ts'
import type { Primitive, Queries } from '../../../lib/storage/database.ts'
import type { Sql } from '../../../lib/storage/sql.ts'
import { createPuppet } from '../../support/assistant.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { createMailbox } from '../../support/mailbox.ts'
import { codeOf, PASSWORD, startService, startThread, type TestService } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

/** A statement that a service ran, with its values, and whether it asked for rows or for their number. */
export type Step = [kind: 'rows' | 'changed', sql: string, params: Primitive[]]

/** About the schema itself, which later versions add to, or about the connection or transaction. */
const OF_THE_SCHEMA =
  /\bmigrations\b|sqlite_|pragma|\bpg_(?!advisory|current|snapshot|notify)|^\s*(SET|VACUUM|ANALYZE|LOCK)\b/i

/** How often a statement with the same values is kept: polls repeat. */
const KEPT = 2

type Place = Pick<Awaited<ReturnType<typeof startThread>>, 'ada' | 'grace' | 'conversation_id'>

/** Runs a service on an empty database through what its users do, and returns its statements in their order. */
export async function recordStatements(url: string): Promise<Step[]> {
  const storage = await openStorage({ database: url, strict: true })
  await storage.migrate()
  await storage.close()
  const steps: Step[] = []
  const [box, puppet] = [createMailbox(), createPuppet()]
  const service = await startService(url, {
    config: { server: { public_url: 'https://chat.example.org' }, attachments: await filesInFolder() },
    ports: { mail: box.deliver, assistant: puppet.assistant },
    wrap: (opened) => proxied(opened, { db: () => recording(opened.db, steps) }),
  })
  await useAll(service, puppet)
  await service.close()
  const times = new Map<string, number>()
  return steps.filter((step) => {
    const key = JSON.stringify(step)
    times.set(key, (times.get(key) ?? 0) + 1)
    return !OF_THE_SCHEMA.test(step[1]) && times.get(key)! <= KEPT
  })
}

/** Notes each statement as it is issued, inside transactions too. */
function recording<T extends Queries>(db: T, steps: Step[]): T {
  const statement = (kind: Step[0], name: 'all' | 'get' | 'run') => () => (sql: Sql) => {
    steps.push([kind, sql.text, [...sql.params]])
    return db[name](sql)
  }
  const transaction = (name: 'write' | 'snapshot') => () => {
    const begin = (db as never)[name] as (work: (tx: Queries) => unknown, ...rest: unknown[]) => unknown
    return (work: (tx: Queries) => unknown, ...rest: unknown[]) =>
      begin.call(db, (tx) => work(recording(tx, steps)), ...rest)
  }
  return proxied(db, {
    all: statement('rows', 'all'),
    get: statement('rows', 'get'),
    recall: statement('rows', 'get'),
    run: statement('changed', 'run'),
    write: transaction('write'),
    snapshot: transaction('snapshot'),
  })
}

/** An object some of whose properties are others. */
function proxied<T extends object>(of: T, others: Record<string, () => unknown>): T {
  return new Proxy(of, {
    get(target, name) {
      const value = target[name as keyof T]
      if (value !== undefined && Object.hasOwn(others, name)) return others[name as string]!()
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** What users, administrators and the service itself do, each once. */
async function useAll(service: TestService, puppet: ReturnType<typeof createPuppet>): Promise<void> {
  const { ada, grace, eve, conversation_id, root } = await startThread(service)
  const stream = await openStream(
    service.base_url,
    conversation_id,
    await signInByHand(service.base_url, ada.email, PASSWORD),
  )
  await stream.until('stream.ready')
  await ada.messages.edit(root.message_id, { content: 'first, edited' })
  const reply = await grace.messages.reply(root.message_id, { content: 'second 🥊' })
  await grace.messages.remove(reply.message_id, { reason: 'wrong' })
  await grace.messages.restore(reply.message_id)
  await ada.conversations.rename(conversation_id, { title: 'Machines' })
  await ada.messages.listRevisions(root.message_id)
  await ada.messages.get(root.message_id)
  await grace.threads.list(conversation_id, {})
  await grace.threads.tree(root.root_id, {})
  await grace.threads.unread(conversation_id, {})
  await grace.threads.markRead(root.root_id)
  await grace.conversations.list({})
  await grace.conversations.get(conversation_id)
  await grace.presence.sendHeartbeat()
  await grace.presence.setTyping({ conversation_id, root_id: root.root_id, is_typing: true } as never)
  const asked = await ada.messages.postRoot(conversation_id, { content: 'Why?', role: 'assistant' })
  const answer = await puppet.asked()
  answer.say('Because.')
  answer.end()
  await stream.until('message.done')
  await ada.answers.listChunks(asked.message_id, {})
  await findAndReact(service, { ada, grace, conversation_id })
  await manage(service, { ada, grace, eve, conversation_id })
  await stream.close()
}

/** Files, mentions, reactions, pins, receipts, notifications, the search, and calls of a host. */
async function findAndReact(service: TestService, { ada, grace, conversation_id }: Place): Promise<void> {
  const { chat } = service
  const [actor, host] = [await chat.users.actor(ada.id), await chat.system('shop')]
  const { attachment } = await chat.attachments.upload(actor, conversation_id, {
    name: 'notes.txt',
    bytes: Buffer.from('loom'),
  })
  const { message_id, root_id } = await ada.messages.postRoot(conversation_id, {
    content: '@grace the loom works',
    attachment_ids: [attachment.id],
  })
  await grace.attachments.get(attachment.id)
  for await (const _ of (await chat.attachments.open(actor, attachment.id)).bytes);
  await grace.reactions.add(message_id, '👍')
  await grace.reactions.list(message_id)
  await grace.reactions.remove(message_id, '👍')
  await grace.pins.add(message_id)
  await grace.pins.list(conversation_id)
  await grace.pins.remove(message_id)
  await grace.threads.markUnread(root_id, { message_id })
  await grace.threads.markRead(root_id)
  await ada.conversations.rename(conversation_id, { policy: { receipts: 'on' } })
  await ada.receipts.ofMessage(message_id)
  await ada.receipts.ofThread(root_id)
  await grace.conversations.setSettings(conversation_id, { level: 'all' })
  await grace.conversations.settings(conversation_id)
  const { notifications } = await grace.notifications.list()
  await grace.notifications.markRead({ ids: notifications.map(({ id }) => id) })
  await service.idle()
  await grace.search.messages({ q: 'loom has:file from:ada' })
  const direct = await ada.conversations.direct({ user_id: grace.id })
  await grace.messages.postRoot(direct.conversation_id, { content: 'only you' })
  await chat.users.ensure(OPERATOR, { subject: 'customer-7', display_name: 'Alan' })
  const order = await chat.conversations.ensure(host, { ref: 'order-42', title: 'Order 42' })
  await chat.messages.postRoot(host, order.conversation_id, { content: 'Paid.', metadata: { order: 42 } })
  await chat.conversations.ensure(host, { ref: 'order-42', title: 'Order 42, paid' })
  await ada.attachments.remove((await ada.attachments.create(conversation_id, { name: 'b', size: 1 })).attachment.id)
}

/** Invites, roles, keys, accounts, limits, and what ends them. */
async function manage(
  service: TestService,
  { ada, grace, eve, conversation_id }: Omit<Awaited<ReturnType<typeof startThread>>, 'root'>,
): Promise<void> {
  const [invite, second] = [
    await ada.invites.create(conversation_id, { role: 'member' }),
    await ada.invites.create(conversation_id, { role: 'viewer' }),
  ]
  await eve.invites.accept({ token: invite.token! })
  await ada.invites.revoke(second.token!)
  await ada.invites.list(conversation_id, {})
  await ada.participants.changeRole(conversation_id, eve.id, { role: 'admin' })
  await ada.participants.list(conversation_id, {})
  await ada.participants.remove(conversation_id, eve.id)
  const { id, key } = await ada.keys.create({ name: 'bot' })
  await fetch(`${service.base_url}/api/auth/me`, { headers: { authorization: `Bearer ${key}` } })
  await ada.keys.list()
  await ada.keys.revoke(id)
  await grace.auth.changeProfile({ display_name: 'Grace Hopper' })
  await grace.auth.changePassword({ current_password: PASSWORD, new_password: 'correct horse staple' })
  await grace.auth.refresh()
  await grace.auth.listSessions({})
  await grace.auth.confirm({ password: 'correct horse staple' })
  await grace.emails.requestChange({ email: 'hopper@example.org' })
  await service.client().resets.request({ email: grace.email })
  await codeOf(service.client().auth.login({ email: grace.email, password: 'wrong password' }))
  const slow = await ada.limits.createProfile({ name: 'slow', params: { requests_per_second: 500, burst: 700 } })
  await ada.limits.createAssignment({ profile_id: slow.id, method: 'GET', path: '/api/conversations' })
  await grace.conversations.list({})
  await ada.users.search({ query: 'gr' })
  await ada.users.list({})
  await ada.users.change(eve.id, { disabled: true })
  await ada.users.change(eve.id, { disabled: false })
  await ada.users.lockDown(eve.id)
  await ada.audit.list({})
  await ada.nodes.list()
  await ada.tasks.list({})
  await ada.ops.metrics()
  await ada.ops.readiness()
  const other = await ada.conversations.create({ title: 'Short' })
  await ada.messages.postRoot(other.conversation_id, { content: 'soon deleted' })
  await ada.conversations.remove(other.conversation_id)
  await ada.users.erase(eve.id, {})
  await grace.auth.logout()
}
