import { expect, it, onTestFinished } from 'vitest'
import type { EmailRequestRow } from '../../lib/accounts/mails/store.ts'
import { MessageStatus } from '../../lib/chat/answers/schema.ts'
import { FAILURES } from '../../lib/chat/answers/schema-failures.ts'
import { ToolState } from '../../lib/chat/answers/schema-parts.ts'
import { Approval, ApprovalState } from '../../lib/chat/approvals/schema.ts'
import { Attachment } from '../../lib/chat/attachments/schema.ts'
import { Layout } from '../../lib/chat/conversations/schema-look.ts'
import { AutoJoin, Level } from '../../lib/chat/conversations/schema-settings.ts'
import { PersistedEvent } from '../../lib/chat/events/schema.ts'
import { Feedback } from '../../lib/chat/feedback/schema.ts'
import { Message } from '../../lib/chat/messages/schema.ts'
import { UsageDimension, UsageKind, UsageUnit } from '../../lib/chat/metering/schema.ts'
import { NotificationKind } from '../../lib/chat/notifications/schema.ts'
import { FILE_TYPES, PHOTO_TYPES, THUMBNAIL_TYPES } from '../../lib/core/file-types.ts'
import { DisabledReason, Webhook, WebhookStatus } from '../../lib/integrations/webhooks/schema.ts'
import { LimitAssignmentInput } from '../../lib/limits/schema.ts'
import { TABLES } from '../../lib/storage/archive/format.ts'
import { openStorage } from '../../lib/storage/open.ts'
import { sql, statement } from '../../lib/storage/sql.ts'
import { CLOSED_COLUMNS, JSON_COLUMNS, LABELS, QUOTED, ROLES } from '../../lib/storage/stored-values.ts'
import { bytesFor, startWithFiles, upload } from '../chat/attachments/files.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { placementOf } from '../support/placement.ts'
import { innerState } from '../support/service.ts'

/** By name, so that one that is missing does not compile. */
const REQUEST_KINDS: Record<EmailRequestRow['kind'], 0> = { invite: 0, join: 0, change: 0, undo: 0 }

/** The sets of the API; what it does not show is the service's own. */
const SETS: Record<string, readonly string[]> = {
  'users.avatar_type': PHOTO_TYPES,
  'users.kind': ['person', 'guest', 'bot'],
  'email_requests.kind': Object.keys(REQUEST_KINDS),
  'conversations.layout': Layout.options,
  'conversations.visibility': ['listed', 'open'],
  'conversations.auto_join': AutoJoin.options,
  'participants.level': Level.options,
  'messages.role': Message.entries.role.options,
  'messages.status': MessageStatus.options,
  'answer_feedback.rating': Feedback.entries.rating.options,
  'attachments.sniffed': FILE_TYPES,
  'attachments.thumbnail_type': THUMBNAIL_TYPES,
  'messages.failure': Object.keys(FAILURES),
  'attachments.lost_status': ['ready', 'scanning'],
  'attachments.status': Attachment.entries.status.pipe[0].options,
  'notifications.kind': NotificationKind.options,
  'events.type': PersistedEvent.options.map(({ entries }) => entries.type.literal),
  'oauth_clients.kind': ['document', 'operator', 'registered'],
  'webhooks.event_order': Webhook.entries.order.options,
  'webhooks.payload': Webhook.entries.payload.options,
  'webhooks.signature': Webhook.entries.signature.options,
  'webhooks.status': WebhookStatus.options,
  'webhooks.disabled_reason': DisabledReason.options,
  'tool_calls.state': ToolState.options,
  'tool_calls.approval': ApprovalState.options,
  'tool_calls.approvers': Approval.entries.by.options,
  'usage_entries.kind': UsageKind.options,
  'usage_totals.dimension': ['all', ...UsageDimension.options.filter((each) => each !== 'day')],
  'usage_totals.unit': UsageUnit.options,
  'erased_authors.messages': ['keep', 'erase'],
  'limit_assignments.method': LimitAssignmentInput.entries.method.pipe[0].options,
}

/** Texts that may be anything: of people, of other services, or our own names. */
const FREE =
  'users.email users.username users.display_name users.avatar_url users.description users.system_name users.words_of sessions.user_agent sessions.ip identities.provider identities.issuer identities.subject merged_users.subject api_keys.name api_keys.audience api_keys.scopes grants.client_name grants.client_host grants.scopes grants.redirect_uri grants.code_challenge oauth_clients.name oauth_clients.auth_methods oauth_clients.jwks_uri server_keys.name server_keys.scopes email_requests.email email_requests.conversation_ids chats.name conversations.salt conversations.title conversations.topic conversations.icon conversations.ref conversations.assistant conversations.assistant_prompt threads.title threads.last_repliers invites.email thread_members.marked_in thread_members.reopened_in thread_members.listed_in messages.content messages.path messages.prompt messages.finish_reason messages.delete_reason messages.invoked_name messages.mentioned messages.variant_of messages.assistant messages.asked attachments.reason answer_feedback.reason message_revisions.content message_revisions.reason message_chunks.content answers_under_way.writer tool_calls.name tool_calls.title approval_votes.reason idempotency_keys.name limit_profiles.name limit_profiles.description limit_assignments.path_pattern audit_log.act audit_log.ip webhooks.url webhooks.host webhooks.secret webhooks.previous_secret webhooks.headers webhooks.description webhooks.position webhooks.writer usage_entries.assistant usage_entries.model'

