import { beforeAll, expect, it } from 'vitest'
import { SECOND } from '../../../lib/core/units.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { createMailbox } from '../../support/mailbox.ts'
import { codeOf, innerState, PASSWORD, startService, type TestService, times } from '../../support/service.ts'

describeOnEachDatabase('the invite of a newcomer', (openUrl) => {
  const service = setUpService(async () => {
    const config = { server: { public_url: 'https://chat.example.org' } }
    return startService(await openUrl(), { config, ports: { now: () => now, mail: box.deliver } })
  })
  let now = Date.UTC(2026, 0, 1) * 1000
  const box = createMailbox()
  beforeAll(async () => {
    await service.signIn('founder')
  })

  const rows = (sql: string) => innerState(service).db.all(statement(sql))
  const link = async (email: string, more = {}) =>
    service.chat.newcomers.invite(OPERATOR, { email, mail: false, ...more })
  const signUp = (token: string, username: string) =>
    service.client().newcomers.signUp({ token, username, password: PASSWORD })

  it('is mailed, and signs the newcomer up and in, once', async () => {
    const invited = await service.chat.newcomers.invite(OPERATOR, { email: ' Ada@example.org ', roles: ['read_only'] })
    expect(invited).toMatchObject({ email: 'Ada@example.org', mailed: true })
    expect(invited).not.toHaveProperty('token')
    const mail = await box.next()
    expect(mail).toMatchObject({ to: 'Ada@example.org', kind: 'invite' })
    expect(mail.text).toContain(`https://chat.example.org/account/sign-up#token=${mail.token}\n`)
    expect(JSON.stringify(await rows('SELECT * FROM email_request_tokens'))).not.toContain(mail.token)
    const ada = service.client()
    const { user } = await ada.newcomers.signUp({
      token: mail.token,
      username: 'ada',
      password: PASSWORD,
      display_name: 'Ada Lovelace',
    })
    expect(user).toMatchObject({
      email: 'Ada@example.org',
      email_verified: true,
      roles: ['read_only'],
      username: 'ada',
    })
    expect((await ada.auth.me()).user.id).toBe(user.id)
    expect(await codeOf(signUp(mail.token, 'ada2'))).toBe('not_found')
    expect((await service.chat.newcomers.list(OPERATOR)).invites).toEqual([])
    expect(await rows('SELECT * FROM email_request_tokens')).toEqual([])
  })

  it('creates one account of several simultaneous sign-ups', async () => {
    const { token } = await link('grace@example.org')
    const results = await Promise.allSettled(times(5, (index) => signUp(token!, `grace-${index}`)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('stays valid after a taken username', async () => {
    const { token, url } = await link('heidi@example.org')
    expect(url).toBe(`https://chat.example.org/account/sign-up#token=${token}`)
    expect(await codeOf(signUp(token!, 'FOUNDER'))).toBe('username_taken')
    await signUp(token!, 'heidi')
  })

  it('ends when it expires, is revoked, or another one is made for the address', async () => {
    const expiring = await link('ivan@example.org', { ttl_seconds: 60 })
    now += 60 * SECOND + 1
    expect(await codeOf(signUp(expiring.token!, 'ivan'))).toBe('not_found')
    const revoked = await link('ivan@example.org')
    await service.chat.newcomers.revoke(OPERATOR, revoked.id)
    expect(await codeOf(signUp(revoked.token!, 'ivan'))).toBe('not_found')
    expect(await codeOf(service.chat.newcomers.revoke(OPERATOR, revoked.id))).toBe('not_found')
    const [first, second] = [await link('ivan@example.org'), await link('IVAN@example.org')]
    expect(await codeOf(signUp(first.token!, 'ivan'))).toBe('not_found')
    await signUp(second.token!, 'ivan')
  })

  it('leads to the conversations that it names, but for those deleted or left by its maker', async () => {
    const mara = await service.signIn('mara', ['admin'])
    const { chat } = service
    const actor = await chat.users.actor(mara.id)
    const rooms: string[] = []
    for (const title of ['First', 'Deleted', 'Left', 'Last'])
      rooms.push((await chat.conversations.create(actor, { title })).conversation_id)
    const [first, deleted, left, last] = rooms as [string, string, string, string]
    const invited = await mara.newcomers.invite({ email: 'tess@example.org', mail: false, conversation_ids: rooms })
    expect(invited.conversation_ids).toEqual(rooms)
    expect((await chat.newcomers.list(OPERATOR)).invites.find(({ id }) => id === invited.id)).toMatchObject({
      conversation_ids: rooms,
    })
    await chat.conversations.remove(actor, deleted)
    const other = await service.signIn('olga')
    await chat.participants.add(actor, left, { user_id: other.id, role: 'owner' })
    await chat.participants.remove(actor, left, mara.id)

    const tess = service.client()
    const { conversation_id } = await tess.newcomers.signUp({
      token: invited.token!,
      password: PASSWORD,
      username: 'tess',
    })
    expect(conversation_id).toBe(first)
    const { conversations } = await tess.conversations.list()
    expect(conversations.map(({ id, role }) => [id, role]).sort()).toEqual(
      [
        [first, 'member'],
        [last, 'member'],
      ].sort(),
    )
    const reader = await link('rita@example.org', { roles: ['read_only'], conversation_ids: [last] })
    const rita = service.client()
    await rita.newcomers.signUp({ token: reader.token!, password: PASSWORD, username: 'rita' })
    expect((await rita.conversations.list()).conversations.map(({ role }) => role)).toEqual(['viewer'])
    const none = await service.client().newcomers.signUp({
      token: (await link('nora@example.org')).token!,
      password: PASSWORD,
      username: 'nora',
    })
    expect(none).not.toHaveProperty('conversation_id')
    expect((await chat.ops.fsck()).findings).toEqual([])
  })

  it('leads several newcomers at once into the same conversations, in whatever order their invites name them', async () => {
    const yara = await service.signIn('yara')
    const ids: string[] = []
    for (const title of ['One', 'Two', 'Three']) ids.push((await yara.conversations.create({ title })).conversation_id)
    const invited = await Promise.all(
      times(6, (n) => link(`many-${n}@example.org`, { conversation_ids: n % 2 === 0 ? ids : ids.toReversed() })),
    )
    const answers = await Promise.all(
      invited.map(({ token }, n) =>
        service.client().newcomers.signUp({ token: token!, password: PASSWORD, username: `many-${n}` }),
      ),
    )
    expect(answers.map(({ conversation_id }) => conversation_id)).toEqual(
      times(6, (n) => (n % 2 === 0 ? ids[0] : ids[2])),
    )
    for (const id of ids) expect((await yara.conversations.get(id)).participants).toHaveLength(7)
  })

  it('names only conversations in which its maker invites others', async () => {
    const wanda = await service.signIn('wanda', ['admin'])
    const vera = await service.signIn('vera')
    const { conversation_id } = await vera.conversations.create({ title: 'Of Vera' })
    const { conversation_id: joined } = await vera.conversations.create({ title: 'With Wanda' })
    await vera.participants.add(joined, { user_id: wanda.id })
    const { conversation } = await wanda.conversations.direct({ user_id: vera.id })
    for (const id of [conversation_id, joined, conversation.id, vera.id])
      expect(
        await codeOf(wanda.newcomers.invite({ email: 'uma@example.org', mail: false, conversation_ids: [id] })),
      ).toBe('forbidden')
    expect(await codeOf(link('uma@example.org', { conversation_ids: [conversation.id] }))).toBe('forbidden')
    expect(await codeOf(link('uma@example.org', { conversation_ids: times(11, () => conversation_id) }))).toBe(
      'validation_failed',
    )
    await vera.participants.changeRole(joined, wanda.id, { role: 'admin' })
    expect(
      await wanda.newcomers.invite({ email: 'uma@example.org', mail: false, conversation_ids: [joined, joined] }),
    ).toMatchObject({ conversation_ids: [joined] })
  })

  it('is refused for an address with an account, and by users', async () => {
    expect(await codeOf(link('FOUNDER@example.org'))).toBe('email_taken')
    const judy = await service.chat.users.actor((await service.signIn('judy')).id)
    expect(await codeOf(service.chat.newcomers.invite(judy, { email: 'x@example.org' }))).toBe('forbidden')
    expect(await codeOf(service.chat.newcomers.list(judy))).toBe('forbidden')
    expect(await codeOf(service.chat.newcomers.revoke(judy, judy.user_id))).toBe('forbidden')
  })

  it('ends with the rights of the administrator who made it, and with an account for the address', async () => {
    const { id } = await service.signIn('mia', ['admin'])
    const mia = await service.chat.users.actor(id)
    const { token } = await service.chat.newcomers.invite(mia, { email: 'late@example.org', mail: false })
    await service.chat.users.change(OPERATOR, id, { roles: ['member'] })
    expect(await codeOf(signUp(token!, 'late'))).toBe('not_found')
    const other = await link('both@example.org')
    await service.signIn('both')
    expect(await codeOf(signUp(other.token!, 'both2'))).toBe('email_taken')
  })

  it('is erased with its maker and its address, and revoked with its mail', async () => {
    const { id } = await service.signIn('oscar', ['admin'])
    const oscar = await service.chat.users.actor(id)
    await service.chat.newcomers.invite(oscar, { email: 'soon@example.org', mail: false })
    await service.chat.users.erase(OPERATOR, id, {})
    expect(await rows("SELECT id FROM email_requests WHERE email = 'soon@example.org'")).toEqual([])
    const { id: pat } = await service.signIn('pat')
    const { id: request } = await link('pat2@example.org')
    await innerState(service).db.write((tx) =>
      tx.run(sql`UPDATE email_requests SET email_key = 'pat@example.org' WHERE id = ${request}`),
    )
    await service.chat.users.erase(OPERATOR, pat, {})
    expect(await rows("SELECT id FROM email_requests WHERE email = 'pat2@example.org'")).toEqual([])
  })

  it('is refused where sign-ups are, or the host has its own login, or no mail is sent', async () => {
    const url = await openUrl()
    const closed = await startService(url, { config: { invites: { allow_signup: false } } })
    const host = await startService(url, { ports: { identity: () => undefined } })
    const silent = await startService(url)
    const invite = ({ chat }: TestService) => codeOf(chat.newcomers.invite(OPERATOR, { email: 'x@example.org' }))
    expect(await invite(closed)).toBe('signup_disabled')
    expect(await invite(host)).toBe('signup_disabled')
    expect(await invite(silent)).toBe('conflict')
    await Promise.all([closed.close(), host.close(), silent.close()])
  })
})
