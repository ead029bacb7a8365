import { beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, times } from '../../support/service.ts'

describeOnEachDatabase('an invite and the rights of its creator', (openUrl) => {
  const [service, node] = setUpNodes(async () => startNodes(await openUrl()))
  let founder: Person
  beforeAll(async () => {
    founder = await service.signIn('founder')
  })

  let made = 0
  /** A conversation of the founder with one more participant, and an invite that this participant created. */
  async function startInvite({ role = 'owner', gives = 'owner' }: { role?: Role; gives?: Role } = {}) {
    const maker = await service.signIn(`maker${made++}`)
    const { conversation_id } = await founder.conversations.create({})
    const params = { conversation_id }
    await founder.participants.add(conversation_id, { user_id: maker.id, role })
    const { token = '', invite_id } = await maker.invites.create(conversation_id, { role: gives, max_uses: 50 })
    const member = { conversation_id, user_id: maker.id }
    return { maker, conversation_id, params, member, token, invite_id }
  }
  type Role = 'owner' | 'admin' | 'member' | 'viewer'

  const newcomer = (name: string) => ({ username: name, email: `${name}@example.org`, password: PASSWORD })
  const open = async (conversation_id: string) =>
    (await founder.invites.list(conversation_id)).invites.map(({ id }) => id)
  const changeRoles = (id: string, roles: ('member' | 'read_only')[]) =>
    service.chat.users.change(OPERATOR, id, { roles })

  const losses: [string, (it: Awaited<ReturnType<typeof startInvite>>) => Promise<unknown>][] = [
    [
      'was demoted',
      ({ member }) => founder.participants.changeRole(member.conversation_id, member.user_id, { role: 'admin' }),
    ],
    ['was removed', ({ member }) => founder.participants.remove(member.conversation_id, member.user_id)],
    ['has left', ({ maker, member }) => maker.participants.remove(member.conversation_id, member.user_id)],
    ['was disabled', ({ maker }) => service.chat.users.change(OPERATOR, maker.id, { disabled: true })],
    ['was erased', ({ maker }) => service.chat.users.erase(OPERATOR, maker.id)],
    ['may only read in the service', ({ maker }) => changeRoles(maker.id, ['read_only'])],
  ]
  it.each(losses)('ends when its creator %s, and for good', async (_, lose) => {
    const started = await startInvite()
    await lose(started)
    expect(await open(started.conversation_id)).toEqual([])
    const joiner = await service.signIn('joiner')
    expect(await codeOf(joiner.invites.accept({ token: started.token }))).toBe('invite_revoked')
    const body = { token: started.token, ...newcomer('sneaky') }
    expect(await codeOf(service.client().invites.accept(body))).toBe('invite_revoked')
    const { entries } = await founder.audit.list({ act: 'invite.revoked' })
    const { conversation_id } = started
    const by = expect.objectContaining({ detail: { conversation_id, role: 'owner', count: 1 } })
    expect(entries).toContainEqual(by)
  })

  it("cannot be accepted if the creator's account was changed only in the database", async () => {
    const { maker, token, conversation_id } = await startInvite()
    const { db } = innerState(service)
    const joiner = await service.signIn('joiner')
    for (const change of ["roles = 'read_only'", 'disabled_at = 1', "roles = 'member'"]) {
      await db.write((tx) => tx.run(statement(`UPDATE users SET ${change} WHERE id = ?`, [maker.id])))
      expect(await codeOf(joiner.invites.accept({ token }))).toBe('invite_revoked')
    }
    await db.write((tx) => tx.run(sql`UPDATE users SET disabled_at = NULL WHERE id = ${maker.id}`))
    expect(await joiner.invites.accept({ token })).toEqual({ conversation_id })
  })

  it('stays valid while its creator could still create it', async () => {
    const { maker, member, token, invite_id, conversation_id } = await startInvite({ gives: 'member' })
    await founder.participants.changeRole(member.conversation_id, member.user_id, { role: 'admin' })
    await service.chat.users.change(OPERATOR, maker.id, { display_name: 'M', password: 'another horse' })
    expect(await open(conversation_id)).toEqual([invite_id])
    expect(await (await service.signIn('joiner')).invites.accept({ token })).toEqual({ conversation_id })
  })

  it('does not become valid again when its creator gets the role back', async () => {
    const { member, token } = await startInvite()
    await founder.participants.changeRole(member.conversation_id, member.user_id, { role: 'admin' })
    await founder.participants.changeRole(member.conversation_id, member.user_id, { role: 'owner' })
    const joiner = await service.signIn('joiner')
    expect(await codeOf(joiner.invites.accept({ token }))).toBe('invite_revoked')
  })

  it('of the operator has no creator and stays valid, whatever happens to the participants', async () => {
    const { maker, conversation_id } = await startInvite()
    const { token = '', invite_id } = await service.chat.invites.create(OPERATOR, conversation_id, { role: 'owner' })
    await service.chat.users.erase(OPERATOR, maker.id)
    expect(await open(conversation_id)).toEqual([invite_id])
    expect(await (await service.signIn('joiner')).invites.accept({ token })).toEqual({ conversation_id })
  })

  it.each(losses)('gives no role beyond those of a creator who at the same time %s, on two nodes', async (_, lose) => {
    const started = await startInvite()
    const { conversation_id, token } = started
    const joiners = await Promise.all(times(4, (i) => service.signIn(`racer${i}`)))
    const actors = await Promise.all(joiners.map(({ id }) => service.chat.users.actor(id)))
    const order: string[] = []
    const note = (what: string) => () => void order.push(what)
    const calls = actors.map((actor, i) =>
      [service, node][i % 2]!.chat.invites.accept(actor, {}, { token }).then(note('in'), (error) => {
        order.push(error.code)
      }),
    )
    await Promise.all([...calls.slice(0, 2), lose(started).then(note('lost')), ...calls.slice(2)])
    const codes = order.filter((each) => each !== 'in' && each !== 'lost')
    expect(new Set([...codes, 'invite_revoked'])).toEqual(new Set(['invite_revoked']))
    expect(await codeOf((await service.signIn('late')).invites.accept({ token }))).toBe('invite_revoked')
    expect(await open(conversation_id)).toEqual([])
    // Entries are written under the locks, so their order is that of the commits.
    const acceptedAfterwards = await innerState(service).db.all(
      sql`SELECT id FROM audit_log WHERE act = 'invite.accepted' AND subject_id = ${started.invite_id} AND id >
         (SELECT max(id) FROM audit_log WHERE act = 'invite.revoked' AND detail LIKE ${`%${conversation_id}%`})`,
    )
    expect(acceptedAfterwards).toEqual([])
  })

  it('is audited when it is created, accepted and revoked, also by the operator', async () => {
    const { conversation_id } = await founder.conversations.create({})
    const _params = { conversation_id }
    const joiner = await service.signIn('joiner')
    const own = await founder.invites.create(conversation_id, { role: 'viewer', email: 'joiner@example.org' })
    const operators = await service.chat.invites.create(OPERATOR, conversation_id, { role: 'owner' })
    await joiner.invites.accept({ token: own.token! })
    await service.chat.invites.revokeById(OPERATOR, operators.invite_id)
    await service.chat.invites.revokeById(OPERATOR, operators.invite_id)
    const all = (await founder.audit.list({ conversation_id })).entries
    const entries = all.filter(({ act }) => act.startsWith('invite.'))
    expect(entries.map(({ id: _, at: __, ip: ___, conversation_id: ____, ...entry }) => entry)).toEqual([
      { act: 'invite.revoked', subject_id: operators.invite_id, detail: { conversation_id, role: 'owner' } },
      {
        act: 'invite.accepted',
        actor_id: joiner.id,
        subject_id: own.invite_id,
        detail: { conversation_id, role: 'viewer' },
      },
      {
        act: 'invite.created',
        subject_id: operators.invite_id,
        detail: { conversation_id, role: 'owner', max_uses: 1, for_address: false },
      },
      {
        act: 'invite.created',
        actor_id: founder.id,
        subject_id: own.invite_id,
        detail: { conversation_id, role: 'viewer', max_uses: 1, for_address: true },
      },
    ])
    expect(JSON.stringify(entries)).not.toContain('joiner@')
  })
})
