import { setImmediate as nextTurn } from 'node:timers/promises'
import { composeReactionLists } from '../../lib/chat/messages/store-reactions.ts'
import { toInstant } from '../../lib/core/time.ts'
import type { Chat } from '../../lib/index.ts'
import type { Primitive, Queries } from '../../lib/storage/database.ts'
import { RECOUNT_MESSAGES } from '../../lib/storage/schema/0012-unread-totals.ts'
import { RECOUNT_PARTICIPANTS } from '../../lib/storage/schema/0029-participant-counts.ts'
import { FIRST_DOC, statement } from '../../lib/storage/sql.ts'
import { RECOUNT_SEEN } from '../../lib/storage/unread-set.ts'
import { innerState, times } from './service.ts'

/** The names of the items in each filled list. */
export interface Filled {
  owner_id: string
  conversation_id: string
  root_id: string
  answer_id: string
  users: string[]
  people: string[]
  conversations: string[]
  invites: string[]
  sessions: string[]
  keys: string[]
  bot_id: string
  webhook_id: string
  deliveries: string[]
  audit: string[]
  tasks: string[]
  notifications: string[]
  identities: string[]
  profiles: string[]
  assignments: string[]
  threads: string[]
  messages: string[]
  /** When each message of the long thread was pinned, latest first. */
  pinned: string[]
  /** The users who have reacted to the second message with 👍. */
  reactors: string[]
  revisions: string[]
  chunks: number[]
  approvals: string[]
}

/** A text that is six times as long in JSON, the worst case. */
const long = (length: number) => `x${'\u0001'.repeat(length - 1)}`

/** The number of rows per statement, so that filling is quick. */
const ROWS = 100

/** Adds rows to a table. */
export async function insert(tx: Queries, table: string, rows: Record<string, Primitive>[]): Promise<void> {
  const columns = Object.keys(rows[0]!)
  const tuple = `(${columns.map(() => '?').join(', ')})`
  for (let at = 0; at < rows.length; at += ROWS) {
    const some = rows.slice(at, at + ROWS)
    const values = some.map(() => tuple).join(', ')
    const parameters = some.flatMap((row) => columns.map((column) => row[column]!))
    await tx.run(statement(`INSERT INTO ${table} (${columns.join(', ')}) VALUES ${values}`, parameters))
  }
}

