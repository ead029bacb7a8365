import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createChatService, OPERATOR, openStorage, parseConfig } from '../../lib/index.ts'
import { folder, run } from './process.ts'

it('shows what users and conversations store, without a running service', { timeout: 120_000 }, async () => {
  const cwd = folder()
  const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_LOG__LEVEL: 'warn' }
  const stat = (...args: string[]) => run(['attachments', 'stat', ...args], { cwd, env })
  await run(['setup', '--username', 'ada', '--email', 'ada@example.org'], { cwd, env, input: 'correct horse battery' })
  const storage = await openStorage({ database: `sqlite:${join(cwd, 'data', 'chat.db')}` })
  const chat = createChatService(parseConfig(), storage)
  await chat.start({ background: false })
  const ada = await chat.users.actor((await chat.users.find(OPERATOR, 'ada')).id)
  const { conversation_id } = await chat.conversations.create(ada, {})
  await chat.messages.postRoot(ada, conversation_id, { content: 'x'.repeat(1536) })
  await chat.close()
  await storage.close()

  const { code, stdout, stderr } = await stat('--by', 'user')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(
    /^USER {2}FILES {2}BYTES {2}RELEASED {2}MESSAGES\nada {3}0 {6}0 B {4}0 B {7}1\.5 KiB\n\nAs of \S+Z\.\n$/,
  )
  expect(JSON.parse((await stat('--by', 'conversation', '--json')).stdout)).toEqual({
    rows: [{ key: conversation_id, files: 0, bytes: 0, released_bytes: 0, message_bytes: 1536 }],
    as_of: expect.any(String),
  })
  expect(await stat('--limit', '5')).toMatchObject({ code: 2, stderr: expect.stringContaining('need --by') })
  expect(await stat('--by', 'size')).toMatchObject({ code: 2, stdout: '' })
})
