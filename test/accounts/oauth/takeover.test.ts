import { expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import type { Writing } from '../../../lib/storage/database.ts'
import { type Sql, sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, innerState, PASSWORD, startService, times } from '../../support/service.ts'
import { createBrowser, PUBLIC_URL } from './browser.ts'
import { returnFrom, startPlain } from './plain.ts'

describeOnEachDatabase('an identity that is removed during a sign-in', (openUrl, dialect) => {
  // SQLite allows no other write between the steps of a sign-in.
  it.runIf(dialect === 'postgresql')('signs in no longer', async () => {
    const there = await startPlain()
    const url = await openUrl()
    const config = { server: { public_url: PUBLIC_URL }, oauth: { plain: there.plain } }
    const node = await startService(url, { config })
    await node.signIn('founder')
    let lockDown: (() => Promise<unknown>) | undefined
    const service = await startService(url, {
      config,
      wrap: ({ db, ...storage }) => {
        const paused = (tx: Writing): Writing => ({
          ...tx,
          async get<T>(sql: Sql) {
            const row = await tx.get<T>(sql)
            if (sql.text.includes('FROM identities')) await lockDown?.()
            return row
          },
        })
        return { ...storage, db: { ...db, write: (work, options) => db.write((tx) => work(paused(tx)), options) } }
      },
    })
    const browser = createBrowser(service.base_url)
    const signIn = async () => {
      const path = returnFrom(await browser.begin('plain'))
      const response = await browser.ask(path, { headers: { accept: 'application/json' } })
      return (await response.json()) as { code?: string; user: { id: string } }
    }
    there.answers['/user'] = { id: 1, email: 'ada@example.org' }
    const { user } = await signIn()
    lockDown = () => {
      lockDown = undefined
      return node.chat.users.lockDown(OPERATOR, user.id)
    }
    expect((await signIn()).code).toBe('oauth_state_invalid')
    expect(await innerState(node).db.all(sql`SELECT id FROM sessions WHERE user_id = ${user.id}`)).toEqual([])
    await Promise.all([service.close(), node.close()])
    there.close()
  })
})

describeOnEachDatabase('an account that is linked by its email address', (openUrl) => {
  async function start() {
    const there = await startPlain()
    const url = await openUrl()
    const config = { server: { public_url: PUBLIC_URL }, oauth: { plain: there.plain, link_verified_email: true } }
    const [service, node] = [await startService(url, { config }), await startService(url, { config })]
    const founder = await service.signIn('founder')
    const signIn = async (user: object, on = service) => {
      there.answers['/user'] = user
      const browser = createBrowser(on.base_url)
      const path = returnFrom(await browser.begin('plain'))
      const response = await browser.ask(path, { headers: { accept: 'application/json' } })
      const body = (await response.json()) as { code?: string; user?: { id: string; email_verified: boolean } }
      return { ...body, me: () => browser.ask('/api/auth/me') }
    }
    const close = async () => {
      await Promise.all([service.close(), node.close()])
      there.close()
    }
    /** An account of another user with the address, unverified by default. */
    const squat = async (name: string, email_verified = false) => {
      const email = `${name}@example.org`
      const { user } = await service.chat.users.create(OPERATOR, {
        username: name,
        email,
        password: PASSWORD,
        email_verified,
      })
      const client = service.client()
      await client.auth.login({ email, password: PASSWORD })
      const actor = await service.chat.users.actor(user.id)
      const { key } = await service.chat.keys.create(actor, { name: 'a key' })
      return { client, user, actor, key, email }
    }
    return { service, node, founder, signIn, squat, close }
  }

  it('keeps password, sessions and keys if its address was verified', async () => {
    const { signIn, squat, close } = await start()
    const { client, user, email } = await squat('ada', true)
    expect((await signIn({ id: 1, email, email_verified: true })).user!.id).toBe(user.id)
    expect((await client.auth.me()).user.id).toBe(user.id)
    await client.auth.login({ email, password: PASSWORD })
    expect((await client.keys.list()).keys).toHaveLength(1)
    await close()
  })

  it('ends all access of the user who had not verified the address', async () => {
    const { service, founder, signIn, squat, close } = await start()
    const { client, user, actor, key, email } = await squat('ada')
    const { conversation_id } = await client.conversations.create({})
    const invite = await client.invites.create(conversation_id, { role: 'owner' })
    const reset = await service.chat.resets.issue(OPERATOR, { email })
    await innerState(service).db.write((tx) =>
      tx.run(
        sql`INSERT INTO identities (id, provider, issuer, subject, user_id, created_at) VALUES ('i', 'plain', 'x', 'y', ${user.id}, 1)`,
      ),
    )
    expect(await signIn({ id: 1, email })).toMatchObject({ code: 'email_taken' })
    expect((await client.auth.me()).user.email_verified).toBe(false)

    const owner = await signIn({ id: 1, email: 'ADA@example.org', email_verified: true })
    expect(owner.user).toMatchObject({ id: user.id, email_verified: true })
    expect(await codeOf(client.auth.me())).toBe('unauthenticated')
    expect(await codeOf(service.client().auth.login({ email, password: PASSWORD }))).toBe('invalid_credentials')
    expect(await codeOf(service.chat.auth.authenticate(new Headers({ authorization: `Bearer ${key}` })))).toBe(
      'unauthenticated',
    )
    const body = { token: reset.token, password: 'another horse' }
    expect(await codeOf(service.client().resets.redeem(body))).toBe('not_found')
    expect(await codeOf(founder.invites.accept({ token: invite.token! }))).toBe('invite_revoked')
    const { db } = innerState(service)
    expect(await db.all(sql`SELECT issuer FROM identities WHERE user_id = ${user.id}`)).toHaveLength(1)
    expect(await db.all(sql`SELECT user_id FROM known_devices WHERE user_id = ${user.id}`)).toEqual([])
    expect((await owner.me()).status).toBe(200)
    expect((await service.chat.keys.list(actor)).keys).toEqual([])
    const { entries } = await founder.audit.list({ user_id: user.id, limit: 3 })
    expect(entries.map(({ act }) => act)).toContain('account.taken_over')
    await close()
  })

  it('ends access created by concurrent calls of that user, on two nodes', async () => {
    const { service, node, signIn, squat, close } = await start()
    for (const attempt of times(3, (i) => i)) {
      const { client, user, email } = await squat(`ada${attempt}`)
      const { session } = await client.auth.me()
      const actor = { ...(await service.chat.users.actor(user.id)), session_id: session!.id }
      const calls = times(4, (i) => [
        [service, node][i % 2]!.chat.auth.login({}, { email, password: PASSWORD }),
        [service, node][i % 2]!.chat.keys.create(actor, { name: `key ${i}` }),
      ]).flat()
      const [owner] = await Promise.all([
        signIn({ id: 100 + attempt, email, email_verified: true }, node),
        Promise.allSettled(calls),
        codeOf(
          service.chat.auth
            .changePassword(actor, { current_password: PASSWORD, new_password: 'another horse' })
            .then(() => Promise.reject({ code: 'changed' })),
        ),
      ])
      expect(owner.user!.id).toBe(user.id)
      const { db } = innerState(service)
      expect(await db.all(sql`SELECT id FROM sessions WHERE user_id = ${user.id}`)).toHaveLength(1)
      expect(await db.all(sql`SELECT id FROM api_keys WHERE user_id = ${user.id}`)).toEqual([])
      expect(await db.all(sql`SELECT password_hash FROM users WHERE id = ${user.id}`)).toEqual([
        { password_hash: null },
      ])
      expect((await owner.me()).status).toBe(200)
    }
    await close()
  })

  it('becomes verified when the provider reports that, also at a sign-up and for a known identity', async () => {
    const { signIn, close } = await start()
    expect((await signIn({ id: 1, email: 'new@example.org' })).user).toMatchObject({ email_verified: false })
    expect((await signIn({ id: 2, email: 'sure@example.org', email_verified: true })).user).toMatchObject({
      email_verified: true,
    })
    expect((await signIn({ id: 1, email: 'other@example.org', email_verified: true })).user).toMatchObject({
      email_verified: false,
    })
    expect((await signIn({ id: 1, email: 'new@example.org', email_verified: true })).user).toMatchObject({
      email_verified: true,
    })
    await close()
  })
})