/** Fills every list with more of the longest items than fit in one response, by inserting rows directly. */
export async function fill(chat: Chat, ownerId: string): Promise<Filled> {
  const actor = await chat.users.actor(ownerId)
  const { conversation_id } = await chat.conversations.create(actor, {})
  await chat.conversations.rename(actor, conversation_id, { policy: { receipts: 'on' } })
  const { webhook } = await chat.webhooks.create(actor, { url: 'https://receiver.example/events' })
  const webhook_id = webhook.id
  const { db, id, now, write } = innerState(chat)
  const ids = (count: number) => times(count, () => id())
  const at = now() + 1000

  const users = ids(1_100)
  const bot_id = users.at(-1)!
  const deliveries = ids(450)
  const sessions = ids(300)
  const keys = ids(450)
  const conversations = ids(210)
  const invites = ids(1_100)
  const audit = ids(450)
  const tasks = ids(450)
  const notifications = ids(450)
  const identities = ids(50)
  const assignments = ids(1000)
  const profiles = ids(1000).map((each) => `p${each}`.padEnd(64, '~'))
  const threads = ids(210)
  const [root_id, ...replies] = ids(60)
  const answer_id = id()
  const approvals = times(100, () => id())
  const messages = [root_id!, ...replies, answer_id]

  await write(async (tx) => {
    await insert(
      tx,
      'users',
      users.map((id, n) => ({
        id,
        email: `${id}@example.org`,
        email_key: `${id}@example.org`,
        username: `many${n}`.padEnd(64, '"'),
        username_key: `many${n}`.padEnd(64, '"'),
        display_name: long(200),
        avatar_url: `https://example.org/${'x'.repeat(2000)}`,
        roles: 'member',
        created_at: at,
        updated_at: at,
      })),
    )
    await insert(
      tx,
      'participants',
      users.map((user_id, n) => ({ conversation_id, user_id, role: 'member', joined_at: at + (n >> 2) })),
    )
    await insert(
      tx,
      'sessions',
      sessions.map((id, n) => ({
        id,
        user_id: ownerId,
        token_hash: id,
        csrf_hash: id,
        issued_at: at,
        last_seen_at: at + (n >> 2),
        idle_expires_at: at + 3_600_000_000,
        absolute_expires_at: at + 3_600_000_000,
        user_agent: long(1_000),
        ip: '192.0.2.1',
      })),
    )
    await insert(
      tx,
      'webhook_deliveries',
      deliveries.map((id, event_number) => ({
        ...{ id, webhook_id, event_id: `evt_${id}`, type: 'message.new', conversation_id, event_number, position: id },
        ...{ status: 'delivered', attempts: '[]', attempt_count: 0, at },
      })),
    )
    await insert(
      tx,
      'api_keys',
      keys.map((id) => ({ id, user_id: ownerId, name: long(100), key_hash: id, created_at: at })),
    )
    await insert(
      tx,
      'conversations',
      conversations.map((id, n) => {
        const active_at = at + (n >> 2)
        return { id, title: long(200), is_group: 1, created_at: at, clock: active_at, active_at }
      }),
    )
    await insert(
      tx,
      'participants',
      conversations.map((conversation_id) => ({ conversation_id, user_id: ownerId, role: 'owner', joined_at: at })),
    )
    await insert(
      tx,
      'invites',
      invites.map((id, n) => ({
        id,
        conversation_id,
        token_hash: id,
        created_by: ownerId,
        email: id.padEnd(254, '.'),
        email_key: id,
        role: 'member',
        max_uses: 1,
        created_at: at + (n >> 2),
        expires_at: at + 3_600_000_000,
      })),
    )
    const detail = JSON.stringify({ note: long(3_000) })
    await insert(
      tx,
      'audit_log',
      audit.map((id) => ({ id, at, act: 'doctor.probed', detail })),
    )
    await insert(
      tx,
      'tasks',
      // Due in years, so that no process takes them.
      tasks.map((id) => ({ id, kind: 'conversation.remove', key: id, due_at: 2 * at, detail: '{"removed":1}' })),
    )
    await insert(
      tx,
      'notifications',
      notifications.map((id, n) => {
        const subject = { root_id: threads[n] ?? null, message_id: threads[n] ?? null, actor_user_id: users[0]! }
        const kind = threads[n] ? 'direct' : 'added'
        // Unread ones of kind `direct` are one of the conversation.
        const read_at = threads[n] ? at : null
        return { user_id: ownerId, id, kind, at: at + (n >> 2), conversation_id, read_at, ...subject }
      }),
    )
    await insert(
      tx,
      'identities',
      identities.map((id, n) => ({
        id,
        provider: 'provider_a',
        issuer: `https://issuer.example/${id}`,
        subject: `${n}`.padEnd(255, '"'),
        user_id: ownerId,
        created_at: at + (n >> 2),
      })),
    )
    const profile = { requests_per_second: 1, burst: 1, description: long(500), created_at: at, updated_at: at }
    await insert(
      tx,
      'limit_profiles',
      profiles.map((name) => ({ id: name.slice(1, 37), name, name_key: name, ...profile })),
    )
    const profile_id = profiles[0]!.slice(1, 37)
    await insert(
      tx,
      'limit_assignments',
      assignments.map((id) => ({
        id,
        profile_id,
        method: 'GET',
        path_pattern: `/nowhere/${id}`.padEnd(500, '.'),
        created_at: at,
        updated_at: at,
      })),
    )
  })

  await write(async (tx) => {
    tx.advanceClock(conversation_id, at + threads.length + messages.length)
    const thread = { conversation_id, participant_count: 1 }
    await insert(tx, 'threads', [
      ...threads.map((root_id, n) => ({
        root_id,
        ...thread,
        message_count: 1,
        created_at: at + n,
        last_activity_at: at + n,
      })),
      {
        root_id: root_id!,
        ...thread,
        message_count: messages.length,
        created_at: at + threads.length,
        last_activity_at: at + threads.length + messages.length - 1,
      },
    ])
    const message = { conversation_id, posted_by: users[0]!, role: 'user', status: 'complete' }
    await insert(
      tx,
      'messages',
      threads.map((id, n) => ({
        id,
        root_id: id,
        ...message,
        content: long(300),
        path: '10',
        depth: 0,
        created_at: at + n,
      })),
    )
    await insert(
      tx,
      'messages',
      messages.map((id, n) => ({
        id,
        doc: FIRST_DOC + 1_000_000 + n,
        root_id: root_id!,
        ...message,
        role: id === answer_id ? 'assistant' : 'user',
        content: n % 3 === 2 ? 'short' : long(65_536),
        prompt: id === answer_id ? long(65_536) : null,
        path: `10${n.toString(36).length}${n.toString(36)}`.slice(0, n === 0 ? 2 : undefined),
        depth: n === 0 ? 0 : 1,
        created_at: at + threads.length + n,
        pinned_at: at + n,
      })),
    )
    for (const message_id of messages) tx.emit(conversation_id, { type: 'message.new', message_id })
    await insert(
      tx,
      'message_revisions',
      times(100, (n) => ({ message_id: root_id!, replaced_at: at + n, content: long(65_536), reason: long(500) })),
    )
    await insert(
      tx,
      'message_chunks',
      times(300, (idx) => ({ message_id: answer_id, idx, content: long(idx % 7 === 0 ? 60_000 : 5), created_at: at })),
    )
    await insert(
      tx,
      'message_chunks',
      approvals.map((call_id, idx) => ({
        message_id: messages[1]!,
        idx,
        content: '',
        created_at: at,
        part: JSON.stringify({ id: idx, type: 'tool', call_id, state: 'waiting', input: {} }),
      })),
    )
    await insert(
      tx,
      'tool_calls',
      approvals.map((id, part_id) => ({
        ...{ id, message_id: messages[1]!, conversation_id, part_id, step: 1, name: 'pay', state: 'waiting' },
        ...{ input: JSON.stringify([{ text: long(10_000) }]), requested_at: at, approval: 'waiting', quorum: 1 },
        ...{ approvers: 'members', not_asker: 0, by_keys: 0, expires_at: at + 1e12 },
      })),
    )
    await tx.run(statement("UPDATE users SET kind = 'bot', owner_id = ? WHERE id = ?", [ownerId, bot_id]))
    const reactors = users.slice(0, 300)
    const reaction = { message_id: messages[1]!, at }
    await insert(tx, 'reactions', [
      ...reactors.map((user_id, n) => ({ ...reaction, user_id, emoji: '👍', emoji_key: '👍', at: at + n })),
      ...times(31 * 10, (n) => {
        const emoji = `:${'x'.repeat(28)}-${n % 31}:`
        return { ...reaction, user_id: users[Math.floor(n / 31)]!, emoji, emoji_key: emoji, at: at + 300 + n }
      }),
    ])
    await composeReactionLists(tx, [messages[1]!])
  })
  // As a repair does, which an operator waits for.
  await db.write(
    async (tx) => {
      for (const recount of [RECOUNT_MESSAGES, RECOUNT_SEEN, RECOUNT_PARTICIPANTS]) await tx.run(recount)
    },
    { timeout: false },
  )
  // The connections that were idle meanwhile are closed now, before the next request takes one.
  for (let turn = 0; turn < 3; turn++) await nextTurn()
  return {
    owner_id: ownerId,
    conversation_id,
    root_id: root_id!,
    answer_id,
    users,
    people: [ownerId, ...users],
    conversations,
    invites,
    sessions,
    keys,
    bot_id,
    webhook_id,
    deliveries,
    audit,
    tasks,
    notifications,
    identities,
    profiles,
    assignments,
    threads,
    messages,
    pinned: messages.map((_, n) => toInstant(at + n)).reverse(),
    reactors: users.slice(0, 300),
    revisions: times(100, (n) => toInstant(at + n)),
    chunks: times(300, (idx) => idx),
    approvals,
  }
}
