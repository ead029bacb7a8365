import { expect, it } from 'vitest'
import { SECOND } from '../../../lib/core/units.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { createMailbox } from '../../support/mailbox.ts'
import { PASSWORD, startService, times } from '../../support/service.ts'

/** How a call ends: with the code of its failure. */
const endOf = (call: Promise<void>): Promise<string> =>
  call.then(
    () => 'works',
    ({ code }) => code,
  )

const LINKS = ['reset_password', 'verify_email', 'change_email', 'undo_email'] as const

describeOnEachDatabase('a mailed link that is checked', (openUrl) => {
  let now = Date.UTC(2026, 0, 1) * 1000
  const box = createMailbox()
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: { rate_limits: { auth_login_per_ip_per_min: 1000 } },
      ports: { now: () => now, mail: box.deliver },
    }),
  )
  const check = (link: (typeof LINKS)[number], token: string) => service.client().emails.checkLink({ link, token })
  /** The links as which a token works. */
  const worksAs = async (token: string) => {
    const codes = await Promise.all(LINKS.map(async (link) => [link, await endOf(check(link, token))] as const))
    expect(codes.filter(([, code]) => code !== 'works' && code !== 'not_found')).toEqual([])
    return codes.flatMap(([link, code]) => (code === 'works' ? link : []))
  }

  it('works until it is used, and as what it is alone', async () => {
    await service.signIn('founder')
    const ada = await service.signIn('ada')
    const { token: reset } = await service.chat.resets.issue(OPERATOR, { email: 'ada@example.org' })
    await ada.emails.requestChange({ email: 'ada@example.net' })
    const { token: change } = await box.next()
    for (const _ of [1, 2]) {
      expect(await worksAs(reset)).toEqual(['reset_password'])
      expect(await worksAs(change)).toEqual(['change_email'])
    }
    await service.client().emails.confirmChange({ token: change })
    expect(await worksAs(change)).toEqual([])
    const { token: undo } = await box.next()
    expect(await worksAs(undo)).toEqual(['undo_email'])
    await service.client().emails.undoChange({ token: undo })
    expect(await worksAs(undo)).toEqual([])
    // Links to set a password end with it.
    expect(await worksAs(reset)).toEqual([])

    const account = { username: 'eve', email: 'eve@example.org', password: PASSWORD, email_verified: false }
    const { user } = await service.chat.users.create(OPERATOR, account)
    await service.chat.emails.sendVerification(await service.chat.users.actor(user.id))
    const { token: verify } = await box.next()
    expect(await worksAs(verify)).toEqual(['verify_email'])
    await service.client().emails.verify({ token: verify })
    expect(await worksAs(verify)).toEqual([])
  })

  it('works no longer once it has expired, its account is disabled, or another one has its address', async () => {
    const grace = await service.signIn('grace')
    const { token: reset } = await service.chat.resets.issue(OPERATOR, { email: 'grace@example.org' })
    await grace.emails.requestChange({ email: 'hopper@example.org' })
    const { token: change } = await box.next()
    expect(await worksAs(reset)).toEqual(['reset_password'])
    expect(await worksAs(change)).toEqual(['change_email'])
    await service.chat.users.create(OPERATOR, { username: 'hopper', email: 'hopper@example.org' })
    expect(await worksAs(change)).toEqual([])
    now += 25 * 3600 * SECOND
    expect(await worksAs(reset)).toEqual([])
    const { token: next } = await service.chat.resets.issue(OPERATOR, { email: 'grace@example.org' })
    expect(await worksAs(next)).toEqual(['reset_password'])
    await service.chat.users.change(OPERATOR, grace.id, { disabled: true })
    expect(await worksAs(next)).toEqual([])
  })
})

it('counts failures alone against the limit of sign-ins', async () => {
  const service = await startService('sqlite::memory:', { config: { rate_limits: { auth_login_per_ip_per_min: 4 } } })
  await service.signIn('ada')
  const { token } = await service.chat.resets.issue(OPERATOR, { email: 'ada@example.org' })
  // By the function: a client waits as long as the answer says, and asks again.
  const check = (text: string) =>
    endOf(service.chat.emails.checkLink({ ip: '203.0.113.7' }, { link: 'reset_password', token: text }))
  for (const _ of times(10, () => 0)) expect(await check(token)).toBe('works')
  const codes: unknown[] = []
  for (const _ of times(6, () => 0)) codes.push(await check('wrong'))
  expect(codes[0]).toBe('not_found')
  expect(codes.at(-1)).toBe('rate_limited')
  await service.close()
})
