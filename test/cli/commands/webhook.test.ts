import { expect, it } from 'vitest'
import { folder, run } from '../process.ts'

it('makes and changes a webhook of a bot with each of its settings', { timeout: 120_000 }, async () => {
  const cwd = folder({ 'chat-server.toml': '[webhooks]\nenabled = true\n[bots]\nenabled = true\n' })
  const say = async (args: string[]) => {
    const { code, stdout, stderr } = await run([...args, '--json'], { cwd })
    expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
    return JSON.parse(stdout)
  }
  await run(['setup', '--email', 'ada@example.org'], { cwd, input: 'correct horse battery' })
  await say(['bot', 'create', '--owner', 'ada@example.org', '--username', 'crier'])

  const headers = ['--header', 'Authorization: Bearer x', '--header', 'X-Team: crm']
  const url = 'https://crm.example.org/events'
  const { webhook } = await say(
    ['webhook', 'create', '--url', url, '--bot', 'crier', '--only', 'notified', '--bots', '--payload', 'thin'].concat(
      headers,
    ),
  )
  expect(webhook).toMatchObject({
    ...{ url, only: 'notified', bots: true, payload: 'thin', signature: 'v1' },
    headers: ['authorization', 'x-team'],
  })

  const changes = ['--only', 'all', '--no-bots', '--payload', 'full', '--signature', 'v1a', '--header', 'X-Team: hr']
  expect(await say(['webhook', 'set', webhook.id, ...changes])).toMatchObject({
    webhook: { only: 'all', bots: false, payload: 'full', signature: 'v1a', headers: ['x-team'] },
  })
  const refused = await run(['webhook', 'set', webhook.id, '--only', 'some'], { cwd })
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('only')])
})
