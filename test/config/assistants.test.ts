import { expect, it } from 'vitest'
import { loadConfig } from '../../cli/config/load.ts'
import { namedAssistants } from '../../lib/config/assistants.ts'
import { type ConfigError, type ConfigInput, parseConfig } from '../../lib/config/parse.ts'
import { maskSecrets } from '../../lib/config/reference.ts'
import { createChatService, openStorage } from '../../lib/index.ts'

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
