import { expect, it } from 'vitest'
import { loadConfig } from '../../cli/config/load.ts'
import { createAssistants } from '../../lib/assistant/assistants.ts'
import { namedAssistants } from '../../lib/config/assistants.ts'
import { type ConfigError, type ConfigInput, parseConfig } from '../../lib/config/parse.ts'
import { maskSecrets } from '../../lib/config/reference.ts'
import { createChatService, defineTool, openStorage, type Ports } from '../../lib/index.ts'

it('an assistant has the settings of the default that it does not set', () => {
  const config = parseConfig({
    assistant: { provider: 'openai', model: 'small', api_key: 'secret', who: ['member'] },
    assistants: { coder: { model: 'large', title: 'Code' }, echo: { provider: 'echo', who: [] } },
  })
  expect(namedAssistants(config)).toMatchObject([
    { key: 'coder', title: 'Code', provider: 'openai', model: 'large', api_key: 'secret', who: ['member'] },
    { key: 'echo', title: 'Echo', provider: 'echo', model: 'small', who: [], stop: 'moderators' },
  ])
})

it('an assistant is set by the environment, and its secrets are masked', () => {
  const { config } = loadConfig(
    {},
    {
      CHAT_ASSISTANTS__CODER__PROVIDER: 'openai',
      CHAT_ASSISTANTS__CODER__MODEL: 'large',
      CHAT_ASSISTANTS__CODER__API_KEY: 'secret',
      CHAT_ASSISTANTS__CODER__HEADERS: 'X-Key: secret',
      CHAT_ASSISTANTS__CODER__WHO: 'admin,member',
    },
  )
  const { coder } = maskSecrets(config).assistants
  expect(coder).toMatchObject({ model: 'large', api_key: '********', who: ['admin', 'member'] })
  expect(JSON.stringify(coder)).not.toContain('secret')
})

it.each<[object, string, string]>([
  [{ Coder: {} }, 'assistants.Coder', 'unknown key'],
  [{ assistant: {} }, 'assistants.assistant', 'unknown key'],
  [{ coder: { modle: 'x' } }, 'assistants.coder.modle', 'did you mean assistants.coder.model?'],
  [{ coder: { provider: 'openai' } }, 'assistants.coder.model', 'must be set'],
  [{ coder: { provider: 'none' } }, 'assistants.coder.provider', 'leave the section out'],
  [{ coder: { who: ['pilot'] } }, 'assistants.coder.who', 'roles of the service'],
  [{ coder: { avatar_url: 'javascript:1' } }, 'assistants.coder.avatar_url', 'https'],
  [{ coder: { stop: 'all' } }, 'assistants.coder.stop', 'moderators, members'],
  [{ coder: { tools: 'refund' } }, 'assistants.coder.tools', 'must be a list of names of tools'],
  [{ coder: { tools: ['refund', 'refund'] } }, 'assistants.coder.tools', 'must name each tool once'],
  [{ coder: { max_steps: 0 } }, 'assistants.coder.max_steps', 'from 1 to 100'],
  [{ coder: { max_equal_calls: 101 } }, 'assistants.coder.max_equal_calls', 'from 1 to 100'],
  [{ coder: { run_seconds: 86_401 } }, 'assistants.coder.run_seconds', 'from 1 to 86400'],
])('refuses %j', (assistants, key, message) => {
  try {
    parseConfig({ assistants } as ConfigInput)
  } catch (error) {
    const problems = (error as ConfigError).problems
    expect(problems.map((problem) => problem.key)).toEqual([key])
    expect(problems[0]!.message).toContain(message)
    return
  }
  expect.fail('it should have been refused')
})

it.each<[string, object, RegExp]>([
  ['a key', { Coder: { provider: 'echo' } }, /"assistants.Coder" must have a key/],
  ['a setting', { coder: { provider: 'echo', titel: 'x' } }, /titel is no setting/],
  ['a value', { coder: { provider: 'echo', stop: 'all' } }, /stop must be one of/],
  ['no provider', { coder: { provider: 'none' } }, /provider must be a function/],
  ['no model', { coder: { provider: 'openai' } }, /model must be set/],
  ['no object', { coder: 'echo' }, /must be an object of assistants/],
])('a host cannot name %s that no assistant has', async (_, assistants, message) => {
  const storage = await openStorage({ database: 'sqlite::memory:' })
  const create = () => createChatService(parseConfig(), storage, { assistants: assistants as never })
  expect(create).toThrow(message)
  await storage.close()
})

const refund = defineTool({
  description: 'Pays an order back',
  input: { json_schema: { type: 'object' }, validate: (value) => ({ value }) },
  run: () => null,
})

it('an assistant has the tools and the bounds of the default that it does not set', () => {
  const config = parseConfig({
    assistant: { provider: 'echo', tools: ['refund'], max_steps: 3 },
    assistants: { coder: { tools: [] }, helper: { max_equal_calls: 1, run_seconds: 60 } },
  })
  const { offered } = createAssistants(config, {
    tools: { refund },
    assistants: { mine: { provider: 'echo', tools: ['refund'] } },
  })
  const settings = offered.map(({ key, tools, max_steps, max_equal_calls, run_seconds }) => [
    ...[key, tools.map(({ name }) => name).join(), max_steps, max_equal_calls, run_seconds],
  ])
  expect(settings).toEqual([
    ['assistant', 'refund', 3, 3, 900],
    ['coder', '', 3, 3, 900],
    ['helper', 'refund', 3, 1, 60],
    ['mine', 'refund', 3, 3, 900],
  ])
})

it.each<[string, ConfigInput, Ports, RegExp]>([
  [
    'the default',
    { assistant: { tools: ['refnd'] } },
    {},
    /^assistant.tools: must have names of tools: .* are refund$/,
  ],
  [
    'an assistant that inherits it',
    { assistant: { provider: 'echo', tools: ['refnd'] }, assistants: { coder: {} } },
    {},
    /^assistant.tools: must have names of tools: the tools are refund$/,
  ],
  ['an assistant', { assistants: { coder: { provider: 'echo', tools: ['x'] } } }, {}, /^assistants.coder.tools: must/],
  ['any, where there are none', { assistant: { tools: ['x'] } }, { tools: {} }, /: there are no tools$/],
  [
    'an assistant of the host',
    {},
    { assistants: { coder: { provider: 'echo', tools: ['x'] } } },
    /"assistants.coder": tools must have names of tools: the tools are refund/,
  ],
  [
    'a function of the host',
    {},
    { assistants: { coder: { provider: nothing, tools: ['x'] } } },
    /tools must have names/,
  ],
])('refuses a tool that does not exist for %s', (_, config, ports, message) => {
  expect(() => createAssistants(parseConfig(config), { tools: { refund }, ...ports })).toThrow(message)
})

it('a service is not created with a tool that is none', async () => {
  const storage = await openStorage({ database: 'sqlite::memory:' })
  for (const [tools, message] of [
    [{ refund: {} }, /"tools.refund" must be made by defineTool/],
    ['refund', /"tools" must be an object of tools/],
  ] as const)
    expect(() => createChatService(parseConfig(), storage, { tools: tools as never })).toThrow(message)
  await storage.close()
})

async function* nothing() {}
