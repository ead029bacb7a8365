import { expect, it, onTestFinished } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { describeOnEachEmptyDatabase } from '../../support/databases.ts'
import { startService } from '../../support/service.ts'
import { startSmtp } from '../../support/smtp-server.ts'
import { folder, run } from '../process.ts'
import { runDoctor } from '../run-checks.ts'

const FROM = 'chat@example.org'

async function startServer(options = {}) {
  const smtp = await startSmtp(options)
  onTestFinished(smtp.close)
  return smtp
}

it('mail test sends a mail, or prints what the server answers, and never the password', {
  timeout: 60_000,
}, async () => {
  const smtp = await startServer({ user: 'chat', password: 'canary' })
  const send = (url: string) =>
    run(['mail', 'test', 'ada@example.org', '--json'], {
      cwd: folder(),
      env: { CHAT_MAIL__SMTP__URL: url, CHAT_MAIL__SMTP__FROM: FROM },
    })
  const sent = await send(smtp.url)
  expect(sent).toMatchObject({ code: 0, stderr: '' })
  expect(smtp.mails).toMatchObject([{ to: ['ada@example.org'], encrypted: true }])
  expect(smtp.mails[0]!.message_id).toBe(`<${JSON.parse(sent.stdout).message_id}@example.org>`)

  const refused = await send(smtp.url.replace('canary', 'canary2'))
  expect(refused.code).toBe(1)
  expect(refused.stderr).toContain('did not take the mail: Invalid login: 535')
  expect(refused.stdout + refused.stderr).not.toContain('canary')
  smtp.behaviour.codes = [550]
  expect((await send(smtp.url)).stderr).toContain('550 Not this recipient')
})

it('mail test names the keys that are missing, and an address that is none', { timeout: 60_000 }, async () => {
  const cwd = folder()
  const missing = await run(['mail', 'test', 'ada@example.org'], { cwd })
  expect(missing).toMatchObject({
    code: 1,
    stderr: 'chat-server: no mail server is configured: set mail.smtp.url and mail.smtp.from\n',
  })
  const env = { CHAT_MAIL__SMTP__URL: 'smtp://127.0.0.1:9', CHAT_MAIL__SMTP__FROM: FROM }
  expect((await run(['mail', 'test', 'nobody'], { cwd, env })).stderr).toContain('no mail can be sent to "nobody"')
})

it('config print hides the password of the mail server', { timeout: 60_000 }, async () => {
  const env = { CHAT_MAIL__SMTP__URL: 'smtp://chat:canary@mail.example.org', CHAT_MAIL__SMTP__FROM: FROM }
  const { stdout } = await run(['config', 'print'], { cwd: folder(), env })
  expect(stdout).toContain('smtp://chat:********@mail.example.org')
  expect(stdout).not.toContain('canary')
})

it('doctor connects and signs in, and sends nothing', { timeout: 60_000 }, async () => {
  const smtp = await startServer({ user: 'chat', password: 'secret' })
  const doctor = (url: string) =>
    runDoctor({ database: { url: 'sqlite::memory:' }, mail: { smtp: { url, from: FROM, timeout_seconds: 5 } } })
  expect((await doctor(smtp.url)).get('mail.reachable')).toMatchObject({ severity: 'ok' })
  expect((await doctor(smtp.url.replace('secret', 'wrong'))).get('mail.unreachable')).toMatchObject({
    severity: 'error',
    message: expect.stringContaining('535'),
  })
  expect((await doctor('smtp://127.0.0.1:9')).get('mail.unreachable')).toMatchObject({ severity: 'error' })
  expect(smtp.mails).toEqual([])
})

describeOnEachEmptyDatabase('mail queue', (openUrl) => {
  it('lists, retries and deletes mails beside a service', { timeout: 120_000 }, async () => {
    const url = await openUrl()
    const smtp = await startServer()
    const config = { mail: { smtp: { url: smtp.url, from: FROM } } }
    const service = await startService(url, { config })
    onTestFinished(service.close)
    const { email } = await service.signIn('ada')
    smtp.behaviour.codes = [550, 450]
    const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 20_000 })
    const statuses = async () => (await service.chat.mails.list(OPERATOR)).mails.map(({ status }) => status).sort()
    await service.client().resets.request({ email })
    await eventually(statuses).toEqual(['failed'])
    await service.client().resets.request({ email })
    await eventually(statuses).toEqual(['failed', 'waiting'])

    const queue = async (...args: string[]) => {
      const { code, stdout } = await run(['mail', 'queue', ...args, '--json', '--database', url], { cwd: folder() })
      expect(code).toBe(0)
      return JSON.parse(stdout)
    }
    const { mails } = await queue('list')
    const failed = mails.find(({ status }: { status: string }) => status === 'failed')
    expect(failed.cause).toContain('550')
    if (!url.startsWith('sqlite:')) expect((await runDoctor({ database: { url } })).has('mail.failed')).toBe(true)
    expect(await queue('retry', '--id', failed.id)).toEqual({ retried: 1 })
    await eventually(() => smtp.mails.length).toBe(1)
    await eventually(statuses).toEqual(['waiting'])
    expect(await queue('drop', '--all')).toEqual({ dropped: 1 })
    expect(await statuses()).toEqual([])
  })
})
