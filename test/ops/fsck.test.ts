import { afterEach, beforeEach, expect, it } from 'vitest'
import { invariants } from '../../lib/ops/invariants.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { startService, startThread, type TestService } from '../support/service.ts'

/** For each invariant what breaks it, given a thread with two replies and an answer. */
const BREAKS: Record<string, string> = {
  'events.contiguous': 'UPDATE conversations SET last_seq = last_seq + 1',
  'events.refer': "UPDATE events SET message_id = 'nobody' WHERE type = 'message.done'",
  'messages.announced': "UPDATE events SET type = 'message.edited' WHERE type = 'message.new'",
  'messages.placed': "UPDATE messages SET path = path || '1' WHERE depth = 2",
  'messages.rooted': 'UPDATE messages SET depth = 5 WHERE parent_id IS NULL',
  'messages.reply_count': 'UPDATE messages SET reply_count = reply_count + 1',
  'threads.counts': 'UPDATE threads SET message_count = message_count + 1',
  'unread.written': 'UPDATE thread_members SET live_count = live_count + 1',
  'unread.read': 'UPDATE thread_members SET read_count = read_count + 1',
  'chunks.contiguous': 'UPDATE message_chunks SET idx = idx + 100',
  'answers.content': "UPDATE messages SET content = 'another' WHERE role = 'assistant'",
  'answers.under_way': "UPDATE messages SET status = 'streaming' WHERE role = 'assistant'",
  'conversations.owned': "UPDATE participants SET role = 'member'",
  'sessions.cap': 'UPDATE sessions SET user_id = (SELECT min(id) FROM users)',
}

/** What the database itself does not let happen. */
const CONSTRAINED = ['invites.uses']

/** Counts that can be put right. */
const REPAIRABLE = ['threads.counts', 'unread.written', 'unread.read']

describeOnEachDatabase('fsck', (openUrl, dialect) => {
  let service: TestService

  beforeEach(async () => {
    service = await startService(await openUrl(), { config: { session: { max_sessions_per_user: 2 } } })
    const { ada, grace, eve, conversation_id, root } = await startThread(service)
    const reply = (parent_id: string, content: string) =>
      ada.replyToMessage({ params: { parent_id }, body: { content } })
    const { message_id } = await reply(root.message_id, 'second')
    const third = await reply(message_id, 'third')
    await grace.markThreadRead({ params: { root_id: root.root_id }, body: { message_id } })
    await ada.deleteMessage({ params: { message_id: third.message_id } })
    const { token } = await ada.createInvite({ params: { conversation_id }, body: {} })
    await eve.acceptInvite({ body: { token } })
    const ask = { content: 'Are you there?', role: 'assistant' as const }
    await grace.replyToMessage({ params: { parent_id: message_id }, body: ask })
    await service.chat.context.answers.idle()
  })
  afterEach(() => service.close())

  const names = async (options?: { repair: boolean }) =>
    (await service.chat.ops.fsck(options)).findings.map((finding) => finding.name)

  it('finds nothing in a database that is well', async () => {
    const checked: string[] = []
    expect(await service.chat.ops.fsck({ onProgress: (name) => checked.push(name) })).toEqual({
      checked: checked.length,
      findings: [],
    })
  })

  it('has a break for each invariant', () => {
    const all = invariants({ dialect, now: 0, max_sessions_per_user: 2 }).map(({ name }) => name)
    expect([...Object.keys(BREAKS), ...CONSTRAINED].sort()).toEqual(all.sort())
  })

  it.each(Object.entries(BREAKS))('finds a break of %s', async (name, statement) => {
    await service.chat.context.db.write((tx) => tx.run(statement))
    const { findings } = await service.chat.ops.fsck()
    expect(findings.map((finding) => finding.name)).toContain(name)
    for (const { count, examples } of findings) expect(examples).toHaveLength(Math.min(10, count))

    const repaired = await service.chat.ops.fsck({ repair: true })
    expect(repaired.findings.find((finding) => finding.name === name)?.repaired ?? false).toBe(
      REPAIRABLE.includes(name),
    )
    if (REPAIRABLE.includes(name)) expect(await names()).toEqual([])
  })

  it('is content once old events are deleted', async () => {
    await service.chat.context.db.write((tx) =>
      tx.run("DELETE FROM events WHERE seq <= (SELECT max(seq) - 2 FROM events WHERE type = 'message.new')"),
    )
    expect(await names()).toEqual([])
  })
})
