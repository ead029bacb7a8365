import { expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { openStream } from '../../support/stream.ts'
import { callWith, refusalOf } from './calls.ts'

const act_as = 'subject:42'

describeOnEachDatabase('a server key whose user becomes an administrator', (openUrl) => {
  const [service, node] = setUpNodes(async () =>
    startNodes(await openUrl(), { config: { attachments: await filesInFolder() } }),
  )

  it('reads nothing more: its streams, and those of its tokens, end on every node, and so do its links', async () => {
    await service.signIn('founder')
    const { user } = await service.chat.users.ensure(OPERATOR, { subject: '42' })
    const { key } = await service.chat.serverKeys.create(OPERATOR, { name: 'shop', scopes: ['act_as'] })
    const call = async (line: string, body: object = {}) => {
      const answer = await callWith(service, key, line, { act_as, body })
      expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
      return answer.body
    }
    const { token } = await call('POST /api/auth/tokens', { scopes: ['stream'] })
    const { conversation_id } = await call('POST /api/conversations')
    const { attachment } = await call(`POST /api/conversations/${conversation_id}/attachments`, { name: 'a', size: 2 })
    const headers = { authorization: `Bearer ${key}`, 'chat-act-as': act_as }
    await fetch(`${service.base_url}/api/attachments/${attachment.id}/parts/1`, {
      method: 'PUT',
      headers: { ...headers, 'content-type': 'application/octet-stream' },
      body: 'hi',
    })
    const { url } = await call(`POST /api/attachments/${attachment.id}/link`)
    const statusOfLink = async () => (await fetch(new URL(url, service.base_url))).status
    expect(await statusOfLink()).toBe(200)

    const { authorization } = headers
    const streams = await Promise.all(
      [service, node].flatMap(({ base_url }) => [
        openStream(base_url, undefined, { authorization, act_as }),
        openStream(base_url, conversation_id, { authorization, act_as }),
        openStream(base_url, undefined, { search: `?ticket=${token}` }),
      ]),
    )
    const own = await service.chat.tokens.issue(OPERATOR, { subject: '42' })
    const staying = await openStream(node.base_url, undefined, { authorization: `Bearer ${own.token}` })
    for (const stream of [...streams, staying]) await stream.until('stream.ready')

    await service.chat.users.change(OPERATOR, user.id, { roles: ['member', 'read_only'] })
    await staying.until('rights.changed')
    await service.chat.users.change(OPERATOR, user.id, { roles: ['admin'] })
    const from = Date.now()
    for (const stream of streams)
      expect((await stream.until('stream.closed')).at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
    expect(Date.now() - from).toBeLessThan(3000)
    expect(await statusOfLink()).toBe(404)
    for (const at of [service, node])
      expect(refusalOf(await callWith(at, key, 'GET /api/auth/me', { act_as }))).toEqual([403, 'forbidden', 'key'])
    await staying.until('rights.changed')
    for (const stream of [...streams, staying]) await stream.close()
  })
})
