import { afterEach, beforeEach, expect, it } from 'vitest'
import { DAY, HOUR } from '../../lib/core/units.ts'
import type { Storage } from '../../lib/index.ts'
import { insertWebhook } from '../../lib/integrations/webhooks/store.ts'
import type { Primitive, Writing } from '../../lib/storage/database.ts'
import { type Sql, sql, statement } from '../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { codeOf, innerState, PASSWORD, startService, startThread, type TestService, times } from '../support/service.ts'
import { openStream, refreshByHand, signInByHand } from '../support/stream.ts'
import { webhookRow } from '../support/webhook-rows.ts'

/** A statement of a transaction, and the number of rows it changed. */
interface Statement {
  statement: Sql
  changes: number
}

describeOnEachDatabase('data with an expiry', (openUrl, dialect) => {
  let service: TestService
  let clock: number
  let statements: Statement[]

  const start = async (config: object = {}) => {
    // Sessions must outlive the test.
    const session = { idle_seconds: 400 * 86_400, absolute_seconds: 400 * 86_400 }
    service = await startService(await openUrl(), {
      config: { session, ...config },
      ports: { now: () => clock },
      wrap: (storage) => recording(storage, (statement) => statements.push(statement)),
    })
  }

  beforeEach(async () => {
    clock = Date.now() * 1000
    statements = []
    await start()
  })
  afterEach(() => service.close())

  const count = async (table: string) =>
    (await innerState(service).db.get<{ count: number }>(statement(`SELECT count(*) AS count FROM ${table}`)))!.count

  it('includes notifications, for 90 days, with what they count', async () => {
    const { ada, grace, conversation_id } = await startThread(service)
    await ada.messages.postRoot(conversation_id, { content: 'Hello', mentions: { user_ids: [grace.id] } })
    const mentions = async () => (await grace.conversations.list()).conversations[0]!.mentions
    clock += 89 * DAY
    expect(await service.chat.ops.prune()).toMatchObject({ notifications: 0 })
    expect(await mentions()).toBe(1)
    clock += 2 * DAY
    expect((await service.chat.ops.prune()).notifications).toBeGreaterThan(0)
    expect(await mentions()).toBe(0)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('includes events, for two days; a reader who resumes later gets a reset', async () => {
    const { ada, conversation_id, root } = await startThread(service)
    const { stream_position } = await ada.conversations.get(conversation_id)
    const reply = (content: string) => ada.messages.reply(root.message_id, { content })
    clock += 47 * HOUR
    await reply('kept for two days more')
    const { stream_position: later } = await ada.conversations.get(conversation_id)
    await reply('the last one')
    expect(await service.chat.ops.prune()).toMatchObject({ events: 0 })
    clock += 2 * HOUR
    expect((await service.chat.ops.prune()).events).toBeGreaterThan(3)
    expect(await service.chat.ops.prune()).toMatchObject({ events: 0 })

    const { cookie } = await signInByHand(service.base_url, ada.email, PASSWORD)
    const follow = (last_event_id: string) => openStream(service.base_url, conversation_id, { cookie, last_event_id })
    const tooLate = await follow(stream_position!.replace(/\d+$/, '1'))
    const [, reset] = await tooLate.until('stream.reset')
    expect(reset!.event.payload).toMatchObject({ reason: 'expired' })
    await tooLate.close()
    for (const position of [stream_position!, later!]) {
      const inTime = await follow(position)
      const [ready] = await inTime.until('stream.ready')
      expect(ready!.event.payload).toMatchObject({ resumed: true })
      const [last] = (await inTime.until('message.new', isLast)).slice(-1)
      expect(last!.event.payload).toMatchObject({ message: { content: 'the last one' } })
      await inTime.close()
    }
    // The effect of a deleted event stays.
    const tree = await ada.threads.tree(root.root_id)
    expect(tree.messages).toHaveLength(3)
  })

  it('includes events except the newest of all, so that the numbers continue', async () => {
    const { ada, conversation_id } = await startThread(service)
    const { stream_position } = await ada.conversations.get(conversation_id)
    const actor = await service.chat.users.actor(ada.id)
    const open = async (last_event_id?: string) => {
      for await (const { event } of service.chat.events.followAll(actor, { ...(last_event_id && { last_event_id }) }))
        return event.payload as { resumed: boolean; last_event_id: string }
    }
    const before = (await open())!.last_event_id
    clock += 100 * HOUR
    await service.chat.ops.prune()
    expect(await count('events')).toBe(1)
    expect(await open(before)).toEqual({ resumed: true, last_event_id: before })
    expect((await ada.conversations.get(conversation_id)).stream_position).toBe(stream_position)
  })

  it('includes events of a busy day, deleted in batches by two processes at once', { timeout: 60_000 }, async () => {
    const { ada, root } = await startThread(service)
    const actor = await service.chat.users.actor(ada.id)
    const post = (content: string) => service.chat.messages.reply(actor, root.message_id, { content })
    for (const some of times(60, (index) => index)) await Promise.all(times(20, (index) => post(`${some} ${index}`)))
    clock += 49 * HOUR
    const [one, other] = await Promise.all([service.chat.ops.prune(), service.chat.ops.prune()])
    expect(one.events + other.events).toBeGreaterThan(1200)
    expect(await count('events')).toBe(1)
  })

  it('includes idempotency keys, for a day', async () => {
    const { ada, conversation_id } = await startThread(service)
    const post = (key: string) =>
      ada.messages.postRoot(conversation_id, { content: key }, { headers: { 'idempotency-key': key } })
    await post('old')
    clock += 23 * HOUR
    await post('new')
    clock += HOUR
    expect(await service.chat.ops.prune()).toMatchObject({ idempotency_keys: 1 })
    expect(await count('idempotency_keys')).toBe(1)
  })

  it('includes invites, for a month after they have expired, in any state', async () => {
    const { ada, eve, conversation_id } = await startThread(service)
    const invite = () => ada.invites.create(conversation_id, { ttl_seconds: 60 })
    const accept = (token: string) => codeOf(eve.invites.accept({ token }))
    const [expired, revoked, used] = [await invite(), await invite(), await invite()]
    const { token: lasting = '' } = await ada.invites.create(conversation_id, { ttl_seconds: 2_592_000 })
    await ada.invites.revoke(revoked.token!)
    await (await service.signIn('linus')).invites.accept({ token: used.token! })
    expect(await accept(used.token!)).toBe('invite_used')

    clock += 60_000_000 + 30 * DAY
    expect(await service.chat.ops.prune()).toMatchObject({ invites: 0 })
    expect([await accept(expired.token!), await accept(revoked.token!)]).toEqual(['invite_expired', 'invite_revoked'])
    clock += 1_000_000
    expect(await service.chat.ops.prune()).toMatchObject({ invites: 3 })
    expect(await accept(revoked.token!)).toBe('not_found')
    expect(await accept(lasting)).toBe('invite_expired')
  })

  it('includes the replaced tokens of a session, as long as the session is kept', async () => {
    const { ada } = await startThread(service)
    const old = await signInByHand(service.base_url, ada.email, PASSWORD)
    await refreshByHand(service.base_url, await refreshByHand(service.base_url, old))
    clock += 400 * DAY
    const later = await signInByHand(service.base_url, ada.email, PASSWORD)
    await refreshByHand(service.base_url, later)
    clock += 30 * DAY
    expect(await service.chat.ops.prune()).toMatchObject({ sessions: 0 })
    expect(await count('rotated_tokens')).toBe(3)
    clock += 1
    expect((await service.chat.ops.prune()).sessions).toBeGreaterThan(0)
    expect(await count('rotated_tokens')).toBe(1)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('includes entries of the audit log, for a year or as configured', async () => {
    const { ada } = await startThread(service)
    const acts = async () => (await ada.audit.list({})).entries.map(({ act }) => act)
    const before = (await acts()).length
    clock += 365 * DAY - HOUR
    await ada.users.create({ username: 'linus', email: 'linus@example.org' })
    expect(await service.chat.ops.prune()).toMatchObject({ audit_entries: 0 })
    clock += 2 * HOUR
    expect(await service.chat.ops.prune()).toMatchObject({ audit_entries: before })
    expect(await acts()).toEqual(['user.created'])
    await service.close()

    await start({ audit: { retention_days: false } })
    await service.signIn('ada')
    clock += 36_500 * DAY
    expect(await service.chat.ops.prune()).toMatchObject({ audit_entries: 0 })
    expect(await count('audit_log')).toBeGreaterThan(0)
  })

  it('is deleted by statements that delete few rows and find them by an index', async () => {
    await fill(600)
    // Usage is deleted by whole months.
    clock += 440 * DAY
    statements = []
    const pruned = await service.chat.ops.prune()
    const deletes = statements.filter(({ statement }) => statement.text.startsWith('DELETE'))
    expect(Object.entries(pruned).filter(([, total]) => total < 600)).toEqual([])
    expect(Math.max(...deletes.map(({ changes }) => changes))).toBeLessThanOrEqual(500)
    for (const [text, { statement }] of new Map(deletes.map((each) => [each.statement.text, each])))
      expect(scansIn(await planOf(service, statement), dialect), text).toEqual([])
  })

  it('is left for the next start when the service stops', async () => {
    await fill(600)
    clock += 400 * DAY
    service.chat.drain()
    expect((await service.chat.ops.prune()).audit_entries).toBe(500)
  })

  /** Adds `rows` of everything that expires, all of them as of now. */
  async function fill(rows: number): Promise<void> {
    const { ada, conversation_id, root } = await startThread(service)
    const { db, id } = innerState(service)
    const at = clock
    const insert = (table: string, row: (id: string) => Record<string, Primitive>) =>
      db.write((tx) => {
        const all = times(rows, () => row(id()))
        const columns = Object.keys(all[0]!)
        const marks = `(${columns.map(() => '?').join(', ')})`
        return tx.run(
          statement(
            `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${all.map(() => marks).join(', ')}`,
            all.flatMap((values) => Object.values(values)),
          ),
        )
      })
    const user_id = ada.id
    let seq = 1_000
    await insert('events', () => ({ conversation_id, seq: seq++, type: 'message.edited', created_at: at }))
    await insert('usage_entries', (id) => ({
      ...{ message_id: id, kind: 'answer', at, user_id, conversation_id, assistant: 'assistant', model: '', steps: 1 },
      ...{
        prompt_tokens: 0,
        completion_tokens: 0,
        cached_tokens: 0,
        reasoning_tokens: 0,
        cost_micros: 0,
        estimated: 1,
      },
    }))
    await insert('sessions', (id) => ({
      ...{ id, user_id, token_hash: id, csrf_hash: id, issued_at: at, last_seen_at: at },
      ...{ idle_expires_at: at, absolute_expires_at: at },
    }))
    await insert('invites', (id) => ({
      ...{ id, conversation_id, token_hash: id, role: 'member', max_uses: 1, created_at: at, expires_at: at },
    }))
    await insert('api_keys', (id) => ({ id, user_id, name: id, key_hash: id, created_at: at, expires_at: at }))
    await insert('server_keys', (id) => ({
      ...{ id, name: id, scopes: 'users', key_hash: id, created_at: at, expires_at: at },
    }))
    await insert('webhooks', (id) => ({
      ...{ id, user_id, url: 'https://a.test/', host: 'a.test', types: '[]', position: '' },
      ...{ status: 'unverified', unverified_at: at, created_at: at },
    }))
    const webhook_id = id()
    await db.write((tx) => insertWebhook(tx, webhookRow({ id: webhook_id, user_id })))
    await insert('webhook_deliveries', (id) => ({
      ...{ id, webhook_id, event_id: id, type: 'message.new', event_number: 1, position: '' },
      ...{ status: 'delivered', attempts: '[]', at },
    }))
    await insert('token_floors', (id) => ({ subject_hash: id, tokens_after: at }))
    await insert('password_resets', (id) => ({ token_hash: id, user_id, expires_at: at }))
    await insert('email_verifications', (id) => ({ token_hash: id, user_id, email_key: id, expires_at: at }))
    await insert('email_requests', (id) => ({
      ...{ id, kind: 'invite', email: id, email_key: id, roles: 'member', created_at: at, expires_at: at },
    }))
    await insert('oauth_states', (id) => ({
      ...{ state_hash: id, provider: 'p', binding_hash: id, verifier: id, nonce: id, expires_at: at },
    }))
    await insert('oauth_assertions', (id) => ({ jti_hash: id, expires_at: at }))
    const granted = { user_id, client_id: 'c', client_name: 'C', client_host: 'c.test', scopes: 'chat:read' }
    const grant = { ...granted, redirect_uri: 'https://c.test/', code_challenge: 'c', refresh_tokens: '[]' }
    const later = at + 100 * 365 * DAY
    await insert('grants', (id) => ({ ...grant, id, code_hash: id, created_at: later, last_used_at: at }))
    await insert('grants', (id) => ({ ...grant, id, code_hash: id, created_at: at, last_used_at: later }))
    await insert('grants', (id) => ({
      ...{ ...grant, id, code_hash: id, created_at: later, last_used_at: later, code_expires_at: at },
    }))
    const client = { name: 'Claude', redirect_uris: '["http://localhost/"]', auth_methods: 'none', created_at: at }
    await insert('oauth_clients', (id) => ({ ...client, id, kind: 'document', last_used_at: at, fetched_at: at }))
    await insert('oauth_clients', (id) => ({ ...client, id, kind: 'registered', last_used_at: at }))
    await insert('oauth_clients', (id) => ({ ...client, id, kind: 'registered', last_used_at: at + 1 }))
    await insert('limit_buckets', (id) => ({ bucket: id, tat: at }))
    await insert('login_failures', (id) => ({ account: id, failures: 1, first_at: at, blocked_until: at }))
    await insert('revocations', () => ({ user_id, conversation_id: null, at }))
    await insert('known_devices', (id) => ({ token_hash: id, user_id, expires_at: at }))
    await insert('idempotency_keys', (id) => ({
      ...{ user_id, name: id, request_hash: id, message_id: root.message_id, created_at: at },
    }))
    await insert('users', (id) => ({
      ...{ id, email: id, email_key: `doctor-${id}@doctor.invalid`, username: id, username_key: id },
      ...{ roles: 'read_only', created_at: at, updated_at: at },
    }))
    await insert('invocations', (id) => ({
      ...{ id, conversation_id, bot_id: user_id, user_id, name: id, options: '{}', created_at: at },
    }))
    await insert('notices', (id) => ({
      ...{ id, conversation_id, user_id, author_user_id: user_id, content: id, created_at: at, expires_at: at },
    }))
    await insert('audit_log', (id) => ({ id, at, act: 'logout' }))
    await insert('notifications', (id) => ({ user_id, id, kind: 'added', at, conversation_id }))
    // The newest event stays.
    await ada.messages.postRoot(conversation_id, { content: 'later' })
  }
})

/** A storage that records the statements of its transactions. */
function recording(storage: Storage, tell: (statement: Statement) => void): Storage {
  const heard = (tx: Writing): Writing => ({
    ...tx,
    run: async (statement) => {
      const changes = await tx.run(statement)
      tell({ statement, changes })
      return changes
    },
  })
  return { ...storage, db: { ...storage.db, write: (work) => storage.db.write((tx) => work(heard(tx))) } }
}

/** The query plan of a statement, a line per step. PostgreSQL scans a table only if it must. */
function planOf({ chat }: TestService, statement: Sql): Promise<string[]> {
  return innerState(chat).db.write(async (tx) => {
    if (tx.dialect === 'postgresql') await tx.run(sql`SET LOCAL enable_seqscan = off`)
    const explain = tx.dialect === 'postgresql' ? sql`EXPLAIN` : sql`EXPLAIN QUERY PLAN`
    const rows = await tx.all<Record<string, string>>(sql`${explain} ${statement}`)
    return rows.map((row) => row.detail ?? row['QUERY PLAN']!)
  })
}

/**
 * The steps that scan a whole table. A limited number of events is read in key order, and the table of attempts is
 * small.
 */
function scansIn(plan: string[], dialect: string): string[] {
  if (dialect === 'postgresql') return plan.filter((step) => step.includes('Seq Scan'))
  return plan.filter(
    (step) => /^SCAN (?!events$|e$|oldest$|oauth_states$|\d)/.test(step) && !step.includes('USING') && !isLookup(step),
  )
}

/** A row of a virtual table by its number. */
const isLookup = (step: string) => /VIRTUAL TABLE INDEX \d+:=$/.test(step) || step.includes('json_each')

const isLast = (event: { type: string; payload: unknown }) =>
  (event.payload as { message?: { content: string } }).message?.content === 'the last one'
