import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { bytesFor, startWithFiles } from './files.ts'

/** Stops the service as far as it does within five seconds. */
function drainForFiveSeconds(nodes: readonly { drain(): void }[]): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  for (const node of nodes) node.drain()
  vi.advanceTimersByTime(5_000)
  vi.useRealTimers()
}

describeOnEachDatabase('a service that stops', (openUrl) => {
  it('refuses a part that has not arrived within five seconds; it can be sent again to another process', async () => {
    const url = await openUrl()
    const service = await startWithFiles(url)
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const { key } = await service.chat.keys.create(await service.chat.users.actor(ada.id), { name: 'files' })
    const { conversation_id } = await ada.conversations.create({})
    const { attachment } = await ada.attachments.create(conversation_id, { name: 'slow', size: 10 })

    const socket = connect(Number(new URL(service.base_url).port), '127.0.0.1')
    const head = [
      `PUT /api/attachments/${attachment.id}/parts/1 HTTP/1.1`,
      'host: x',
      `authorization: Bearer ${key}`,
      'content-type: application/octet-stream',
      'content-length: 10',
      'expect: 100-continue',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n01234`)
    const [continued] = await once(socket, 'data')
    expect(String(continued)).toMatch(/^HTTP\/1.1 100 /)
    drainForFiveSeconds(service.nodes)
    const [refused] = await once(socket, 'data')
    socket.destroy()
    expect(String(refused)).toMatch(/^HTTP\/1.1 503 [\s\S]+\r\nretry-after: 1\r\n/i)

    const other = await startWithFiles(url, { config: { attachments: { storage: `fs:${service.folder}` } } })
    onTestFinished(() => other.close())
    const bytes = await bytesFor(other, ada)
    expect((await bytes.put(attachment.id, 1, Buffer.from('0123456789'))).status).toBe(200)
  })
})
