import { expect, it } from 'vitest'
import { readAnswer } from '../../lib/assistant/openai/answer.ts'
import { createOpenAi } from '../../lib/assistant/openai/provider.ts'
import { collectGarbage } from '../support/gc.ts'
import { type ModelCall, startModelServer } from '../support/model-server.ts'
import { asking } from './turns.ts'

/** Repeats the same chunk until the client disconnects. */
const keepsWriting = (text: string) => (call: ModelCall) => {
  call.say('Be')
  const next = () => void (call.response.destroyed || call.write(text, () => setImmediate(next)))
  next()
}

it.each<[string, (call: ModelCall) => void]>([
  ['says nothing for a while', (call) => call.say('Be')],
  ['sends keep-alive comments only', keepsWriting(': wait\n\n')],
  ['sends reasoning only', keepsWriting('data: {"choices":[{"delta":{"reasoning_content":"hm"}}]}\n\n')],
])(
  'closes the connection to a server that %s, once the answer is aborted, also after garbage collection',
  async (_, does) => {
    const server = await startModelServer(does)
    const assistant = createOpenAi({ base_url: server.url, model: 'tiny' })
    const control = new AbortController()
    const { signal } = control
    let hear = () => {}
    const heard = new Promise<void>((resolve) => (hear = resolve))
    const pieces = assistant({ ...asking('Why?'), signal })
    const over = readAnswer(pieces, { signal, answer_bytes: 1000 }, () => hear()).catch((error) => error)
    const call = await server.nextCall()
    await heard
    await collectGarbage()
    const reason = new Error('enough')
    control.abort(reason)
    expect(await over).toBe(reason)
    await call.closed
  },
)
