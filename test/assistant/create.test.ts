import { expect, it } from 'vitest'
import { createAssistant } from '../../lib/assistant/create.ts'
import { parseConfig } from '../../lib/config/parse.ts'
import { startModelServer, streams } from '../support/model-server.ts'
import { asking, collect } from './turns.ts'

it('creates the echo without configuration', async () => {
  const echo = createAssistant(parseConfig().assistant)!
  expect((await collect(echo(asking('Does it run?')))).pieces).toEqual(['Does ', 'it ', 'run?'])
})

it('calls the configured model with the configured key and headers', async () => {
  const model = await startModelServer(streams('It ', 'runs.'))
  const { assistant } = parseConfig({
    assistant: {
      provider: 'openai',
      base_url: model.url,
      model: 'tiny',
      api_key: 'sk-1',
      headers: ['X-Team: chat: one', 'x-tight:2'],
    },
  })
  expect((await collect(createAssistant(assistant)!(asking('Does it run?')))).pieces).toEqual(['It ', 'runs.'])
  expect(model.calls[0]).toMatchObject({
    request: { model: 'tiny' },
    headers: { authorization: 'Bearer sk-1', 'x-team': 'chat: one', 'x-tight': '2' },
  })
})
