import { beforeAll, expect, it } from 'vitest'
import { SECOND } from '../../../lib/core/units.ts'
import { type ChatError, OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { codeOf, PASSWORD, type Person, startService, type TestService, times } from '../../support/service.ts'

type Role = 'owner' | 'admin' | 'member'

describeOnEachDatabase('a sign-up by invite', (openUrl) => {
  let url: string
  const [service, node] = setUpNodes(async () => {
    url = await openUrl()
    return [
      await startService(url, { ports: { now: () => now } }),
      await startService(url, { ports: { now: () => now } }),
    ]
  })
  let ada: Person
  let conversation_id: string
  let now = Date.UTC(2026, 0, 1) * 1000
  beforeAll(async () => {
    ada = await service.signIn('ada')
    ;({ conversation_id } = await ada.conversations.create({}))
  })

  let named = 0
  const newcomer = () => {
    const username = `newcomer${named++}`
    return { username, email: `${username}@example.org`, password: PASSWORD }
  }
  /** A participant with this role, and this role in the service. */
  async function participant(name: string, role: Role, roles?: ('admin' | 'member')[]): Promise<Person> {
    const person = await service.signIn(name, roles)
    await ada.participants.add(conversation_id, { user_id: person.id, role })
    return person
  }
  const invite = async (person: Person, body: object = {}) =>
    (await person.invites.create(conversation_id, body)).token!
  const signUp = (token: string, person = newcomer(), on = service) => on.client().invites.accept({ token, ...person })
  const configured = async (invites: object, work: (other: TestService) => Promise<void>) => {
    const other = await startService(url, { config: { invites }, ports: { now: () => now } })
    await work(other).finally(other.close)
  }

  it('is refused if the configuration disables it, while users with an account can still accept', async () => {
    const token = await invite(ada, { max_uses: 2 })
    await configured({ allow_signup: false }, async (other) => {
      expect(await codeOf(signUp(token, newcomer(), other))).toBe('signup_disabled')
      const { token: operators = '' } = await other.chat.invites.create(OPERATOR, conversation_id, {})
      expect(await codeOf(signUp(operators, newcomer(), other))).toBe('signup_disabled')
      const grace = await other.signIn('grace')
      expect(await grace.invites.accept({ token })).toEqual({ conversation_id })
    })
    expect(await signUp(token)).toEqual({ conversation_id })
  })

  it('needs an invite of the configured creators', async () => {
    const makers = [
      await participant('owner', 'owner'),
      await participant('moderator', 'admin'),
      await participant('root', 'admin', ['admin']),
    ]
    const tokens = await Promise.all(makers.map((maker) => invite(maker, { max_uses: 3 })))
    tokens.push((await service.chat.invites.create(OPERATOR, conversation_id, { max_uses: 3 })).token!)
    const refused = 'signup_disabled'
    for (const [signup_by, expected] of [
      ['admins', ['in', 'in', 'in', 'in']],
      ['owners', ['in', refused, 'in', 'in']],
      ['operators', [refused, refused, 'in', 'in']],
    ] as const)
      await configured({ signup_by }, async (other) => {
        const answers = tokens.map((token) =>
          signUp(token, newcomer(), other).then(
            () => 'in',
            (error: ChatError) => error.code,
          ),
        )
        expect(await Promise.all(answers)).toEqual(expected)
      })
  })

  it('creates as many accounts per invite as the configuration allows, on two nodes at once', async () => {
    await configured({ signup_max_uses: 3 }, async (first) => {
      await configured({ signup_max_uses: 3 }, async (second) => {
        const token = await invite(ada, { max_uses: 50 })
        const answers = await Promise.all(
          times(8, (i) =>
            signUp(token, newcomer(), [first, second][i % 2]!).then(
              () => 'in',
              (error: ChatError) => error.code,
            ),
          ),
        )
        expect(answers.sort()).toEqual([...Array(3).fill('in'), ...Array(5).fill('signup_disabled')])
        const heidi = await first.signIn('heidi')
        expect(await heidi.invites.accept({ token })).toEqual({ conversation_id })
      })
    })
  })

  it('is limited by the configured maximum of uses', async () => {
    expect(await invite(ada, { max_uses: 100 })).toBeTruthy()
    expect(await codeOf(invite(ada, { max_uses: 101 }))).toBe('validation_failed')
    await configured({ max_uses: 2 }, async (other) => {
      const { invites } = other.chat
      expect(await codeOf(invites.create(OPERATOR, conversation_id, { max_uses: 3 }))).toBe('validation_failed')
      expect(await invites.create(OPERATOR, conversation_id, { max_uses: 2 })).toBeTruthy()
    })
  })

  it('discloses five addresses an hour that have an account, then no address, on every node', async () => {
    const token = await invite(ada, { max_uses: 9 })
    const taken = () => ({ ...newcomer(), email: ' ADA@example.org' })
    const codes = await Promise.all(times(12, (i) => codeOf(signUp(token, taken(), [service, node][i % 2]!))))
    expect(codes.sort()).toEqual([...Array(5).fill('email_taken'), ...Array(7).fill('rate_limited')])
    const refused = await signUp(token, newcomer(), node).catch((error: ChatError) => error)
    expect(refused).toMatchObject({ code: 'rate_limited', retry_after_seconds: 3600 })
    const { invites } = await ada.invites.list(conversation_id)
    const listed = invites.find(({ max_uses }) => max_uses === 9)
    expect(listed).toMatchObject({ uses: 0 })
    // Other invites, and users with an account, are not affected.
    expect(await codeOf(signUp(await invite(ada), taken()))).toBe('email_taken')
    expect(await (await service.signIn('ivan')).invites.accept({ token })).toEqual({ conversation_id })
    now += 3600 * SECOND
    expect(await signUp(token)).toEqual({ conversation_id })
    expect(await codeOf(signUp(token, taken()))).toBe('email_taken')
  })

  it('discloses nothing about other addresses if the invite is for one', async () => {
    const token = await invite(ada, { email: 'judy@example.org' })
    for (const email of ['ada@example.org', 'stranger@example.org'])
      expect(await codeOf(signUp(token, { ...newcomer(), email }))).toBe('invite_email_mismatch')
  })

  it('verifies the address if the operator has made the invite for it, and only then', async () => {
    const signedUp = async (email: string, token: string) => {
      const client = service.client()
      await client.invites.accept({ token, ...newcomer(), email })
      return (await client.auth.me()).user.email_verified
    }
    const vouched = await service.chat.invites.create(OPERATOR, conversation_id, { email: 'Kim@example.org' })
    expect(await signedUp('kim@example.org', vouched.token!)).toBe(true)
    // Its maker sees the token, and could sign up with the address of any person.
    expect(await signedUp('nora@example.org', await invite(ada, { email: 'nora@example.org' }))).toBe(false)
    expect(await signedUp('liz@example.org', await invite(ada))).toBe(false)
    const liz = service.client()
    await liz.auth.login({ email: 'liz@example.org', password: PASSWORD })
    const other = await ada.conversations.create({})
    const params = { conversation_id: other.conversation_id }
    const added = await ada.participants.add(params.conversation_id, { email: 'liz@example.org' })
    if (!('invite' in added)) throw new Error('An address that is not proven was taken for a user')
    await liz.invites.accept({ token: added.invite.token! })
    expect((await liz.auth.me()).user.email_verified).toBe(false)
    const vouchedFor = await service.chat.invites.create(OPERATOR, conversation_id, { email: 'liz@example.org' })
    await liz.invites.accept({ token: vouchedFor.token! })
    expect((await liz.auth.me()).user.email_verified).toBe(false)
  })
})
