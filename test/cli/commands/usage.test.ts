import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createChatService, OPERATOR, openStorage, parseConfig } from '../../../lib/index.ts'
import { folder, run } from '../process.ts'

it('usage is reported, and limited for a user', { timeout: 120_000 }, async () => {
  const cwd = folder()
  const env = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4' }
  const command = (line: string) => run(line.split(' '), { cwd, env, input: 'correct horse battery' })
  expect((await command('setup --email ada@example.org')).code).toBe(0)
  expect((await command('usage report')).stdout).toBe('Nothing was used.\n')

  const storage = await openStorage({ database: `sqlite:${join(cwd, 'data', 'chat.db')}` })
  const chat = createChatService(parseConfig({}), storage)
  await chat.start({ background: false })
  const ada = await chat.users.actor((await chat.users.find(OPERATOR, 'ada')).id)
  const { conversation_id } = await chat.conversations.create(ada, {})
  const { message_id } = await chat.messages.postRoot(ada, conversation_id, { content: 'Why?', role: 'assistant' })
  await expect.poll(async () => (await chat.messages.get(ada, message_id)).status).toBe('complete')
  await chat.close()

  const { rows, currency } = JSON.parse((await command('usage report --by assistant --json')).stdout)
  expect([currency, rows]).toMatchObject(['USD', [{ key: 'assistant', answers: 1, cost_micros: 0 }]])
  expect((await command('usage report')).stdout).toMatch(/^USER +ANSWERS +PROMPT +COMPLETION +TOKENS +USD\n\S+ +1 /)

  const csv = await command('usage report --by assistant --csv')
  expect(csv.stdout).toMatch(/^assistant,answers,tokens,.*,currency\r\nassistant,1,\d+,.*,0\.000000,USD\n$/)
  expect((await command('usage report --csv --json')).code).toBe(2)
  expect((await command('usage report --csv --limit 5')).code).toBe(2)

  const set = await command('usage quota ada --day-answers 20 --month-tokens 1000 --json')
  expect(JSON.parse(set.stdout)).toEqual({ user_id: ada.user_id, day: { answers: 20 }, month: { tokens: 1000 } })
  expect((await command('usage quota ada')).stdout).toBe(
    'ada may use, by a quota of its own:\nat most 20 answers in a day\nat most 1000 tokens in a month\n',
  )
  expect((await command('usage quota ada --day-answers 1 --clear')).code).toBe(2)
  expect((await command('usage quota ada --day-answers many')).code).toBe(2)
  expect((await command('usage quota nobody --clear')).code).toBe(1)
  expect((await command('usage quota ada --clear')).stdout).toBe('The quotas of the roles hold for ada again.\n')
  expect(JSON.parse((await command('usage quota ada --json')).stdout)).toEqual({ user_id: ada.user_id, roles: {} })
  expect((await command('usage quota ada')).stdout).toContain('as much as the service allows')
})