it('the closed columns have the values of the API', () => {
  const stored = Object.entries(CLOSED_COLUMNS).flatMap(([table, columns]) =>
    Object.entries(columns).map(([column, { values }]) => [`${table}.${column}`, [...values].sort()]),
  )
  expect(Object.fromEntries(stored)).toEqual(
    Object.fromEntries(Object.entries(SETS).map(([column, values]) => [column, [...values].sort()])),
  )
})

it('every text of an archive has a decision: closed, a label, JSON, or free', async () => {
  const storage = await openStorage({ database: 'sqlite::memory:' })
  onTestFinished(() => storage.close())
  await storage.migrate()
  const columns = TABLES.map(async ([table]) => {
    const rows = await storage.db.all<{ name: string; type: string }>(
      sql`SELECT name, type FROM pragma_table_info(${table})`,
    )
    return rows.filter(({ type }) => type === 'TEXT').map(({ name }) => `${table}.${name}`)
  })
  const texts = (await Promise.all(columns)).flat().filter((name) => !/[._](id|hash|key|by|digest)$/.test(name))
  const labels = [LABELS, JSON_COLUMNS, QUOTED, ROLES].flatMap((each) =>
    Object.entries(each).flatMap(([table, names]) => names.map((name) => `${table}.${name}`)),
  )
  expect(texts.sort()).toEqual([...Object.keys(SETS), ...labels, ...FREE.split(' ')].sort())
})

describeOnEachDatabase('an archive with values that the service never writes', (openUrl) => {
  it('is refused with line, table, column and row; fsck finds the same, and nothing is served as it', async () => {
    const url = await openUrl()
    const service = await startWithFiles(url)
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const bytes = await bytesFor(service, ada)
    const { conversation_id } = await ada.conversations.create({ title: 'Files' })
    const id = await upload(ada, bytes, conversation_id, { content: Buffer.from('<script>alert(1)</script>') })
    const { message } = await ada.messages.postRoot(conversation_id, { content: 'a', attachment_ids: [id] })
    await ada.reactions.add(message.id, '👍')
    await service.idle()
    let archive = ''
    const source = await openStorage({ database: url, ...placementOf(url) })
    await source.export((lines) => {
      archive += lines
    })
    await source.close()
    const lines = archive.trimEnd().split('\n')

    async function importWith(table: string, change: Record<string, unknown>): Promise<unknown> {
      const targetUrl = await openUrl()
      const target = await openStorage({ database: targetUrl, ...placementOf(targetUrl) })
      try {
        await target.migrate()
        const changed = lines.map((line) => {
          const given = JSON.parse(line)
          return given.table === table ? JSON.stringify({ table, row: { ...given.row, ...change } }) : line
        })
        const all = (async function* () {
          yield* changed
        })()
        const error = await target.import(all).then(
          () => undefined,
          (reason: Error) => reason.message,
        )
        for (const [name] of TABLES)
          if (error) expect(await target.db.all(statement(`SELECT 1 FROM ${name}`))).toEqual([])
        return error
      } finally {
        await target.close()
      }
    }
    for (const [table, column, value] of [
      ['attachments', 'sniffed', 'text/html'],
      ['attachments', 'thumbnail_type', 'image/svg+xml'],
      ['attachments', 'status', 'lost'],
      ['attachments', 'type', 'text/plain\r\nset-cookie: a=b'],
      ['attachments', 'name', 'a\u0000b'],
      ['participants', 'role', 'Emperor'],
      ['users', 'roles', 'member;root'],
      ['messages', 'role', 'tool'],
      ['messages', 'metadata', '{}, "role": "system"'],
      ['messages', 'reaction_list', '[], "author_user_id": "a"'],
      ['messages', 'attachment_list', 'nothing'],
      ['conversations', 'policy', '1'],
      ['reactions', 'emoji', '","'],
    ] as const) {
      const error = await importWith(table, { [column]: value })
      expect(error).toMatch(
        new RegExp(`^Nothing was imported: in line \\d+ of the archive, ${table}\\.${column} .*id `),
      )
    }

    const force = (sniffed: string) =>
      innerState(service).db.write((tx) => tx.run(sql`UPDATE attachments SET sniffed = ${sniffed}, type = ${'a/b\n'}`))
    await force('text/html')
    const read = await bytes.read(`/api/attachments/${id}/content?inline=true`)
    expect(read.headers.get('content-type')).toBe('application/octet-stream')
    expect(read.headers.get('content-disposition')).toMatch(/^attachment;/)
    await force('image/png\r\nx: y')
    expect((await bytes.read(`/api/attachments/${id}/content`)).status).toBe(200)
    const { findings } = await service.chat.ops.fsck({ repair: true })
    expect(findings.map(({ name, count }) => [name, count])).toEqual([['attachments-types', 2]])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    expect((await ada.attachments.get(id)).attachment.type).toBe('application/octet-stream')
  })
})
