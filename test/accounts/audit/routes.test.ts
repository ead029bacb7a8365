import { beforeAll, expect, it } from 'vitest'
import { type Log, OPERATOR } from '../../../lib/index.ts'
import { statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, startService, times } from '../../support/service.ts'

describeOnEachDatabase('the audit log', (openUrl) => {
  const service = setUpService(async () => startService(await openUrl(), { ports: { log } }))
  let ada: Person
  const lines: { message: string; act?: string }[] = []
  const info = (message: string, fields?: object) => void lines.push({ message, ...fields })
  const log: Log = { debug() {}, info, warn() {}, error() {} }
  beforeAll(async () => {
    ada = await service.signIn('ada')
  })

  /** The actions of the audit entries about a user, oldest first. */
  const about = async (user_id: string) =>
    (await ada.audit.list({ user_id, limit: 200 })).entries.filter((entry) => entry.subject_id === user_id).reverse()

  it('records actor, action, subject, time and address', async () => {
    const { user } = await ada.users.create({ username: 'grace', email: 'grace@example.org', password: PASSWORD })
    const params = { user_id: user.id }
    await ada.users.change(params.user_id, { roles: ['admin', 'member'], password: 'another horse' })
    await ada.users.change(params.user_id, { disabled: true, display_name: 'G.' })
    await ada.users.change(params.user_id, { disabled: true })
    await service.chat.users.change(OPERATOR, user.id, { disabled: false })
    await ada.users.erase(params.user_id, { messages: 'erase' })

    const entries = await about(user.id)
    const by = { actor_id: ada.id, ip: expect.stringMatching(/127\.0\.0\.1$/) }
    expect(entries.map(({ id, at, subject_id, ...rest }) => rest)).toEqual([
      { act: 'user.created', ...by, detail: { roles: ['member'] } },
      { act: 'user.changed', ...by, detail: { changed: ['roles', 'password'], roles: ['admin', 'member'] } },
      { act: 'user.changed', ...by, detail: { changed: ['display_name'] } },
      { act: 'user.disabled', ...by },
      { act: 'user.enabled' },
      { act: 'user.disabled', ...by },
      { act: 'user.erased', ...by, detail: { messages: 'erase' } },
    ])
    expect(lines.filter((line) => line.message === 'audit').map((line) => line.act)).toEqual(
      expect.arrayContaining(entries.map((entry) => entry.act)),
    )
    expect(JSON.stringify([entries, lines])).not.toMatch(/grace@example|another horse|\$2b\$/)
  })

  it('starts with the set-up, and records a sign-up by invite', async () => {
    const setup = (await ada.audit.list({ act: 'setup.done' })).entries
    expect(setup).toMatchObject([{ act: 'setup.done', actor_id: ada.id }])
    const { conversation_id } = await ada.conversations.create({})
    const { token = '' } = await ada.invites.create(conversation_id, {})
    const noa = service.client()
    await noa.invites.accept({ token, username: 'noa', email: 'noa@example.org', password: PASSWORD })
    const { user } = await noa.auth.me()
    const { entries } = await ada.audit.list({ act: 'invite.signed_up', user_id: user.id })
    expect(entries).toMatchObject([{ actor_id: user.id, subject_id: conversation_id, ip: expect.any(String) }])
    expect(JSON.stringify(entries)).not.toContain(token)
  })

  it('records the client address of the set-up', async () => {
    const fresh = await startService(await openUrl())
    await fresh.client().setup.run({ email: 'ada@example.org', password: PASSWORD })
    const { entries } = await fresh.chat.audit.list(OPERATOR, {})
    expect(entries).toMatchObject([{ act: 'setup.done', ip: expect.stringMatching(/127\.0\.0\.1$/) }])
    await fresh.close()
  })

  it('records nothing for an action that failed', async () => {
    const before = (await ada.audit.list()).entries[0]
    expect(await codeOf(ada.users.create({ username: 'ada', email: 'x@example.org' }))).toBe('username_taken')
    expect(await codeOf(ada.users.change(ada.id, { disabled: true }))).toBe('conflict')
    await ada.users.change(ada.id, { display_name: '' })
    expect((await ada.audit.list()).entries[0]).toEqual(before)
  })

  it('is read in pages, newest first, also while it grows', async () => {
    for (const i of times(7, (i) => i))
      await ada.users.create({ username: `page-${i}`, email: `page-${i}@example.org` })
    const whole = (await ada.audit.list({ limit: 200 })).entries
    expect(whole.map((entry) => entry.id)).toEqual(
      whole
        .map((entry) => entry.id)
        .sort()
        .reverse(),
    )
    const paged: unknown[] = []
    let after: string | undefined
    do {
      const page = await ada.audit.list({ limit: 3, ...(after && { after }) })
      paged.push(...page.entries)
      after = page.next_after
      await ada.users.create({ username: `more-${paged.length}`, email: `more-${paged.length}@example.org` })
    } while (after)
    expect(paged).toEqual(whole)
  })

  it('searches a limited part of itself per page with a filter, and returns where to continue', async () => {
    const { db, id, now } = innerState(service)
    const rare = (await ada.audit.list({ act: 'setup.done' })).entries
    const values = times(2_500, () => '(?, ?, ?)').join(', ')
    for (const _ of times(4, () => 0))
      await db.run(
        statement(
          `INSERT INTO audit_log (id, at, act) VALUES ${values}`,
          times(2_500, () => [id(), now(), 'logout']).flat(),
        ),
      )
    const first = await ada.audit.list({ act: 'setup.done' })
    expect(first).toEqual({ entries: [], next_after: expect.any(String) })
    expect(await ada.audit.list({ act: 'setup.done', after: first.next_after! })).toEqual({ entries: rare })
  })

  it.each([
    ['an act there is not', { act: 'user.cloned' }],
    ['a cursor that is none', { after: 'x' }],
  ])('refuses %s', async (_, query) => {
    expect(await codeOf(ada.audit.list(query as never))).toBe('validation_failed')
  })

  it('is readable by administrators only', async () => {
    expect(await codeOf(service.chat.audit.list({ user_id: ada.id, roles: ['member'] }, {}))).toBe('forbidden')
  })
})
