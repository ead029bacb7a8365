import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { uniqueKey } from '../../lib/core/characters.ts'
import { OPERATOR } from '../../lib/index.ts'
import { statement } from '../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { innerState, startService, type TestService, times } from '../support/service.ts'
import { startSmtp } from '../support/smtp-server.ts'

/** A loaded machine may take its time. */
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 30_000 })

type Smtp = Awaited<ReturnType<typeof startSmtp>>

describeOnEachDatabase('mail from the configuration', (openUrl) => {
  let smtp: Smtp
  let service: TestService
  const lines: { message: string; cause?: string }[] = []
  const log = (message: string, fields?: object) => void lines.push({ message, ...fields })
  beforeAll(async () => {
    smtp = await startSmtp({ user: 'chat', password: 'p@ss:word' })
    const config = {
      server: { public_url: 'https://chat.example.org' },
      mail: {
        smtp: { url: smtp.url, from: 'Chat <chat@example.org>', reply_to: 'help@example.org' },
      },
    }
    service = await startService(await openUrl(), {
      config,
      ports: { log: { debug: log, info: log, warn: log, error: log } },
    })
    await service.signIn('founder')
  })
  afterEach(async () => {
    Object.assign(smtp.behaviour, { codes: [], dies: 0, hangs: false })
    await eventually(() => service.chat.mails.drop(OPERATOR).then(queue)).toEqual([])
  })
  afterAll(async () => {
    await service.close()
    await smtp.close()
  })

  const rows = (sql: string, ...params: string[]) =>
    innerState(service).db.all<{ detail: string }>(statement(sql, params))
  const queue = async () => (await service.chat.mails.list(OPERATOR)).mails
  const mailsTo = (email: string) => smtp.mails.filter(({ to }) => to.includes(email))
  const tokenIn = (raw: string) => /token=3D([\w-]{20,})=?\r?\n?([\w-]*)/.exec(raw)!.slice(1).join('')

  it('carries a reset link over an encrypted connection, signed in, and the link works', async () => {
    const { email } = await service.signIn('ada')
    await service.client().resets.request({ email })
    await eventually(() => mailsTo(email)).toHaveLength(1)
    const [mail] = mailsTo(email)
    expect(mail).toMatchObject({ encrypted: true, user: 'chat' })
    expect(mail!.raw).toMatch(/^From: Chat <chat@example\.org>$/m)
    expect(mail!.raw).toMatch(/^Reply-To: help@example\.org$/m)
    expect(mail!.raw).toMatch(/^Subject: Set a new password$/m)
    expect(mail!.raw).toMatch(/^Auto-Submitted: auto-generated$/m)
    expect(mail!.message_id).toMatch(/^<[0-9a-f-]{36}@example\.org>$/)
    await service.client().resets.redeem({ token: tokenIn(mail!.raw), password: 'incorrect pony' })
    await eventually(() => mailsTo(email)).toHaveLength(2)
    expect(mailsTo(email)[1]!.raw).toContain('The password of your account was changed')
    await eventually(queue).toEqual([])
  })

  it('is tried again after a 4xx answer, under the same Message-ID, and no token waits in the database', async () => {
    const { id, email } = await service.signIn('grace')
    smtp.behaviour.codes = [451]
    await service.client().resets.request({ email })
    await eventually(queue).toEqual([expect.objectContaining({ user_id: id, status: 'waiting', tries: 1 })])
    const [waiting] = await queue()
    expect(waiting!.cause).toContain('451')
    expect(JSON.stringify([waiting, await rows('SELECT detail FROM tasks')])).not.toContain(email)
    // The line is written after the row.
    await eventually(() => lines.at(-1)?.message).toBe('A mail could not be sent and will be retried')
    expect(await service.chat.mails.retry(OPERATOR, { id: waiting!.id })).toEqual({ retried: 1 })
    await eventually(() => mailsTo(email)).toHaveLength(1)
    expect(mailsTo(email)[0]!.message_id).toBe(`<${waiting!.id}@example.org>`)
  })

  it('arrives twice under one Message-ID when the server dies before it answers, and both links are valid', async () => {
    const { email } = await service.signIn('heidi')
    smtp.behaviour.dies = 1
    await service.client().resets.request({ email })
    await eventually(queue).toHaveLength(1)
    await eventually(async () => (await queue())[0]!.tries).toBe(1)
    await service.chat.mails.retry(OPERATOR)
    await eventually(() => mailsTo(email)).toHaveLength(2)
    const [first, second] = mailsTo(email)
    expect(first!.message_id).toBe(second!.message_id)
    await service.client().resets.redeem({ token: tokenIn(first!.raw), password: 'incorrect pony' })
  })

  it('is given up at once after a 5xx answer, can be retried by hand, and is listed until then', async () => {
    const { email } = await service.signIn('ivan')
    smtp.behaviour.codes = [550]
    await service.client().resets.request({ email })
    await eventually(queue).toEqual([expect.objectContaining({ status: 'failed', tries: 1 })])
    await eventually(() => lines.at(-1)?.message).toBe('A mail could not be sent and is given up')
    expect(await service.chat.mails.retry(OPERATOR)).toEqual({ retried: 1 })
    await eventually(() => mailsTo(email)).toHaveLength(1)
    await eventually(queue).toEqual([])
  })

  it('waits when the server hangs', async () => {
    const smtpKeys = { url: smtp.url, from: 'chat@example.org', timeout_seconds: 1 }
    const other = await startService(await openUrl(), { config: { mail: { smtp: smtpKeys } } })
    const { email } = await other.signIn('judy')
    smtp.behaviour.hangs = true
    await other.client().resets.request({ email })
    await eventually(async () => (await other.chat.mails.list(OPERATOR)).mails[0]?.cause).toBe(
      'The mail server is too slow',
    )
    expect(mailsTo(email)).toEqual([])
    await other.close()
  })

  it('is no more than ten an hour to one address: the others wait, in their order', async () => {
    const { email, ...mia } = await service.signIn('mia')
    const waiting = async () => (await queue()).map(({ next_at }) => Date.parse(next_at))
    for (const index of times(6, Number)) {
      await mia.keys.create({ name: String(index) })
      const later = async () => (await waiting()).filter((next_at) => next_at > Date.now() + 60_000)
      await eventually(async () => mailsTo(email).length + (await later()).length).toBe(index + 1)
    }
    expect(mailsTo(email)).toHaveLength(3)
    const [first, second, third] = await waiting()
    expect(second! - first!).toBeGreaterThan(1100_000)
    expect(third! - second!).toBeGreaterThan(1100_000)
  })

  it('of a notice does not wait behind links that strangers request, of which one waits at most', async () => {
    const { email, ...noel } = await service.signIn('noel')
    for (const count of [1, 2]) {
      await service.client().resets.request({ email })
      await eventually(() => mailsTo(email)).toHaveLength(count)
      await eventually(queue).toEqual([])
    }
    await service.client().resets.request({ email })
    const inHalfAnHour = { status: 'waiting', kind: 'reset_password' }
    await eventually(async () => Date.parse((await queue())[0]!.next_at) - Date.now()).toBeGreaterThan(60_000)
    await service.client().resets.request({ email })
    expect(await queue()).toEqual([expect.objectContaining(inHalfAnHour)])
    await noel.keys.create({ name: 'a bot' })
    await eventually(() => mailsTo(email)).toHaveLength(3)
    expect(mailsTo(email)[2]!.raw).toContain('A new API key')
  })

  it('to a newcomer names no user', async () => {
    smtp.behaviour.codes = [550]
    await service.chat.newcomers.invite(OPERATOR, { email: 'newcomer@example.org' })
    await eventually(async () => (await queue()).map(({ status }) => status)).toEqual(['failed'])
    expect((await queue())[0]).not.toHaveProperty('user_id')
    expect(lines.at(-1)).not.toHaveProperty('user_id')
    const { tasks } = await service.chat.tasks.list(OPERATOR)
    expect(tasks.map((task) => task.subject_id)).toEqual([undefined])
  })

  it('is deleted with its user, unsent', async () => {
    const { id, email } = await service.signIn('oscar')
    smtp.behaviour.codes = [451]
    await service.client().resets.request({ email })
    await eventually(async () => (await queue())[0]?.tries).toBe(1)
    await service.chat.users.erase(OPERATOR, id, {})
    expect(await queue()).toEqual([])
  })

  it('to an unknown address is dropped without a connection', async () => {
    const before = smtp.connections()
    await service.client().resets.request({ email: 'nobody@example.org' })
    await eventually(queue).toEqual([])
    expect(smtp.connections()).toBe(before)
  })

  it('is sent to no address that would begin another header or recipient', async () => {
    // A host, or an earlier version, may have stored it.
    const email = 'a,b@example.org\r\nBcc: eve@example.org'
    const { id } = await service.signIn('quentin')
    const rename = 'UPDATE users SET email = ?, email_key = ? WHERE id = ?'
    await innerState(service).db.write((tx) => tx.run(statement(rename, [email, uniqueKey(email), id])))
    await service.client().resets.request({ email })
    await eventually(async () => (await queue()).map(({ status }) => status)).toEqual(['failed'])
    expect((await queue())[0]!.cause).toBe('No mail can be sent to this address')
  })

  it('is neither listed nor changed by users', async () => {
    const pat = await service.chat.users.actor((await service.signIn('pat')).id)
    await expect(service.chat.mails.list(pat)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(service.chat.mails.retry(pat)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(service.chat.mails.drop(pat)).rejects.toMatchObject({ code: 'forbidden' })
    const id = innerState(service).id()
    await expect(service.chat.mails.retry(OPERATOR, { id })).rejects.toMatchObject({ code: 'not_found' })
  })
})
