import { afterAll, beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, PASSWORD, startService, type TestService } from '../../support/service.ts'

describeOnEachDatabase('the invites of newcomers of an administrator', (openUrl) => {
  let service: TestService
  beforeAll(async () => {
    // Every mail waits.
    const mail = () => Promise.reject(new Error('busy'))
    service = await startService(await openUrl(), { ports: { mail } })
    await service.signIn('founder')
  })
  afterAll(() => service.close())

  const open = async () => (await service.chat.newcomers.list(OPERATOR)).invites.map(({ email }) => email)
  const waiting = async () => (await service.chat.mails.list(OPERATOR)).mails
  /** An administrator with an invite that was handed over, and one that waits to be mailed. */
  const inviting = async (username: string) => {
    const { id } = await service.signIn(username, ['admin'])
    const maker = await service.chat.users.actor(id)
    const email = `of-${username}@example.org`
    const { token } = await service.chat.newcomers.invite(maker, { email, roles: ['admin'], mail: false })
    await service.chat.newcomers.invite(maker, { email: `mailed-${email}` })
    const signUp = () => service.client().newcomers.signUp({ token: token!, username: email, password: PASSWORD })
    return { id, signUp }
  }

  it.each(['a lockdown', 'disabling', 'a demotion to member', 'a demotion to read_only', 'an erasure'])(
    'end with %s, with their mails',
    async (what) => {
      const { users } = service.chat
      const { id, signUp } = await inviting(what.replaceAll(' ', '-'))
      await service.chat.newcomers.invite(OPERATOR, { email: 'kept@example.org', mail: false })
      expect(await open()).toHaveLength(3)
      expect(await waiting()).toHaveLength(1)
      if (what === 'a lockdown') expect(await users.lockDown(OPERATOR, id)).toMatchObject({ invites: 2 })
      if (what === 'disabling') await users.change(OPERATOR, id, { disabled: true })
      if (what.endsWith('member')) await users.change(OPERATOR, id, { roles: ['member'] })
      if (what.endsWith('read_only')) await users.change(OPERATOR, id, { roles: ['read_only'] })
      if (what === 'an erasure') await users.erase(OPERATOR, id, {})
      expect(await open()).toEqual(['kept@example.org'])
      expect(await waiting()).toEqual([])
      expect(await codeOf(signUp())).toBe('not_found')
      const { entries } = await service.chat.audit.list(OPERATOR, { act: 'newcomer.revoked' })
      expect(entries[0]).toMatchObject({ subject_id: id, detail: { count: 2 } })
      // With its rights back, the account has none of them back.
      if (what !== 'an erasure') await users.change(OPERATOR, id, { disabled: false, roles: ['admin'] })
      expect(await codeOf(signUp())).toBe('not_found')
    },
  )

  it('stay while the account keeps its rights', async () => {
    const { id, signUp } = await inviting('kept')
    await service.chat.users.change(OPERATOR, id, { display_name: 'Kept', roles: ['admin', 'member'] })
    await signUp()
  })
})
