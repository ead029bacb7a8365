import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { OPERATOR } from '../../lib/index.ts'
import { startService } from '../support/service.ts'

const SECRET = 'a secret of at least thirty-two bytes'

/** Why the program cannot run here, if it cannot. */
function findObstacle(): string | undefined {
  const { status } = spawnSync('python3', ['-c', 'import jwt'])
  if (status === 0) return undefined
  return status === null ? 'needs Python' : 'needs PyJWT: pip install pyjwt'
}

it('the host in Python creates a user, signs a token, posts, acts for the user, and follows all', async ({ skip }) => {
  const obstacle = findObstacle()
  if (obstacle) skip(obstacle)
  const jwt = { issuer: 'https://shop.example.org', audience: 'chat', secret: SECRET }
  const service = await startService('sqlite::memory:', { config: { auth: { jwt } } })
  await service.signIn('founder')
  const { key } = await service.chat.serverKeys.create(OPERATOR, {
    name: 'shop',
    scopes: ['act_as', 'system', 'users'],
  })
  const env = { ...process.env, CHAT_URL: service.base_url, CHAT_SERVER_KEY: key, CHAT_JWT_SECRET: SECRET }
  // Twice: what exists is found again.
  for (let n = 0; n < 2; n++) {
    const { stdout } = await promisify(execFile)('python3', ['examples/python-host/host.py'], { env, timeout: 20_000 })
    const types = stdout.trim().split('\n')
    expect(types[0]).toBe('stream.ready')
    expect(types.filter((type) => type === 'thread.new')).toHaveLength(2)
  }
  const { user_id } = await service.chat.users.actorOf('customer/42')
  const { conversations } = await service.chat.conversations.list(await service.chat.users.actor(user_id))
  expect(conversations.map(({ title, ref }) => [title, ref])).toEqual([['Order 42', 'order-42']])
})
