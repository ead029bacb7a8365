import { beforeAll, describe, expect, it } from 'vitest'
import { insertVerification } from '../../../lib/accounts/email-addresses/store.ts'
import { insertIdentity } from '../../../lib/accounts/identities/store.ts'
import { insertRequest } from '../../../lib/accounts/mails/store.ts'
import { CAUSES, type Cause, type Means } from '../../../lib/accounts/means/rules.ts'
import { ROWS } from '../../../lib/accounts/means/store.ts'
import { insertState } from '../../../lib/accounts/oauth/store.ts'
import { takeOver } from '../../../lib/accounts/oauth/takeover.ts'
import { findUser, lockUser } from '../../../lib/accounts/users/store.ts'
import { digest } from '../../../lib/core/ids.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { type Mail, OPERATOR } from '../../../lib/index.ts'
import { insertWebhook } from '../../../lib/integrations/webhooks/store.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD } from '../../support/service.ts'
import { openStream } from '../../support/stream.ts'
import { webhookRow } from '../../support/webhook-rows.ts'

const OTHER = 'incorrect battery horse'

describeOnEachDatabase('what ends access to an account', (openUrl) => {
  const [service, node] = setUpNodes(async () => startNodes(await openUrl(), { ports: { mail } }))
  /** Mails are kept back while `isAway`. */
  let isAway = false
  const mails: Mail[] = []
  const mail = (sent: Mail) => {
    if (isAway) throw new Error('away')
    mails.push(sent)
  }
  beforeAll(async () => {
    await service.signIn('founder')
  })

  /** One of every means; of sessions and known browsers two, of which one is the user's own. */
  async function makeAll(name: string) {
    const context = innerState(service)
    const person = await service.signIn(name)
    const user_id = person.id
    const thief = service.client()
    await thief.auth.login({ email: person.email, password: PASSWORD })
    const { key } = await thief.keys.create({ name: 'of a thief' })
    const { bot } = await thief.bots.create({ username: `${name}-bot` })
    const { conversation_id } = await person.conversations.create({})
    await person.hooks.create(conversation_id, { name: 'Alerts' })
    await context.write((tx) =>
      tx.run(
        sql`INSERT INTO grants (id, user_id, client_id, client_name, client_host, scopes, created_at, last_used_at, code_hash,
                                redirect_uri, code_challenge, refresh_tokens)
            VALUES (${context.id()}, ${user_id}, 'https://agent.example/client.json', 'Agent', 'agent.example', 'chat:read', 1, 1,
                    ${name}, 'https://agent.example/back', '', '[]')`,
      ),
    )
    await context.write((tx) => insertWebhook(tx, webhookRow({ id: context.id(), user_id, status: 'unverified' })))
    const { token: invite } = await thief.invites.create(conversation_id, {})
    await thief.emails.requestChange({ email: `${name}@thief.example` })
    const change = await mailTo(`${name}@thief.example`)
    const reset = (await service.chat.resets.issue(OPERATOR, { email: person.email })).token
    const expires_at = context.now() + 3600 * SECOND
    const link = { provider: 'p', issuer: 'https://p.example', subject: name, user_id }
    await context.write(async (tx) => {
      await insertIdentity(tx, { ...link, id: context.id(), created_at: 1 })
      const state = {
        state_hash: name,
        provider: 'p',
        binding_hash: name,
        verifier: 'v',
        nonce: 'n',
        redirect_to: null,
      }
      await insertState(tx, { ...state, link_user_id: user_id, expires_at })
      await insertVerification(
        tx,
        { token_hash: digest(`verify ${name}`), user_id, email_key: person.email, expires_at },
        5,
      )
      const address = { email: `${name}@former.example`, email_key: `${name}@former.example` }
      const undo = { id: context.id(), kind: 'undo' as const, user_id, ...address, roles: null, created_by: null }
      await insertRequest(tx, { ...undo, created_at: 1, expires_at })
    })
    return { person, thief, key, bot, invite, change, reset, conversation_id }
  }

  /** On SQLite the reads of a turn of the event loop see one state, which a commit of another node in this process may follow. */
  const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

  const mailTo = async (to: string): Promise<Mail> => {
    await expect.poll(() => mails.some((each) => each.to === to), { timeout: 30_000 }).toBe(true)
    return mails.splice(
      mails.findIndex((each) => each.to === to),
      1,
    )[0]!
  }

  /** The number of each means that a user has, invites that can be accepted included. */
  async function countAll(userId: string): Promise<Record<Means, number>> {
    await nextTurn()
    const { db } = innerState(service)
    const counts = Object.entries(ROWS).map(async ([name, { table, user, of, which = sql`1 = 1` }]) => {
      const row = await db.get<{ n: number }>(
        sql`SELECT count(*) AS n FROM ${table} WHERE ${of?.(userId) ?? sql`${user} = ${userId}`} AND ${which}`,
      )
      return [name, row!.n]
    })
    const open = sql`SELECT count(*) AS n FROM invites WHERE created_by = ${userId} AND revoked_at IS NULL`
    const invites = (await db.get<{ n: number }>(open))!.n
    return { ...Object.fromEntries(await Promise.all(counts)), invites }
  }

  type Made = Awaited<ReturnType<typeof makeAll>>

  /** Each cause, by the call that is one, on the other node. */
  const ACTS: [
    title: string,
    cause: Cause,
    act: (made: Made) => Promise<unknown>,
    left?: Partial<Record<Means, number>>,
  ][] = [
    [
      'a changed password',
      'new_password',
      ({ person }) => person.auth.changePassword({ current_password: PASSWORD, new_password: OTHER }),
      { sessions: 1, known_browsers: 1 },
    ],
    [
      'a reset by mail',
      'mailed_reset',
      ({ reset }) => node.client().resets.redeem({ token: reset, password: OTHER }),
      { known_browsers: 1 },
    ],
    [
      'a reset by mail that keeps keys',
      'mailed_reset',
      ({ reset }) => node.client().resets.redeem({ token: reset, password: OTHER, keep_keys: true }),
      { known_browsers: 1, keys: 1, grants: 1 },
    ],
    ['a confirmed address', 'new_address', ({ change }) => node.client().emails.confirmChange({ token: change.token })],
    [
      "an administrator's new password",
      'administration',
      ({ person }) => node.chat.users.change(OPERATOR, person.id, { password: OTHER }),
      { verification_links: 1 },
    ],
    [
      "an administrator's new address",
      'administration',
      ({ person }) => node.chat.users.change(OPERATOR, person.id, { email: `new-${person.email}` }),
    ],
    [
      'sessions ended by an administrator',
      'administration',
      ({ person }) => node.chat.users.endSessions(OPERATOR, person.id),
      { verification_links: 1 },
    ],
    [
      'a disabled user',
      'disabled',
      ({ person }) => node.chat.users.change(OPERATOR, person.id, { disabled: true }),
      { keys: 1, bot_keys: 1, grants: 1, webhooks: 1 },
    ],
    ['a lockdown', 'lockdown', ({ person }) => node.chat.users.lockDown(OPERATOR, person.id)],
    [
      'a takeover',
      'takeover',
      ({ person }) =>
        innerState(node).write(async (tx) => {
          await lockUser(tx, person.id)
          await takeOver(innerState(node), tx, (await findUser(tx, person.id))!)
        }),
    ],
    [
      'a reset of an account with an unverified address',
      'takeover',
      async ({ person, reset }) => {
        const unverified = 'UPDATE users SET email_verified_at = NULL WHERE id = ?'
        await innerState(node).write((tx) => tx.run(statement(unverified, [person.id])))
        await node.client().resets.redeem({ token: reset, password: OTHER, keep_keys: true })
      },
      { known_browsers: 1 },
    ],
    ['an erasure', 'erasure', ({ person }) => node.chat.users.erase(OPERATOR, person.id, {})],
    [
      'a merge',
      'merge',
      async ({ person }) => {
        const { user } = await node.chat.users.create(OPERATOR, { username: 'other', email: 'other@example.org' })
        await node.chat.users.merge(OPERATOR, { from: { user_id: person.id }, into: { user_id: user.id } })
      },
    ],
  ]

  it('is listed: every cause is tested', () => {
    expect(new Set([...ACTS.map(([, cause]) => cause), 'undone_address'])).toEqual(new Set(Object.keys(CAUSES)))
  })

  it.each(ACTS)('%s ends what it says, on every node, and the rest stays', async (title, cause, act, left = {}) => {
    const made = await makeAll(title.replace(/\W+/g, '-').toLowerCase())
    const before = await countAll(made.person.id)
    expect(Object.entries(before).filter(([, count]) => count === 0)).toEqual([])
    const stream = await openStream(service.base_url, undefined, { authorization: `Bearer ${made.key}` })
    await stream.until('stream.ready')
    await act(made)
    const after = await countAll(made.person.id)
    const expected = Object.keys(before).map((name) => {
      const means = name as Means
      return [means, left[means] ?? (means in CAUSES[cause].ends ? 0 : before[means])]
    })
    expect(after).toEqual(Object.fromEntries(expected))
    const isEnded = 'sessions' in CAUSES[cause].ends
    if (isEnded) expect(await codeOf(made.thief.auth.me())).toBe('unauthenticated')
    if ('keys' in CAUSES[cause].ends && !(left.keys && cause !== 'disabled')) await stream.until('stream.closed')
    expect(await codeOf(service.client().emails.confirmChange({ token: made.change.token }))).toBe('not_found')
    expect(await codeOf(service.client().resets.redeem({ token: made.reset, password: PASSWORD }))).toBe('not_found')
    await stream.close()
  })

  it('lets keys of a disabled user work again when the user is enabled, and nothing else', async () => {
    const { person, key, change } = await makeAll('enabled')
    const bearer = new Headers({ authorization: `Bearer ${key}` })
    await service.chat.users.change(OPERATOR, person.id, { disabled: true })
    await nextTurn()
    expect(await codeOf(node.chat.auth.authenticate(bearer))).toBe('unauthenticated')
    await service.chat.users.change(OPERATOR, person.id, { disabled: false })
    await nextTurn()
    expect((await node.chat.auth.authenticate(bearer)).user_id).toBe(person.id)
    expect(await codeOf(node.client().emails.confirmChange({ token: change.token }))).toBe('not_found')
  })

  it('ends with all sessions of all users what it ends with those of one', async () => {
    const { person, key } = await makeAll('both')
    const before = await countAll(person.id)
    await node.chat.sessions.revoke(OPERATOR, { all: true })
    const after = await countAll(person.id)
    for (const [name, count] of Object.entries(before))
      expect(after[name as Means], name).toBe(
        name in CAUSES.administration.ends && name !== 'verification_links' ? 0 : count,
      )
    await nextTurn()
    expect(await codeOf(service.chat.auth.authenticate(new Headers({ authorization: `Bearer ${key}` })))).toBe(
      'unauthenticated',
    )
  })

  describe('and mails that wait', () => {
    it.each(ACTS.filter(([, cause]) => cause !== 'erasure' && cause !== 'merge'))(
      '%s lets none make another link',
      async (title, cause, act) => {
        const name = `waiting-${title.replace(/\W+/g, '-').toLowerCase()}`
        const made = await makeAll(name)
        isAway = true
        await service.chat.resets.request({}, { email: made.person.email })
        if (cause !== 'new_address') await made.person.emails.requestChange({ email: `${name}@again.example` })
        await service.idle()
        await act(made)
        isAway = false
        const { db, tasks } = innerState(service)
        await service.chat.mails.retry(OPERATOR, {})
        await tasks.settle()
        expect((await countAll(made.person.id)).reset_links).toBe(0)
        expect(mails.filter(({ to, token }) => token && to.includes(name))).toEqual([])
        expect(
          await db.all(
            sql`SELECT kind FROM tasks WHERE key LIKE ${`${made.person.id}.%`} AND detail LIKE '%reset_password%'`,
          ),
        ).toEqual([])
      },
    )

    it('makes no link in a mail that is being sent', async () => {
      const context = innerState(service)
      const person = await service.signIn('sending')
      const { findRecipient: addressOf } = await import('../../../lib/accounts/mail-recipients.ts')
      const { addressDigest } = await import('../../../lib/accounts/password-resets/mail.ts')
      const order = { mail: 'reset_password' as const, user_id: person.id, address: addressDigest(person.email) }
      const addressed = await addressOf(context, order, { mail_id: context.id(), first: true })
      expect(await addressed!.makeToken!()).toBeUndefined()
      expect((await countAll(person.id)).reset_links).toBe(0)
    })
  })
})
