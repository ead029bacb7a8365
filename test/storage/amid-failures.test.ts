import { expect, it } from 'vitest'
import { OPERATOR } from '../../lib/core/actor.ts'
import { takeShared } from '../../lib/limits/store-buckets.ts'
import { sql, statement } from '../../lib/storage/sql.ts'
import { describeOnEachEmptyDatabase } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, patiently, startService, startThread, times } from '../support/service.ts'

/** The number of concurrent writers of each kind, which share commits. */
const EACH = 40
const MAX_USES = 5
const SESSIONS = 3
const BURST = 10
const ANSWERS = 8

const count = (outcomes: string[], outcome: string) => outcomes.filter((each) => each === outcome).length

/** The result of a call: `done`, or its error code. */
const outcomeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    (error: { code?: string }) => error.code ?? String(error),
  )

describeOnEachEmptyDatabase('writers next to writers that fail after a change', (openUrl) => {
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: { limits: { max_depth: 1 }, session: { max_sessions_per_user: SESSIONS } },
    }),
  )

  it('are executed exactly once, and the failed ones leave nothing', { timeout: 120_000 }, async () => {
    const { ada, grace, conversation_id, root } = await startThread(service)
    const context = innerState(service)
    const { messages, invites, auth, users } = service.chat
    const { db } = context
    const actor = await users.actor(ada.id)
    const post = (content: string, more: object = {}) =>
      messages.postRoot(actor, conversation_id, { content, role: 'user', ...more })
    const reply = (parent: string, content: string) => messages.reply(actor, parent, { content, role: 'user' })
    const { message_id: gone } = await post('gone')
    await messages.remove(actor, gone, {})
    const shallow = (await reply(root.message_id, 'as deep as it gets')).message_id
    const edited = await Promise.all(times(EACH, (index) => post(`to be edited ${index}`)))
    const { token = '' } = await invites.create(actor, conversation_id, { max_uses: MAX_USES })
    const guests = await Promise.all(
      times(EACH, (index) =>
        users.create(OPERATOR, { username: `guest${index}`, email: `guest${index}@example.org`, roles: ['member'] }),
      ),
    )
    const total = async (sql: string, ...params: string[]) =>
      Number((await db.get<{ total: number }>(statement(`SELECT count(*) AS total FROM ${sql}`, params)))!.total)
    const before = { messages: await total('messages'), revisions: await total('message_revisions') }
    const now = context.now()

    /** Makes every kind of change of a transaction, and fails. */
    const abort = (index: number) =>
      context.write(async (tx) => {
        await tx.run(sql`INSERT INTO meta (name, value) VALUES (${`aborted ${index}`}, ${''})`)
        tx.emit(conversation_id, { type: 'conversation.updated' })
        tx.audit({ act: 'doctor.probed', subject_id: 'aborted' })
        throw new Error('aborted')
      })
    const make = {
      posts: (index: number) => post(`posted ${index}`),
      // Each twice.
      keyed: (index: number) => post(`keyed ${index >> 1}`, { idempotency_key: `key-${index >> 1}` }),
      asked: (index: number) =>
        index < ANSWERS
          ? messages.postRoot(actor, conversation_id, { content: `asked ${index}`, role: 'assistant' })
          : Promise.resolve(),
      lateReplies: () => reply(gone, 'late'),
      deepReplies: () => reply(shallow, 'deep'),
      edits: (index: number) => messages.edit(actor, edited[index]!.message_id, { content: `edited ${index}` }),
      joined: async (index: number) => invites.accept(await users.actor(guests[index]!.user.id), {}, { token }),
      signUps: (index: number) =>
        invites.accept(undefined, {}, { token, username: `new${index}`, email: ada.email, password: PASSWORD }),
      signIns: () => auth.login({}, { email: grace.email, password: PASSWORD }),
      aborted: abort,
      limited: async () => {
        const { allowed } = await takeShared(db, 'amid', now, { requests_per_second: 0.001, burst: BURST })
        if (!allowed) throw Object.assign(new Error(), { code: 'over' })
      },
      removals: () => service.chat.participants.remove(actor, conversation_id, ada.id),
    }
    const kinds = Object.keys(make) as (keyof typeof make)[]
    // One of each kind after the other, so that every batch has failing ones.
    const calls = times(EACH, (index) => kinds.map((kind) => outcomeOf(patiently(async () => make[kind](index)))))
    const rounds = await Promise.all(calls.map((round) => Promise.all(round)))
    const outcomes = Object.fromEntries(
      kinds.map((kind, place) => [kind, rounds.map((round) => round[place]!)]),
    ) as Record<keyof typeof make, string[]>

    for (const kind of ['posts', 'keyed', 'asked', 'edits', 'signIns'] as const)
      expect([kind, count(outcomes[kind], 'done')]).toEqual([kind, EACH])
    expect(count(outcomes.lateReplies, 'message_deleted')).toBe(EACH)
    expect(count(outcomes.deepReplies, 'thread_too_deep')).toBe(EACH)
    expect([count(outcomes.joined, 'done'), count(outcomes.joined, 'invite_used')]).toEqual([MAX_USES, EACH - MAX_USES])
    expect(count(outcomes.signUps, 'done')).toBe(0)
    expect([count(outcomes.limited, 'done'), count(outcomes.limited, 'over')]).toEqual([BURST, EACH - BURST])
    expect(count(outcomes.removals, 'last_owner')).toBe(EACH)
    expect(count(outcomes.aborted, 'Error: aborted')).toBe(EACH)

    await expect.poll(() => total('answers_under_way'), { timeout: 30_000 }).toBe(0)
    expect((await total('messages')) - before.messages).toBe(EACH + EACH / 2 + ANSWERS)
    expect((await total('message_revisions')) - before.revisions).toBe(EACH)
    expect(await total("events WHERE type = 'message.edited'")).toBe(EACH)
    expect(await total("events WHERE type = 'conversation.updated'")).toBe(0)
    expect(await total("audit_log WHERE subject_id = 'aborted'")).toBe(0)
    expect(await total("meta WHERE name LIKE 'aborted%'")).toBe(0)
    expect(await total('idempotency_keys')).toBe(EACH / 2)
    expect(await total('sessions WHERE user_id = ?', grace.id)).toBe(SESSIONS)
    expect(await total('participants WHERE conversation_id = ?', conversation_id)).toBe(2 + MAX_USES)
    expect(await total("users WHERE username LIKE 'new%'")).toBe(0)
    expect((await db.get<{ uses: number }>(sql`SELECT uses FROM invites`))!.uses).toBe(MAX_USES)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    expect(await codeOf(reply(gone, 'later'))).toBe('message_deleted')
    expect((await reply(root.message_id, 'after all')).message.content).toBe('after all')
  })
})
