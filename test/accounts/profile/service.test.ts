import { beforeAll, describe, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, startService, times } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

const NEW_PASSWORD = 'incorrect pony'

describeOnEachDatabase('an account', (openUrl) => {
  const service = setUpService(async () => {
    url = await openUrl()
    return startService(url, { config: { session: { max_sessions_per_user: 100 } } })
  })
  let url: string
  beforeAll(async () => {
    await service.signIn('founder')
  })

  const acts = async (act: string) =>
    innerState(service).db.all<{ actor_id: string; subject_id: string; ip: string; detail: string }>(
      sql`SELECT actor_id, subject_id, ip, detail FROM audit_log WHERE act = ${act} ORDER BY id`,
    )

  describe('its password', () => {
    it('is changed by a user who knows it; all other sessions end with their streams, this one stays', async () => {
      const ada = await service.signIn('ada')
      const { conversation_id } = await ada.conversations.create()
      const here = await signInByHand(service.base_url, ada.email, PASSWORD)
      const [own, other] = await Promise.all([
        openStream(service.base_url, conversation_id, here),
        openStream(service.base_url, conversation_id, await signInByHand(service.base_url, ada.email, PASSWORD)),
      ])
      await Promise.all([own.until('stream.ready'), other.until('stream.ready')])

      const response = await checkedFetch(`${service.base_url}/api/auth/password`, {
        method: 'POST',
        headers: { ...here, 'content-type': 'application/json' },
        body: JSON.stringify({ current_password: PASSWORD, new_password: NEW_PASSWORD }),
      })
      // The cookie of a known browser, and none of a session.
      const cookies = response.headers.getSetCookie().map((line) => line.split('=')[0])
      expect([response.status, cookies]).toEqual([204, ['SESSION_ID-DEVICE']])
      expect((await other.until('stream.closed')).at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
      expect(await codeOf(ada.auth.me())).toBe('unauthenticated')
      await service.chat.messages.postRoot(await service.chat.users.actor(ada.id), conversation_id, { content: 'on' })
      await own.until('message.new')
      await own.close()

      const client = service.client()
      expect(await codeOf(client.auth.login({ email: ada.email, password: PASSWORD }))).toBe('invalid_credentials')
      await client.auth.login({ email: ada.email, password: NEW_PASSWORD })
      expect(await acts('password.changed')).toEqual([
        { actor_id: ada.id, subject_id: ada.id, ip: '127.0.0.1', detail: null },
      ])
    })

    it('is not changed by a user who does not know it or has none; both take the same work', async () => {
      const grace = await service.signIn('grace')
      const { passwords } = innerState(service).accounts
      const { verify } = passwords
      const compared: unknown[] = []
      passwords.verify = (password, hash, caller) => {
        compared.push(hash)
        return verify(password, hash, caller)
      }
      const wrong = { current_password: 'wrong password', new_password: NEW_PASSWORD }
      expect(await codeOf(grace.auth.changePassword(wrong))).toBe('invalid_credentials')
      const { user } = await service.chat.users.create(OPERATOR, { username: 'bob', email: 'bob@example.org' })
      const bob = await service.chat.users.actor(user.id)
      expect(await codeOf(service.chat.auth.changePassword(bob, wrong))).toBe('invalid_credentials')
      // No account has this address, and a hash is compared nevertheless.
      const nobody = { email: 'nobody@example.org', password: PASSWORD }
      expect(await codeOf(service.client().auth.login(nobody))).toBe('invalid_credentials')
      passwords.verify = verify
      expect(compared).toEqual([expect.stringMatching(/^\$2/), null, undefined])
      expect((await grace.auth.me()).user.id).toBe(grace.id)
    })

    it('can be guessed with a session no more often than without one, and is counted separately', async () => {
      const thief = await service.signIn('guessed')
      const guess = (current_password: string) =>
        codeOf(thief.auth.changePassword({ current_password, new_password: NEW_PASSWORD }))
      for (let i = 0; i < 5; i++) expect(await guess('wrong password')).toBe('invalid_credentials')
      expect(await guess(PASSWORD)).toBe('rate_limited')
      const failures = (await acts('login.failed')).filter(({ subject_id }) => subject_id === thief.id)
      expect(failures).toHaveLength(5)
      // Sign-ins are counted separately: the thief locks no user out.
      await service.client().auth.login({ email: thief.email, password: PASSWORD })
    })

    it('must be valid', async () => {
      const grace = await service.signIn('grace')
      for (const new_password of ['short', 'é'.repeat(37), 'with\0nul and more', '\uD800lone surrogate'])
        expect(await codeOf(grace.auth.changePassword({ current_password: PASSWORD, new_password }))).toBe(
          'validation_failed',
        )
    })

    it('is changed once by several calls at the same time, on two nodes', async () => {
      const dora = await service.signIn('dora')
      const node = await startService(url)
      const actor = await service.chat.users.actor(dora.id)
      const results = await Promise.allSettled(
        times(6, (index) =>
          [service, node][index % 2]!.chat.auth.changePassword(actor, {
            current_password: PASSWORD,
            new_password: `${NEW_PASSWORD} ${index}`,
          }),
        ),
      )
      expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
      await node.close()
    })

    it('leaves no session that was being created with the old one', async () => {
      const erin = await service.signIn('erin')
      const actor = await service.chat.users.actor(erin.id)
      const change = { current_password: PASSWORD, new_password: NEW_PASSWORD }
      const [, ...logins] = await Promise.allSettled([
        service.chat.auth.changePassword(actor, change),
        ...times(8, () => service.chat.auth.login({}, { email: erin.email, password: PASSWORD })),
      ])
      const { sessions } = await service.chat.auth.listSessions(actor)
      expect(sessions).toEqual([])
      expect(logins.length).toBe(8)
    })
  })

  describe('its profile', () => {
    it("is changed by its user, and visible at once in the user's conversations", async () => {
      const [ada, grace] = [await service.signIn('ivy'), await service.signIn('jane')]
      const { conversation_id } = await ada.conversations.create()
      await ada.participants.add(conversation_id, { user_id: grace.id })
      const { user, session } = await grace.auth.changeProfile({ username: 'Janet', display_name: 'Janet J.' })
      expect([user, session?.id]).toEqual([
        {
          id: grace.id,
          email: grace.email,
          email_verified: true,
          username: 'Janet',
          display_name: 'Janet J.',
          roles: ['member'],
        },
        (await grace.auth.me()).session!.id,
      ])
      const { participants } = await ada.conversations.get(conversation_id)
      expect(participants.find((each) => each.user_id === grace.id)).toMatchObject({
        username: 'Janet',
        display_name: 'Janet J.',
      })
      expect((await grace.auth.changeProfile({ display_name: '' })).user).not.toHaveProperty('display_name')
      expect((await grace.auth.changeProfile({})).user.username).toBe('Janet')
      expect((await acts('profile.changed')).map((each) => JSON.parse(each.detail).changed)).toEqual([
        ['display_name', 'username'],
        ['display_name'],
        [],
      ])
    })

    it('has a username that no other user has, in any spelling', async () => {
      const kim = await service.signIn('kim')
      for (const username of ['FOUNDER', 'ｆounder'])
        expect(await codeOf(kim.auth.changeProfile({ username }))).toBe('username_taken')
      expect((await kim.auth.changeProfile({ username: 'KIM' })).user.username).toBe('KIM')
      for (const username of ['', ' kim', 'a\u0000b', 'x'.repeat(65), '\u200b'])
        expect(await codeOf(kim.auth.changeProfile({ username }))).toBe('validation_failed')
    })

    it('gives a name to one of several users who want it at once', async () => {
      const people = []
      for (const name of ['una', 'uma', 'ute', 'ula']) people.push(await service.signIn(name))
      const results = await Promise.allSettled(people.map((each) => each.auth.changeProfile({ username: 'wanted' })))
      expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
      const codes = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
      expect(codes).toEqual(Array(3).fill('username_taken'))
    })
  })
})
