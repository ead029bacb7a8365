import { expect, it } from 'vitest'
import { refuses, startModelServer, streams } from '../../support/model-server.ts'
import { folder, run } from '../process.ts'

const CONFIG = `
[assistant]
name = "Ada"
provider = "openai"
model = "tiny"
system_prompt = "Be brief."
[assistants.helper]
provider = "echo"
who = ["admin"]
tools = ["refund", "find_order"]
[tools.refund]
url = "http://127.0.0.1:9/refund"
description = "Pays an order back"
schema_file = "order.json"
[tools.find_order]
url = "http://127.0.0.1:9/orders"
description = "Finds an order"
schema_file = "order.json"
`

it('assistants are listed, and asked without a database', { timeout: 60_000 }, async () => {
  const model = await startModelServer(
    streams('Light ', 'scatters.'),
    refuses(401, { error: { code: 'invalid_api_key' } }),
  )
  const cwd = folder({ 'chat-server.toml': CONFIG, 'order.json': '{"type":"object"}' })
  const env = { CHAT_ASSISTANT__BASE_URL: model.url }
  const command = (...args: string[]) => run(['assistant', ...args], { cwd, env })

  const { assistants } = JSON.parse((await command('list', '--json')).stdout)
  expect(assistants).toMatchObject([
    { key: 'assistant', title: 'Ada', default: true, who: [], tools: [] },
    { key: 'helper', title: 'Helper', who: ['admin'], tools: ['refund', 'find_order'] },
  ])
  const { stdout } = await command('list')
  expect(stdout).toMatch(/^KEY +TITLE +DEFAULT +WHO +CONTEXT +TOOLS\nassistant +Ada +yes +all +auto +none\n/)
  expect(stdout).toMatch(/\nhelper +Helper +admin +auto +refund, find_order\n$/)

  const tried = await command('try', 'Why?')
  expect([tried.code, tried.stdout]).toEqual([0, 'Light scatters.\n'])
  expect(tried.stderr).toMatch(/^Ada took \d+ ms, 4 tokens, and ended with stop\.\n$/)
  expect(model.calls[0]!.request.messages.map(({ content }) => content)).toEqual(['Be brief.', 'Why?'])
  const failed = await command('try', 'Why?')
  expect([failed.code, failed.stderr]).toEqual([
    1,
    'chat-server: The assistant could not answer. (status 401: invalid_api_key)\n',
  ])
  const echoed = await command('try', 'Hello', '--assistant', 'helper', '--json')
  expect(JSON.parse(echoed.stdout)).toMatchObject({
    assistant: 'helper',
    finish_reason: 'stop',
    ms: expect.any(Number),
  })
  expect((await command('try', 'Hello', '--assistant', 'nobody')).code).toBe(2)
})
