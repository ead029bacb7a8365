import { readFileSync, writeFileSync } from 'node:fs'
import pg from 'pg'
import { afterEach, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { addPosts } from '../../../lib/chat/messages/posting.ts'
import type { Actor } from '../../../lib/core/actor.ts'
import { createChatService, OPERATOR, openStorage, parseConfig } from '../../../lib/index.ts'
import { invariants } from '../../../lib/ops/fsck/invariants.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { JSON_COLUMNS } from '../../../lib/storage/stored-values.ts'
import { fileOf, openHandle, promised } from '../../storage/handles.ts'
import { createSqliteFile, describeOnEachDatabase, directUrl } from '../../support/databases.ts'
import { innerState, startService, startThread, type TestService, times } from '../../support/service.ts'

const PINS = `INSERT INTO messages (id, conversation_id, root_id, role, content, path, depth, status, created_at, pinned_at)
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 101)
  SELECT 'pin' || i, (SELECT min(id) FROM conversations), 'none', 'user', '', 'pin' || i, 0, 'complete', i, i FROM n`

function attachment(id: string, status: string, blob: string): string {
  return `INSERT INTO attachments (id, conversation_id, name, size, status, blob_id, created_at, expires_at)
    SELECT '${id}', min(id), 'a file', 1, '${status}', ${blob}, 0, 9e15 FROM conversations`
}

/** For each invariant a statement that breaks it, given a thread with two replies and an answer. */
const BREAKS: Record<string, string> = {
  'events.contiguous': 'UPDATE conversations SET last_seq = last_seq + 1',
  'events.refer': "UPDATE events SET message_id = 'nobody' WHERE type = 'message.done'",
  'events.chunks': 'DELETE FROM message_chunks',
  'messages.announced': "UPDATE events SET type = 'message.edited' WHERE type = 'message.new'",
  'messages.placed': "UPDATE messages SET path = path || '1' WHERE depth = 2",
  'messages.rooted': 'UPDATE messages SET depth = 5 WHERE parent_id IS NULL',
  'quotes-in-conversation': "UPDATE messages SET quote_id = 'another'",
  'variants-share-a-parent': "UPDATE messages SET variant_of = 'another' WHERE role = 'assistant'",
  'messages.erased':
    "UPDATE messages SET posted_by = NULL, content = '', mention_origins = '{}' WHERE deleted_at IS NOT NULL",
  'messages.deleted': 'UPDATE messages SET deleted_by = posted_by WHERE deleted_at IS NULL',
  'usage-sums': 'UPDATE usage_totals SET prompt_tokens = prompt_tokens + 1',
  'reservations-of-running': `INSERT INTO answers_under_way (message_id, conversation_id, writer, lease_expires_at, reserved_tokens)
    SELECT id, conversation_id, 'gone', 1, 1 FROM messages WHERE role = 'user' LIMIT 1`,
  'calls-have-rows': `INSERT INTO tool_calls (id, message_id, conversation_id, part_id, step, name, state, requested_at, approval)
    SELECT 'call', id, conversation_id, 0, 1, 'search', 'done', 1, NULL FROM messages WHERE role = 'assistant' LIMIT 1`,
  'waiting-has-a-call': `INSERT INTO tool_calls (id, message_id, conversation_id, part_id, step, name, state, requested_at, approval)
    SELECT 'call', id, conversation_id, 0, 1, 'search', 'running', 1, NULL FROM messages WHERE role = 'assistant' LIMIT 1`,
  'approval-one-outcome': `INSERT INTO tool_calls (id, message_id, conversation_id, part_id, step, name, state, requested_at, approval)
    SELECT 'call', id, conversation_id, 0, 1, 'search', 'done', 1, 'denied' FROM messages WHERE role = 'assistant' LIMIT 1`,
  'token-has-grant': `INSERT INTO api_keys (id, user_id, name, key_hash, created_at, grant_id)
    SELECT 'k', min(id), 'K', 'h', 1, 'gone' FROM users`,
  'grant-has-user': `INSERT INTO grants (id, user_id, client_id, client_name, client_host, scopes, created_at, last_used_at,
      code_hash, redirect_uri, code_challenge, refresh_tokens)
    VALUES ('g', 'gone', 'c', 'C', '', 'chat:read', 1, 1, 'h', '', '', '[]')`,
  'chat-root-in-conversation': `INSERT INTO conversations (id, title, is_group, created_at, clock, last_seq)
      VALUES ('another', '', 1, 1, 1, 0);
    INSERT INTO chats (user_id, name, conversation_id, root_id, created_at)
      SELECT (SELECT min(id) FROM users), 'trip', 'another', min(root_id), 1 FROM threads`,
  'messages.reply_count': 'UPDATE messages SET reply_count = reply_count + 1',
  'threads.rooted': 'DELETE FROM messages WHERE parent_id IS NULL',
  'threads.counts': 'UPDATE threads SET message_count = message_count + 1',
  'last-repliers': "UPDATE threads SET last_repliers = 'nobody:1'",
  'unread.written': 'UPDATE thread_members SET live_count = live_count + 1',
  'merged-names-nothing': `INSERT INTO merged_users (from_id, into_id, merged_at, messages, conversations)
    SELECT min(id), max(id), 1, 0, 0 FROM users`,
  'participants.former': `INSERT INTO users (id, email, email_key, username, username_key, roles, created_at, updated_at)
      VALUES ('gone', 'gone', 'gone', 'gone', 'gone', 'member', 1, 1);
    INSERT INTO thread_members (root_id, user_id, read_at, marked_in) SELECT root_id, 'gone', 1, conversation_id FROM threads`,
  'unread.read': 'UPDATE thread_members SET read_count = read_count + 1',
  'unread.members': 'DELETE FROM thread_members WHERE live_count > 0',
  'unread.marks': 'UPDATE thread_members SET marked_in = NULL',
  'conversations.messages': 'UPDATE conversations SET message_count = message_count + 1',
  'conversations.participants': 'UPDATE conversations SET participant_count = participant_count + 1',
  'follows-listed': 'UPDATE thread_members SET listed_at = listed_at - 1',
  'follows-participate':
    "INSERT INTO thread_members (root_id, user_id, followed_at) SELECT root_id, 'nobody', 1 FROM threads",
  'roots-counted': 'UPDATE conversations SET root_count = root_count + 1',
  'unread-counted': 'UPDATE participants SET seen_count = seen_count - 1',
  'chunks.contiguous': 'UPDATE message_chunks SET idx = idx + 100',
  'answers.content': "UPDATE messages SET content = 'another' WHERE role = 'assistant'",
  'answers.under_way': "UPDATE messages SET status = 'streaming' WHERE role = 'assistant'",
  'answers.chunks': `INSERT INTO answers_under_way (message_id, conversation_id, writer, lease_expires_at)
    SELECT id, conversation_id, 'w', 0 FROM messages WHERE role = 'assistant'`,
  'conversations.active': 'UPDATE conversations SET active_at = 0',
  'thread-notification-while-unread': `INSERT INTO notifications (user_id, id, kind, at, conversation_id, scope_id, message_id)
    SELECT (SELECT min(user_id) FROM participants p WHERE p.conversation_id = m.conversation_id), 'n', 'reply', 1,
           m.conversation_id, m.root_id, m.id FROM messages m WHERE m.id = (SELECT min(id) FROM messages);
    UPDATE thread_members SET followed_at = -9000000000000000`,
  'unread-mentions-counted': 'UPDATE participants SET unread_mentions = unread_mentions + 1',
  'mention-rows-participate-or-left':
    "UPDATE messages SET mention_all = 0, mentioned = 'nobody' WHERE id = (SELECT min(id) FROM messages)",
  'notification-per-person-and-message': `INSERT INTO notifications (user_id, id, kind, at, conversation_id)
    SELECT 'nobody', min(id), 'added', 1, min(conversation_id) FROM messages`,
  'reactions-of-live-rows': "UPDATE reactions SET user_id = 'nobody'",
  'reactions-listed': "UPDATE messages SET reaction_list = replace(reaction_list, '1', '2')",
  'pins-at-most-100': PINS,
  'attachments-with-bytes': attachment('a', 'ready', 'NULL'),
  'attachments-complete': `INSERT INTO blobs (id, size, parts, created_at) VALUES ('b', 1, 1, 0); ${attachment('a', 'ready', "'b'")}`,
  'attachments-listed': "UPDATE messages SET attachment_list = '[]' WHERE id = (SELECT min(id) FROM messages)",
  'attachments-waiting': `${attachment('a', 'gone', 'NULL')}; UPDATE attachments SET expires_at = NULL`,
  'values-known': "UPDATE participants SET role = 'Emperor' WHERE role = 'member'",
  'messages-known': "UPDATE messages SET role = 'bot' WHERE id = (SELECT min(id) FROM messages)",
  'attachments-types': `${attachment('a', 'gone', 'NULL')}; UPDATE attachments SET sniffed = 'text/html', type = 'a' || '\x01'`,
  'photos-with-bytes': "UPDATE users SET avatar_url = '/api/avatars/' || id",
  'attachments-size': 'INSERT INTO blob_sizes (bytes, released_bytes) VALUES (1, 0)',
  'conversations.clock': 'UPDATE conversations SET clock = 0',
  'conversations.direct': 'UPDATE conversations SET is_group = 0',
  'pair-key-matches-participants': "UPDATE conversations SET pair_key = id || ':' || id, is_direct = 1, is_group = 0",
  'public-not-direct': "UPDATE conversations SET is_direct = 1, visibility = 'listed'",
  'guest-at-most-member': `UPDATE participants SET role = 'admin' WHERE role = 'member';
    UPDATE users SET kind = 'guest' WHERE id IN (SELECT user_id FROM participants WHERE role = 'admin')`,
  'conversations.owned': "UPDATE participants SET role = 'member'",
  'idempotency.posted': `INSERT INTO idempotency_keys (user_id, name, request_hash, message_id, created_at)
    SELECT (SELECT max(id) FROM users), 'k', 'h', min(id), 0 FROM messages`,
  'invites.signups': 'UPDATE invites SET signups = uses + 1',
  'invites.uses': 'UPDATE invites SET uses = max_uses + 1',
  'limits.refer': `INSERT INTO limit_assignments (id, profile_id, method, path_pattern, created_at, updated_at)
    VALUES ('a', 'none', '*', '/api/*', 0, 0)`,
  'users.own': "INSERT INTO api_keys (id, user_id, name, key_hash, created_at) VALUES ('k', 'nobody', 'bot', 'h', 0)",
  'hook-has-bot': `INSERT INTO hooks (id, conversation_id, bot_id, token_hash, created_at)
    SELECT 'h', min(id), (SELECT min(id) FROM users), 'h', 0 FROM conversations`,
  'keys-of-owned-bots': `UPDATE users SET kind = 'bot';
    INSERT INTO api_keys (id, user_id, name, key_hash, created_at) SELECT 'k', min(id), 'bot', 'h', 0 FROM users`,
  'webhook-position-in-log': `INSERT INTO webhooks (id, url, host, types, status, position, created_at)
    VALUES ('w', 'https://receiver.example', 'receiver.example', '[]', 'active', 'nowhere', 1)`,
  'delivery-names-event': `INSERT INTO webhooks (id, url, host, types, status, position, created_at)
    VALUES ('w', 'https://receiver.example', 'receiver.example', '[]', 'disabled', '', 1);
    INSERT INTO webhook_deliveries (id, webhook_id, event_id, type, event_number, position, status, next_at, at)
    SELECT 'd', 'w', 'evt_1', 'another', min(id), '', 'pending', 9000000000000000, 1 FROM events`,
  'users.disabled': 'UPDATE users SET disabled_at = 1',
  'sessions.rotated': "INSERT INTO rotated_tokens (token_hash, session_id, rotated_at) VALUES ('t', 'none', 0)",
  'search-doc-unique': `DROP INDEX messages_by_doc;
    CREATE INDEX messages_by_doc ON messages (doc) WHERE doc IS NOT NULL;
    UPDATE messages SET doc = (SELECT min(doc) FROM messages)`,
  'search-covers-live': 'UPDATE messages SET doc = doc + 1000000',
  'search-no-ghost': 'UPDATE messages SET doc = doc + 1000000',
  'sessions.cap': 'UPDATE sessions SET user_id = (SELECT min(id) FROM users)',
}

/** What can be repaired: counts, and copies of rows. */
const REPAIRABLE = [
  'token-has-grant',
  'grant-has-user',
  'public-not-direct',
  'quotes-in-conversation',
  'variants-share-a-parent',
  'messages.erased',
  'usage-sums',
  'messages.reply_count',
  'threads.counts',
  'last-repliers',
  'unread.written',
  'delivery-names-event',
  'participants.former',
  'unread.read',
  'conversations.messages',
  'conversations.participants',
  'conversations.active',
  'roots-counted',
  'unread-counted',
  'follows-listed',
  'follows-participate',
  'thread-notification-while-unread',
  'unread-mentions-counted',
  'reactions-of-live-rows',
  'reactions-listed',
  'attachments-listed',
  'attachments-waiting',
  'attachments-types',
  'photos-with-bytes',
  'attachments-size',
  'search-doc-unique',
  'search-covers-live',
  'search-no-ghost',
]

const config = { session: { max_sessions_per_user: 2 } }

describeOnEachDatabase('fsck', (openUrl, dialect) => {
  let service: TestService
  let url: string
  let sound: string

  beforeAll(async () => {
    sound = await openUrl()
    service = await startService(sound, { config })
    const { ada, grace, eve, conversation_id, root } = await startThread(service)
    const reply = (parent_id: string, content: string) => ada.messages.reply(parent_id, { content })
    const { message_id } = await reply(root.message_id, 'second')
    const third = await reply(message_id, 'third')
    await grace.threads.markRead(root.root_id, { message_id })
    await ada.messages.remove(third.message_id)
    const { token = '' } = await ada.invites.create(conversation_id, {})
    await eve.invites.accept({ token })
    const ask = { content: 'Are you there?', role: 'assistant' as const }
    await grace.messages.reply(message_id, ask)
    await grace.reactions.add(message_id, '👍')
    await service.idle()
    await service.close()
  })
  beforeEach(async () => {
    url = await openUrl(sound)
    service = await startService(url, { config })
  })
  afterEach(() => service.close())

  /** Runs a statement that the constraints of the database may refuse. */
  async function force(statement: string): Promise<void> {
    if (dialect === 'sqlite') {
      const handle = await openHandle(fileOf(url))
      handle.exec('PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON')
      handle.exec(statement)
      return handle.close()
    }
    const client = new pg.Client(directUrl(url))
    await client.connect()
    await client.query(`ALTER TABLE invites DROP CONSTRAINT invites_check; SET session_replication_role = replica`)
    await client.query(statement)
    await client.end()
  }

  const names = async (options?: { repair: boolean }) =>
    (await service.chat.ops.fsck(options)).findings.map((finding) => finding.name)

  it('finds nothing in a consistent database', async () => {
    const steps: (string | number)[][] = []
    const { checked, findings } = await service.chat.ops.fsck({ onProgress: (...step) => steps.push(step) })
    expect(findings).toEqual([])
    // The file, the schema, the references and the JSON come before the invariants.
    expect(steps.map(([, step, all]) => [step, all])).toEqual(times(checked + 4, (n) => [n + 1, checked + 4]))
  })

  it('finds a row of every column of JSON that has none', async () => {
    const columns = Object.entries(JSON_COLUMNS).flatMap(([table, names]) => names.map((name) => `${table}.${name}`))
    const statements = columns.map((each) => {
      const [table, column] = each.split('.')
      const broken = each.endsWith('metadata') ? '"a text"' : '{"a":'
      const id = { message_chunks: 'message_id', answer_runs: 'message_id', chats: 'name' }[table!] ?? 'id'
      const only = table === 'message_chunks' ? ' AND idx = 0' : ''
      return `UPDATE ${table} SET ${column} = '${broken}' WHERE ${id} = (SELECT max(${id}) FROM ${table})${only}`
    })
    await force(
      `INSERT INTO webhooks (id, url, host, types, status, position, created_at)
         VALUES ('w', 'https://receiver.example', 'receiver.example', '[]', 'disabled', '', 1);
       INSERT INTO bot_commands (id, commands) VALUES ('b', '[]');
       INSERT INTO chats (user_id, name, conversation_id, created_at)
         SELECT (SELECT max(id) FROM users), 'trip', max(id), 1 FROM conversations;
       INSERT INTO usage_quotas (id, limits) SELECT max(id), '{}' FROM users;
       INSERT INTO oauth_clients (id, kind, name, redirect_uris, auth_methods, created_at, last_used_at)
         VALUES ('c', 'operator', 'C', '[]', 'none', 1, 1);
       INSERT INTO grants (id, user_id, client_id, client_name, client_host, scopes, created_at, last_used_at, code_hash,
                           redirect_uri, code_challenge, refresh_tokens)
         SELECT 'g', max(id), 'c', 'C', '', 'chat:read', 1, 1, 'h', '', '', '[]' FROM users;
       INSERT INTO tool_calls (id, message_id, conversation_id, part_id, step, name, state, requested_at)
         SELECT 'call', id, conversation_id, 0, 1, 'search', 'done', 1 FROM messages WHERE role = 'assistant' LIMIT 1;
       INSERT INTO answer_runs (message_id, step, attempts, ran_ms, spent, tokens, micros)
         SELECT max(id), 1, 0, 1, '{}', 0, 0 FROM messages;
       ${statements.join('; ')}`,
    )
    const { findings } = await service.chat.ops.fsck()
    const { count, examples, remedy } = findings.find(({ name }) => name === 'json')!
    expect(count).toBe(columns.length)
    // Ten of them are shown.
    expect(examples.map((each) => each.split(' ')[0])).toEqual(columns.slice(0, 10))
    expect(remedy).toMatch(/backup/)
  })

  it('has a test that breaks each invariant', () => {
    const all = invariants({
      dialect,
      now: 0,
      max_sessions_per_user: 2,
      partitions: [1],
      roles_beyond_member: ['owner'],
    }).map(({ name }) => name)
    expect(Object.keys(BREAKS).sort()).toEqual(all.sort())
  })

  it.each(Object.entries(BREAKS))('finds a violation of %s', async (name, statement) => {
    await force(statement)
    const { findings } = await service.chat.ops.fsck()
    expect(findings.map((finding) => finding.name)).toContain(name)
    for (const { count, examples } of findings) expect(examples).toHaveLength(Math.min(10, count))
    for (const each of findings) {
      const isRepairable = REPAIRABLE.includes(each.name)
      expect(each.remedy).toMatch(isRepairable ? /fsck --repair/ : /harmless|backup|only|restart|wait|end the|undo/i)
    }

    const repaired = await service.chat.ops.fsck({ repair: true })
    expect(repaired.findings.find((finding) => finding.name === name)?.repaired ?? false).toBe(
      REPAIRABLE.includes(name),
    )
    if (REPAIRABLE.includes(name)) expect(await names()).toEqual([])
  })

  it.each([
    ['a conversation and its participants', 'conversations SET message_count', 'participants SET seen_count'],
    ['a conversation and its threads', 'conversations SET message_count', 'threads SET message_count'],
  ])('repairs the counts of %s when both are wrong by the same number', async (_, ...counts) => {
    await force(counts.map((count) => `UPDATE ${count} = ${count.split(' ').at(-1)} + 1`).join('; '))
    expect(await names({ repair: true })).not.toEqual([])
    expect(await names()).toEqual([])
  })

  it('finds a message without its event also in a conversation with another one that has two', async () => {
    await force(`UPDATE events SET message_id = (SELECT min(message_id) FROM events WHERE type = 'message.new')
                  WHERE seq = (SELECT max(seq) FROM events WHERE type = 'message.new')`)
    const { findings } = await service.chat.ops.fsck()
    expect(findings.find(({ name }) => name === 'messages.announced')?.count).toBeGreaterThan(0)
  })

  it('repairs reply counts, so that a message can be replied to again', async () => {
    const { ada, root } = await startThread(service)
    await ada.messages.reply(root.message_id, { content: 'first' })
    await force('UPDATE messages SET reply_count = 0')
    await expect(ada.messages.reply(root.message_id, { content: 'second' })).rejects.toThrow()
    expect(await names({ repair: true })).toEqual(['messages.reply_count'])
    await ada.messages.reply(root.message_id, { content: 'third' })
    expect(await names()).toEqual([])
  })

  it.skipIf(dialect === 'sqlite')('repairs counts that a post changes at the same time', async () => {
    await force(BREAKS['conversations.messages']!)
    const context = innerState(service)
    const { conversation_id, posted_by } = (await context.db.get<Record<string, string>>(
      sql`SELECT * FROM messages LIMIT 1`,
    ))!
    const actor: Actor = { user_id: posted_by!, roles: ['member'] }
    const [stored, finish] = [promised(), promised()]
    const writing = context.write(async (tx) => {
      await addPosts(context, tx, [
        { actor, input: { role: 'user', content: 'new' }, where: { conversation_id: conversation_id! } },
      ])
      stored.resolve()
      await finish.promise
    })
    await stored.promise
    const repairing = names({ repair: true })
    const waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    while (!(await context.db.get(statement(waits))));
    finish.resolve()
    await writing
    expect(await repairing).toEqual(['conversations.messages', 'unread-counted'])
    expect(await names()).toEqual([])
  })

  it('repairs the number of participants while users join and leave', async () => {
    await force(BREAKS['conversations.participants']!)
    const ada = await service.signIn('ada')
    const { conversation_id } = await ada.conversations.create()
    const people = await Promise.all(times(6, (n) => service.signIn(`person-${n}`)))
    const [staying, leaving] = [people.slice(0, 3), people.slice(3)]
    for (const { id } of leaving) await ada.participants.add(conversation_id, { user_id: id })
    await Promise.all([
      ...staying.map(({ id }) => ada.participants.add(conversation_id, { user_id: id })),
      names({ repair: true }),
      ...leaving.map((person) => person.participants.remove(conversation_id, person.id)),
    ])
    expect(await names()).toEqual([])
    expect((await ada.conversations.get(conversation_id)).participant_count).toBe(4)
  })

  it('erases what an older process left of the messages of an author, and no text that was kept', async () => {
    const gone = await service.signIn('gone')
    const kept = await service.signIn('kept')
    const { conversation_id } = await (await service.signIn('ada')).conversations.create()
    const roots: string[] = []
    for (const person of [gone, kept]) {
      await (await service.signIn('ada')).participants.add(conversation_id, { user_id: person.id })
      const first = await person.messages.postRoot(conversation_id, { content: 'first' })
      const { message_id } = await person.messages.postRoot(conversation_id, {
        content: 'second',
        quote_id: first.message_id,
        title: 'A title',
      })
      await person.messages.remove(message_id)
      roots.push(message_id)
    }
    await service.chat.users.erase(OPERATOR, gone.id, { messages: 'erase' })
    await service.chat.users.erase(OPERATOR, kept.id, { messages: 'keep' })
    await service.idle()
    expect(await names()).toEqual([])
    const read = () =>
      innerState(service).db.all(
        sql`SELECT t.title, m.quote_id IS NOT NULL AS quotes FROM threads t JOIN messages m ON m.id = t.root_id
          WHERE t.root_id IN (${roots[0]!}, ${roots[1]!}) ORDER BY t.root_id = ${roots[1]!}`,
      )
    const [, untouched] = await read()
    expect(untouched).toMatchObject({ title: 'A title' })
    await force(`UPDATE threads SET title = 'A title' WHERE root_id = '${roots[0]}';
      UPDATE messages SET quote_id = '${roots[1]}' WHERE id = '${roots[0]}'`)
    expect(await names({ repair: true })).toEqual(['messages.erased'])
    expect(await names()).toEqual([])
    expect(await read()).toEqual([{ title: null, quotes: dialect === 'sqlite' ? 0 : false }, untouched])
  })

  it('only notes that a user has more sessions than a lowered limit', async () => {
    await force(BREAKS['sessions.cap']!)
    expect((await service.chat.ops.fsck()).findings).toMatchObject([{ name: 'sessions.cap', note: true }])
  })

  it('finds nothing after old events are deleted', async () => {
    await innerState(service).db.write((tx) =>
      tx.run(sql`DELETE FROM events WHERE seq <= (SELECT max(seq) - 2 FROM events WHERE type = 'message.new')`),
    )
    expect(await names()).toEqual([])
  })
})

it('names the damage of a file, as far as it can be read', async () => {
  const { url, remove } = await createSqliteFile()
  onTestFinished(remove)
  const service = await startService(url)
  const { ada, root } = await startThread(service)
  const params = { parent_id: root.message_id }
  for (const content of times(60, (n) => `${n} ${'x'.repeat(500)}`))
    await ada.messages.reply(params.parent_id, { content })
  await service.close()
  // A page of messages, which the start does not read; what else is in the file depends on work in the background.
  const bytes = readFileSync(fileOf(url))
  const page = Math.floor(bytes.lastIndexOf('x'.repeat(500)) / 4096)
  writeFileSync(fileOf(url), bytes.fill(0xff, page * 4096, (page + 1) * 4096))

  const chat = createChatService(parseConfig({}), await openStorage({ database: url }))
  await chat.start({ background: false })
  const [finding] = (await chat.ops.fsck()).findings
  expect(finding).toMatchObject({
    name: 'file',
    examples: expect.arrayContaining([expect.stringMatching(/page|malformed/i)]),
  })
  await chat.close()
})

it('checks a large file in a process of its own, beside the other checks', async () => {
  const { url, remove } = await createSqliteFile()
  onTestFinished(remove)
  const service = await startService(url)
  onTestFinished(() => service.close())
  const { ada, root } = await startThread(service)
  await ada.messages.reply(root.message_id, { content: 'reply' })
  const handle = await openHandle(fileOf(url))
  // A table of the host, which is not checked.
  handle.exec('CREATE TABLE filler (bytes); INSERT INTO filler VALUES (zeroblob(70000000)); PRAGMA wal_checkpoint')
  expect((await service.chat.ops.fsck()).findings).toEqual([])

  handle.exec(
    "UPDATE messages SET reply_count = 7; UPDATE events SET type = 'message.edited' WHERE type = 'message.new'",
  )
  handle.exec('UPDATE messages SET depth = 5 WHERE parent_id IS NULL')
  const { findings } = await service.chat.ops.fsck({ repair: true })
  expect(findings).toMatchObject([
    { name: 'messages.placed' },
    { name: 'messages.rooted' },
    { name: 'messages.announced' },
    { name: 'messages.reply_count', repaired: true },
  ])
  handle.close()
})

it('reports the damage of a large file', async () => {
  const { url, remove } = await createSqliteFile()
  onTestFinished(remove)
  const service = await startService(url)
  await startThread(service)
  await service.close()
  const handle = await openHandle(fileOf(url))
  handle.exec('CREATE TABLE filler (bytes); INSERT INTO filler VALUES (zeroblob(70000000))')
  handle.close()
  const bytes = readFileSync(fileOf(url))
  bytes.fill(0xff, bytes.length - 10 * 4096)
  writeFileSync(fileOf(url), bytes)
  const chat = createChatService(parseConfig({}), await openStorage({ database: url }))
  onTestFinished(() => chat.close())
  await chat.start({ background: false, changed: true })
  expect((await chat.ops.fsck()).findings).toMatchObject([{ name: 'file', remedy: expect.stringContaining('backup') }])
})
