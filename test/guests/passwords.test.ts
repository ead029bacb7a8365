import { SignJWT } from 'jose'
import { expect, it } from 'vitest'
import { createAdminClient } from '../../lib/client/admin.ts'
import { SECOND } from '../../lib/core/units.ts'
import { OPERATOR } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'
import { checkedFetch } from '../support/answers.ts'
import { describeService } from '../support/describe-service.ts'
import { codeOf, innerState, PASSWORD } from '../support/service.ts'

const SECRET = 'a secret of at least thirty-two bytes'
const JWT = { issuer: 'https://shop.example.org', audience: 'chat', secret: SECRET }
const OPTIONS = { config: { guests: { enabled: true }, auth: { jwt: JWT } } }

describeService('a guest has no password and no address', OPTIONS, (service) => {
  const newGuest = async () => {
    const { user } = await service.chat.guests.create({}, { token: true })
    return user
  }
  const rowOf = async (id: string) =>
    (await innerState(service).db.get<{ email: string; password_hash: string | null }>(
      sql`SELECT email, password_hash FROM users WHERE id = ${id}`,
    ))!
  const refused = { code: 'conflict', reason: 'guest' }
  const as = async (claims: object) => {
    const iat = Math.floor((Date.now() * 1000) / SECOND)
    const all = { iss: JWT.issuer, aud: JWT.audience, iat, exp: iat + 600, email_verified: true, ...claims }
    const api_key = await new SignJWT(all).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(SECRET))
    return createAdminClient({ base_url: service.base_url, api_key, fetch: checkedFetch, retry_ms: 10 })
  }

  it('so no link resets it, for an administrator and for the operator', async () => {
    const { id } = await newGuest()
    const admin = await service.signIn('root', ['admin'])
    const { email } = await rowOf(id)
    await expect(admin.users.issueReset(id)).rejects.toMatchObject(refused)
    await expect(service.chat.resets.issue(OPERATOR, { email })).rejects.toMatchObject(refused)
    await expect(service.chat.users.issueReset(OPERATOR, id)).rejects.toMatchObject(refused)
    expect(await innerState(service).db.all(sql`SELECT 1 FROM password_resets WHERE user_id = ${id}`)).toEqual([])
  })

  it('so a link of before sets none', async () => {
    const { user } = await service.chat.users.create(OPERATOR, { username: 'was', email: 'was@example.org' })
    const { token } = await service.chat.users.issueReset(OPERATOR, user.id)
    await innerState(service).db.run(sql`UPDATE users SET kind = 'guest', roles = 'guest' WHERE id = ${user.id}`)
    expect(await codeOf(service.client().resets.redeem({ token, password: PASSWORD }))).toBe('not_found')
    expect((await rowOf(user.id)).password_hash).toBeNull()
  })

  it('also one whom the host names with an address, until the same user is a person', async () => {
    const names = { subject: 'visitor', username: 'grace', email: 'grace@example.org', display_name: 'Grace' }
    const { user } = await service.chat.users.ensure(OPERATOR, { ...names, roles: ['guest'] })
    expect(user).toMatchObject({ kind: 'guest', display_name: 'Grace', email_verified: false })
    expect(user.username).toMatch(/^guest-[a-z0-9]{10}$/)
    expect(user).not.toHaveProperty('email')
    expect(await service.chat.users.ensure(OPERATOR, names)).toEqual({ user })
    await expect(service.chat.users.issueReset(OPERATOR, user.id)).rejects.toMatchObject(refused)
    expect(await codeOf(service.chat.resets.issue(OPERATOR, { email: names.email }))).toBe('not_found')
    const person = await service.chat.users.ensure(OPERATOR, { ...names, roles: ['member'] })
    expect(person.user).toMatchObject({ id: user.id, username: 'grace', email: names.email, email_verified: true })
    expect(person.user).not.toHaveProperty('kind')
    await service.chat.users.issueReset(OPERATOR, user.id)
  })

  it('also one of a signed token with an address', async () => {
    const claims = { sub: 'shopper', preferred_username: 'ida', email: 'ida@example.org', name: 'Ida' }
    const { user } = await (await as({ ...claims, chat_roles: ['guest'] })).auth.me()
    expect(user).toMatchObject({ kind: 'guest', display_name: 'Ida' })
    expect(user.username).toMatch(/^guest-[a-z0-9]{10}$/)
    expect((await rowOf(user.id)).email).toMatch(/@host\.invalid$/)
    const { user: person } = await (await as({ ...claims, chat_roles: ['member'] })).auth.me()
    expect(person).toMatchObject({ id: user.id, username: 'ida', email: 'ida@example.org' })
  })
})
