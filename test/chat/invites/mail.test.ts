import { beforeAll, expect, it } from 'vitest'
import { createInvite } from '../../../lib/chat/invites/create.ts'
import { type Mail, OPERATOR } from '../../../lib/index.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { createMailbox } from '../../support/mailbox.ts'
import { codeOf, innerState, PASSWORD, type Person, startService, times } from '../../support/service.ts'

describeOnEachDatabase('a mailed invite', (openUrl) => {
  const [service, node] = setUpNodes(async () => {
    const url = await openUrl()
    const options = { config: { server: { public_url: 'https://chat.example.org' } }, ports: { mail } }
    return [await startService(url, options), await startService(url, options)]
  })
  let ada: Person
  let conversation_id: string
  let failures = 0
  const box = createMailbox()
  const mail = (sent: Mail) => {
    box.deliver(sent)
    if (failures-- > 0) throw new Error('the server has died after it took the mail')
  }
  beforeAll(async () => {
    ada = await service.signIn('ada')
    ;({ conversation_id } = await ada.conversations.create({}))
  })

  const newcomer = (username: string) => ({ username, email: `${username}@example.org`, password: PASSWORD })
  const invite = async (username: string, by = ada) => {
    const created = await by.invites.create(conversation_id, { email: `${username}@example.org`, mail: true })
    expect(created).not.toHaveProperty('token')
    return { ...created, mail: await box.next() }
  }
  const signUp = async (username: string, token: string) => {
    const client = node.client()
    await client.invites.accept({ token, ...newcomer(username) })
    return client
  }

  it('is mailed to its address and returned to no user; a sign-up with it verifies the address', async () => {
    const { mail: sent } = await invite('kim')
    expect(sent).toMatchObject({ to: 'kim@example.org', kind: 'conversation_invite' })
    expect(sent.text).toMatch(/https:\/\/chat\.example\.org\/account\/join[#?]token=/)
    const kim = await signUp('kim', sent.token)
    expect((await kim.auth.me()).user.email_verified).toBe(true)
    expect((await ada.invites.list(conversation_id)).invites).toEqual([])
    expect(await codeOf(signUp('kim2', sent.token))).toBe('invite_used')
  })

  it('verifies nothing for an existing account, not even one with its address', async () => {
    const eve = newcomer('victim')
    const user = { username: 'eve', email: eve.email, password: PASSWORD, email_verified: false }
    await service.chat.users.create(OPERATOR, user)
    const client = service.client()
    await client.auth.login({ email: eve.email, password: PASSWORD })
    const { mail: sent } = await invite('victim')
    await client.invites.accept({ token: sent.token })
    expect((await client.auth.me()).user.email_verified).toBe(false)
  })

  it('is made for a participant with an address that no user has verified', async () => {
    const added = await ada.participants.add(conversation_id, { email: 'linus@example.org', mail: true })
    expect(added).toEqual({ invite: { expires_at: expect.any(String) } })
    const linus = await signUp('linus', (await box.next()).token)
    expect((await linus.auth.me()).user.email_verified).toBe(true)
    const other = await ada.conversations.create({})
    const found = await ada.participants.add(other.conversation_id, { email: 'linus@example.org', mail: true })
    expect(found).toHaveProperty('participant')
  })

  it('has a token of its own in each try to send it, and each is valid', async () => {
    failures = 1
    const { mail: first } = await invite('mia')
    // The mail has arrived before its failure is stored, and one that is being sent is not retried.
    const queue = async () => (await service.chat.mails.list(OPERATOR)).mails
    await expect.poll(queue).toContainEqual(expect.objectContaining({ status: 'waiting', tries: 1 }))
    await service.chat.mails.retry(OPERATOR, {})
    const second = await box.next()
    expect(second.token).not.toBe(first.token)
    await signUp('mia', first.token)
    expect(await codeOf(signUp('mia2', second.token))).toBe('invite_used')
  })

  it('is not sent once it is revoked, and none of its tokens is valid then', async () => {
    const { invite_id, mail: sent } = await invite('nick')
    await service.chat.invites.revokeById(OPERATOR, invite_id)
    expect(await codeOf(signUp('nick', sent.token))).toBe('invite_revoked')
    const actor = await service.chat.users.actor(ada.id)
    const made = await innerState(service).write(async (tx) => {
      const created = await createInvite(innerState(service), tx, actor, conversation_id, {
        email: 'late@example.org',
        role: 'member',
        mail: true,
      })
      await tx.run(sql`UPDATE invites SET revoked_at = 1 WHERE id = ${created.invite_id}`)
      return created
    })
    await innerState(service).tasks.settle()
    expect(made).not.toHaveProperty('token')
    expect(box.size()).toBe(0)
  })

  it('needs an address, and a service that sends mail', async () => {
    expect(await codeOf(ada.invites.create(conversation_id, { mail: true }))).toBe('conflict')
    const silent = await startService(await openUrl())
    const grace = await silent.signIn('grace')
    const own = await grace.conversations.create({})
    const to = { email: 'x@example.org', mail: true }
    expect(await codeOf(grace.invites.create(own.conversation_id, to))).toBe('conflict')
    expect(await codeOf(grace.participants.add(own.conversation_id, to))).toBe('conflict')
    await silent.close()
  })

  it('fills no mailbox', async () => {
    for (const _ of times(5, String)) await invite('oscar')
    const to = { email: 'OSCAR@example.org', mail: true }
    expect(await codeOf(ada.invites.create(conversation_id, to))).toBe('rate_limited')
  })

  it('leaves no address in the request of its mail when it is revoked, and its token is one of a revoked invite', async () => {
    const judy = await service.signIn('judith')
    await ada.participants.add(conversation_id, { user_id: judy.id, role: 'admin' })
    const [one, other] = [await invite('mona'), await invite('nils', judy)]
    const { db } = innerState(service)
    const addresses = () =>
      db.all(
        sql`SELECT id FROM email_requests WHERE email LIKE 'mona%' OR email LIKE 'nils%' OR email_key LIKE 'mona%'`,
      )
    expect(await addresses()).toHaveLength(2)
    await ada.invites.revoke(one.mail.token)
    // A user who leaves has no open invites.
    await ada.participants.remove(conversation_id, judy.id)
    expect(await addresses()).toEqual([])
    for (const { mail: sent } of [one, other]) expect(await codeOf(signUp('mona', sent.token))).toBe('invite_revoked')
  })

  it('is refused while the queue of mails is full, and leaves nothing', async () => {
    const { db } = innerState(service)
    // Each of these is due in many years.
    const full = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 10000)
      INSERT INTO tasks (id, kind, key, due_at) SELECT 'full-' || n, 'mail.send', 'full-' || n, ? FROM numbers`
    await db.run(statement(full, [Number.MAX_SAFE_INTEGER]))
    const before = (await ada.invites.list(conversation_id)).invites
    const to = { email: 'full@example.org', mail: true }
    expect(await codeOf(ada.invites.create(conversation_id, to))).toBe('unavailable')
    expect((await ada.invites.list(conversation_id)).invites).toEqual(before)
    await db.run(sql`DELETE FROM tasks WHERE id LIKE 'full-%'`)
    await invite('full')
  })

  it('leaves no address of another person when its maker is erased', async () => {
    const judy = await service.signIn('judy')
    const own = await judy.conversations.create({})
    await judy.participants.add(own.conversation_id, { user_id: ada.id })
    await judy.invites.create(own.conversation_id, { email: 'third@example.org' })
    await judy.invites.create(own.conversation_id, { email: 'third@example.org', mail: true })
    await box.next()
    await service.chat.users.erase(OPERATOR, judy.id, {})
    await innerState(service).tasks.settle()
    const { db } = innerState(service)
    for (const table of ['invites', 'email_requests'])
      expect(
        await db.all(statement(`SELECT id FROM ${table} WHERE email_key LIKE 'third%' OR email LIKE 'third%'`)),
      ).toEqual([])
  })
})
