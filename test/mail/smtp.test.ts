import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { smtpSettings } from '../../lib/config/mail.ts'
import { parseConfig } from '../../lib/index.ts'
import { loadSmtp } from '../../lib/mail/smtp.ts'
import { startSmtp } from '../support/smtp-server.ts'

it('a server that closes before it gets the mail is the cause of the failure', async () => {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.write('220 mail.example.org\r\n')
    socket.on('data', () => socket.write('250 mail.example.org\r\n'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const config = parseConfig({ mail: { smtp: { url: `smtp://127.0.0.1:${port}`, from: 'chat@example.org' } } })
  const { deliver } = await loadSmtp(smtpSettings(config)!)
  const message = { id: 'x', kind: 'invite' as const, to: 'ada@example.org', subject: 's', text: 't', token: 'secret' }
  const delivery = await deliver(async () => {
    const socket = sockets[0]!
    socket.end('421 4.3.2 Shutting down\r\n')
    await once(socket, 'close')
    return message
  }, AbortSignal.timeout(20_000))
  expect(delivery).toMatchObject({ status: 'retry', reason: expect.stringMatching(/421|closed/) })
})

it('a mail that quotes generated text says so in its header', async () => {
  const smtp = await startSmtp()
  onTestFinished(() => smtp.close())
  const config = parseConfig({ mail: { smtp: { url: smtp.url, from: 'chat@example.org' } } })
  const { deliver } = await loadSmtp(smtpSettings(config)!)
  const mail = { id: 'x', kind: 'notification', to: 'ada@example.org', subject: 's', text: 't', token: '' }
  for (const each of [mail, { ...mail, generated: true as const }])
    expect(await deliver(async () => each, AbortSignal.timeout(20_000))).toEqual({ status: 'sent' })
  const marks = smtp.mails.map(({ raw }) => /^X-AI-Generated: true$/m.test(raw))
  expect(marks).toEqual([false, true])
})
