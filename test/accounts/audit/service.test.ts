import { beforeAll, expect, it } from 'vitest'
import { toInstant } from '../../../lib/core/time.ts'
import { DAY, SECOND } from '../../../lib/core/units.ts'
import { type Log, OPERATOR } from '../../../lib/index.ts'
import { statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, startService } from '../../support/service.ts'
import { signInByHand } from '../../support/stream.ts'

describeOnEachDatabase('an incident read afterwards', (openUrl) => {
  const service = setUpService(async () => {
    const session = { idle_seconds: 600, absolute_seconds: 3600, max_sessions_per_user: 2 }
    return startService(await openUrl(), { ports: { now: () => now, log }, config: { session } })
  })
  let ada: Person
  let now = Date.UTC(2026, 0, 1) * 1000
  const lines: object[] = []
  const info = (message: string, fields?: object) => void lines.push({ message, ...fields })
  const log: Log = { debug() {}, info, warn() {}, error() {} }
  beforeAll(async () => {
    ada = await service.signIn('ada')
  })

  /** What an administrator reads over HTTP, oldest first. */
  async function read(query: Parameters<Person['audit']['list']>[0]) {
    const { entries } = await (await service.signIn('ada')).audit.list({ limit: 200, ...query })
    return entries.map(({ id: _, at: __, ip: ___, ...entry }) => entry).reverse()
  }
  const by = (person: Person) => ({ actor_id: person.id })

  it('has what was done to a conversation, its participants and their messages', async () => {
    const grace = await service.signIn('grace')
    const eve = await service.signIn('eve')
    const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    await ada.participants.changeRole(conversation_id, grace.id, { role: 'admin' })
    await ada.participants.changeRole(conversation_id, grace.id, { role: 'admin' })
    const { token } = await grace.invites.create(conversation_id, {})
    await eve.invites.accept({ token: token! })
    await ada.conversations.rename(conversation_id, { title: 'Secret engines' })
    await ada.conversations.rename(conversation_id, { title: 'Secret engines' })
    const { message_id } = await eve.messages.postRoot(conversation_id, { content: 'mine' })
    const own = await eve.messages.postRoot(conversation_id, { content: 'and mine' })
    await eve.messages.remove(own.message_id)
    await grace.messages.remove(message_id, { reason: 'a private reason' })
    await ada.participants.remove(conversation_id, eve.id)
    await grace.participants.remove(conversation_id, grace.id)
    await ada.conversations.remove(conversation_id)

    const entries = await read({ conversation_id })
    expect(entries.filter(({ act }) => !act.startsWith('invite.'))).toEqual([
      { act: 'participant.added', ...by(ada), subject_id: grace.id, conversation_id, detail: { role: 'member' } },
      {
        act: 'participant.role_changed',
        ...by(ada),
        subject_id: grace.id,
        conversation_id,
        detail: { old_role: 'member', role: 'admin' },
      },
      { act: 'participant.added', ...by(eve), subject_id: eve.id, conversation_id, detail: { role: 'member' } },
      { act: 'conversation.renamed', ...by(ada), subject_id: conversation_id, conversation_id },
      {
        act: 'message.deleted',
        ...by(grace),
        subject_id: message_id,
        conversation_id,
        detail: { author_id: eve.id },
      },
      { act: 'participant.removed', ...by(ada), subject_id: eve.id, conversation_id },
      { act: 'participant.removed', ...by(grace), subject_id: grace.id, conversation_id },
      { act: 'conversation.deleted', ...by(ada), subject_id: conversation_id, conversation_id },
    ])
    // It also concerned the author, though the subject is the message.
    for (const filter of [{ subject_id: eve.id }, { user_id: eve.id }, { subject_id: eve.id, conversation_id }])
      expect((await read({ ...filter, act: 'message.deleted' })).map(({ subject_id }) => subject_id)).toEqual([
        message_id,
      ])
    // The operator reads the titles; neither HTTP nor the log has them.
    const named = (await service.chat.audit.listNamed(OPERATOR, { conversation_id, limit: 200 })).entries
    expect(named.flatMap(({ act, names }) => (names ? [{ act, names }] : [])).reverse()).toEqual([
      { act: 'conversation.renamed', names: { old_title: 'Engines', title: 'Secret engines' } },
      { act: 'conversation.deleted', names: { title: 'Secret engines' } },
    ])
    expect(JSON.stringify([entries, lines])).not.toMatch(/engines|private reason/i)
    expect(await codeOf(service.chat.audit.listNamed(await service.chat.users.actor(ada.id), {}))).toBe('forbidden')
  })

  it('has no participants of direct conversations, and what an erasure ends', async () => {
    const [ida, noa] = [await service.signIn('ida'), await service.signIn('noa')]
    const { conversation_id } = await ida.conversations.create({ title: 'Ours' })
    await ida.participants.add(conversation_id, { user_id: noa.id })
    const alone = await ida.conversations.create({ title: 'Mine' })
    const direct = await ida.conversations.direct({ user_id: noa.id })
    await service.chat.users.erase(OPERATOR, ida.id)
    expect(await read({ conversation_id: direct.conversation_id })).toEqual([])
    const detail = { reason: 'erasure' }
    expect((await read({ conversation_id })).slice(1)).toEqual([
      { act: 'participant.role_changed', subject_id: noa.id, conversation_id, detail: { role: 'owner', ...detail } },
      { act: 'participant.removed', subject_id: ida.id, conversation_id, detail },
    ])
    expect(await read({ conversation_id: alone.conversation_id })).toMatchObject([
      { act: 'conversation.deleted', detail },
    ])
    expect(await read({ subject_id: ida.id, act: 'session.ended' })).toMatchObject([
      { detail: { reason: 'erasure', sessions: 1 } },
    ])
  })

  it('has the keys by name, with the reason if another act revoked them', async () => {
    const kay = await service.signIn('kay')
    const one = await kay.keys.create({ name: 'Nightly report' })
    const two = await kay.keys.create({ name: 'Laptop' })
    await kay.keys.revoke(one.id)
    await service.chat.users.lockDown(OPERATOR, kay.id)
    expect(await read({ subject_id: one.id })).toEqual([
      { act: 'key.created', ...by(kay), subject_id: one.id },
      { act: 'key.revoked', ...by(kay), subject_id: one.id },
    ])
    expect((await read({ subject_id: two.id })).slice(1)).toEqual([
      { act: 'key.revoked', subject_id: two.id, detail: { reason: 'lockdown', user_id: kay.id } },
    ])
    // It also concerned the owner, though the subject is the key.
    const revoked = async (filter: object) =>
      (await read({ ...filter, act: 'key.revoked' })).map(({ subject_id }) => subject_id)
    expect(await revoked({ subject_id: kay.id })).toEqual([two.id])
    expect(await revoked({ user_id: kay.id })).toEqual([one.id, two.id])
    const about = (await service.chat.audit.list(OPERATOR, { subject_id: kay.id, limit: 200 })).entries
    expect(about.map(({ id }) => id)).toEqual(
      about
        .map(({ id }) => id)
        .sort()
        .reverse(),
    )
    const { entries } = await service.chat.audit.listNamed(OPERATOR, { subject_id: two.id })
    expect(entries.map(({ names }) => names)).toEqual([{ key: 'Laptop' }, { key: 'Laptop' }])
    expect(JSON.stringify(lines)).not.toMatch(/Nightly|Laptop/)
  })

  it('has why sessions ended', async () => {
    const max = await service.signIn('max')
    const params = [service.base_url, max.email, PASSWORD] as const
    const reasons = async () =>
      (await read({ subject_id: max.id, act: 'session.ended' })).map(({ actor_id, detail }) => ({
        actor_id,
        ...detail,
      }))
    await signInByHand(...params)
    await signInByHand(...params)
    expect(await reasons()).toEqual([{ ...by(max), reason: 'limit', sessions: 1 }])
    const mine = service.client()
    await mine.auth.login({ email: max.email, password: PASSWORD })
    await mine.auth.changePassword({ current_password: PASSWORD, new_password: 'a new password' })
    await mine.auth.changePassword({ current_password: 'a new password', new_password: PASSWORD })
    expect((await reasons()).slice(2)).toEqual([{ ...by(max), reason: 'password', sessions: 1 }])
    await service.chat.users.endSession(OPERATOR, max.id, (await mine.auth.listSessions()).sessions[0]!.id)
    await signInByHand(...params)
    await service.chat.users.endSessions(OPERATOR, max.id)
    await signInByHand(...params)
    await service.chat.users.change(OPERATOR, max.id, { disabled: true })
    await service.chat.users.change(OPERATOR, max.id, { disabled: false })
    await signInByHand(...params)
    await service.chat.users.lockDown(OPERATOR, max.id)
    await service.chat.users.lockDown(OPERATOR, max.id)
    expect((await reasons()).slice(3)).toMatchObject(
      ['admin', 'admin', 'disabled', 'lockdown'].map((reason) => ({ reason, sessions: 1 })),
    )
    // In the browser of another user, who has not signed out.
    await mine.auth.login({ email: max.email, password: PASSWORD })
    const ann = await service.signIn('ann')
    await mine.auth.login({ email: ann.email, password: PASSWORD })
    expect((await reasons()).at(-1)).toMatchObject({ actor_id: ann.id, reason: 'signed_in' })
  })

  it('has one entry a day of sessions that were not used, and of those that are too old', async () => {
    const lea = await service.signIn('lea')
    const isOver = async (cookie: string) =>
      (await (await fetch(`${service.base_url}/api/auth/me`, { headers: { cookie } })).json()).code
    const [one, two] = [
      await signInByHand(service.base_url, lea.email, PASSWORD),
      await signInByHand(service.base_url, lea.email, PASSWORD),
    ]
    now += 601 * SECOND
    const asked = [one, two, one].map(({ cookie }) => isOver(cookie))
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['session_expired']))
    const three = await signInByHand(service.base_url, lea.email, PASSWORD)
    for (let used = 0; used < 7; used++) {
      now += 590 * SECOND
      await isOver(three.cookie)
    }
    const four = await signInByHand(service.base_url, lea.email, PASSWORD)
    now += DAY
    await isOver(four.cookie)
    const ended = await read({ subject_id: lea.id, act: 'session.ended' })
    expect(ended.map(({ detail }) => detail!.reason).filter((reason) => reason !== 'limit')).toEqual([
      'idle',
      'absolute',
      'absolute',
    ])
  })

  it('is read by time, without the end, and by subject or conversation from indexes', async () => {
    const start = now
    const { user } = await (await service.signIn('ada')).users.create({ username: 'eva', email: 'eva@example.org' })
    now += SECOND
    await service.chat.users.unlock(OPERATOR, user.id)
    now += SECOND
    await service.chat.users.lockDown(OPERATOR, user.id)
    const acts = async (query: object) => (await read({ subject_id: user.id, ...query })).map(({ act }) => act)
    const at = (seconds: number) => toInstant(start + seconds * SECOND)
    expect(await acts({ since: at(1) })).toEqual(['user.unlocked', 'user.locked_down'])
    expect(await acts({ until: at(1) })).toEqual(['user.created'])
    expect(await acts({ since: at(1), until: at(2) })).toEqual(['user.unlocked'])
    expect(await acts({ since: at(2), until: at(2) })).toEqual([])
    expect((await read({ since: at(2) })).map(({ act }) => act)).toContain('user.locked_down')
    expect(await codeOf(read({ since: 'yesterday' }))).toBe('validation_failed')

    const { db } = innerState(service)
    if (db.dialect !== 'sqlite') return
    for (const [where, index] of [
      ['at < 5 AND at >= 1', 'audit_log_by_time'],
      ["subject_id = 'x'", 'audit_log_of_subject'],
      ["about_id = 'x'", 'audit_log_about'],
      ["conversation_id = 'x'", 'audit_log_of_conversation'],
    ]) {
      const plan = await db.all<{ detail: string }>(
        statement(
          `EXPLAIN QUERY PLAN SELECT id FROM audit_log WHERE (at, id) < (9, 'g') AND ${where} ORDER BY at DESC, id DESC LIMIT 9`,
        ),
      )
      expect(plan.map(({ detail }) => detail).join()).toContain(index)
      expect(plan).toHaveLength(1)
    }
  })
})
