import type { ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createOpenAi } from '../../lib/assistant/openai/provider.ts'
import { AnswerFailure } from '../../lib/chat/answers/answer-failure.ts'
import {
  type Behaviour,
  completes,
  diesAfter,
  refuses,
  startModelServer,
  streams,
  writes,
} from '../support/model-server.ts'
import { answerOf, KEY, MIDDLE, SECRET_HEADER } from './openai-answers.ts'
import { asking, collect } from './turns.ts'

describe('a failed answer', () => {
  const error = { error: { message: `No such key: ${KEY}`, type: 'invalid_request_error', code: 'invalid_api_key' } }

  it.each<[string, Behaviour, string, unknown]>([
    ['401', refuses(401, error), 'provider_error', 'status 401: invalid_api_key, invalid_request_error'],
    ['429', refuses(429, { error: 'later' }), 'provider_busy', 'status 429: 17 characters without a code'],
    ['500 in HTML', refuses(500, '<h1>No</h1>'), 'provider_error', 'status 500: 11 characters without a code'],
    ['500 without a word', refuses(500, ''), 'provider_error', 'status 500: 0 characters without a code'],
    [
      '500 that breaks off',
      ({ response }) => void response.writeHead(500).write('x', () => response.destroy()),
      'provider_error',
      'status 500: 0 characters without a code',
    ],
    ['503', refuses(503, ''), 'provider_busy', 'status 503: 0 characters without a code'],
    ['529', refuses(529, ''), 'provider_busy', 'status 529: 0 characters without a code'],
    ['204', ({ response }) => void response.writeHead(204).end(), 'empty_answer', 'ended with no reason'],
    ['an error in a stream', writes(MIDDLE, 'data: {"error":{"code":500}}\n\n'), 'provider_error', '500'],
    [
      'an error beside the choices',
      writes('data: {"choices":[],"error":"no"}\n\n'),
      'provider_error',
      expect.any(String),
    ],
    ['an error as a field', writes(MIDDLE, 'error: {"code":500}\n\n'), 'provider_error', '500'],
    ['an error that says 200', refuses(200, error), 'provider_error', expect.any(String)],
    ['no answer at all', ({ response }) => response.destroy(), 'provider_error', expect.any(String)],
    ['a connection that breaks', diesAfter('Hel'), 'connection_lost', expect.any(String)],
    ['an empty stream', writes(), 'empty_answer', 'ended with no reason'],
    ['a stream of nothing', streams(), 'empty_answer', 'ended with stop'],
    ['empty JSON', refuses(200, { choices: [{ message: { content: null } }] }), 'empty_answer', 'ended with no reason'],
    ['a page', refuses(200, '<!doctype html>\n<h1>Welcome</h1>'), 'invalid_answer', '15 characters without a code'],
    ['rubbish', writes('\u0000\ufffd\n'), 'invalid_answer', expect.any(String)],
    ['rubbish of bytes', writes(new Uint8Array([0xff, 0x0a])), 'invalid_answer', expect.any(String)],
    ['an unknown field', writes('date: 5\n'), 'invalid_answer', expect.any(String)],
    ['invalid JSON', writes('data: {"choices"\n\n'), 'invalid_answer', '10 characters without a code'],
    ['another JSON', writes('data: {"id":1}\n\n'), 'invalid_answer', '8 characters without a code'],
    ['a JSON text', writes('data: "hi"\n\n'), 'invalid_answer', expect.any(String)],
    ['a JSON null', writes('data: null\n\n'), 'invalid_answer', expect.any(String)],
    ['choices that are none', writes('data: {"choices":"hi"}\n\n'), 'invalid_answer', expect.any(String)],
    [
      'content that is no text',
      writes('data: {"choices":[{"delta":{"content":5}}]}\n\n'),
      'invalid_answer',
      expect.any(String),
    ],
    [
      'a reason that is a story',
      writes('data: {"choices":[{"finish_reason":"It was night."}]}\n\n'),
      'invalid_answer',
      expect.any(String),
    ],
    ['another JSON, whole', refuses(200, { hello: 1 }), 'invalid_answer', '11 characters without a code'],
    ['too much JSON', completes('x'.repeat(2 ** 20)), 'invalid_answer', expect.any(String)],
    ['a line that is too long', writes(`data: ${'x'.repeat(2 ** 20)}\n`), 'invalid_answer', 'a line has no end'],
    [
      'a line that never ends',
      (call) => {
        call.begin()
        endless(call.response)
      },
      'invalid_answer',
      expect.any(String),
    ],
    [
      'an explanation that never ends',
      ({ response }) => {
        response.writeHead(500)
        endless(response)
      },
      'provider_error',
      expect.stringMatching(/^status 500: \d+ characters without a code$/),
    ],
  ])('is one of %s', async (_, behaviour, code, cause) => {
    const failure = await failureOf(behaviour)
    expect(failure).toBeInstanceOf(AnswerFailure)
    expect(failure).toMatchObject({ code, cause })
  })

  it.each([
    [
      'in its explanation',
      refuses(400, { error: { message: 'ADA-SAID-THIS', code: 'ADA-SAID-THIS and more', type: 'x y' } }),
    ],
    ['in a stream', writes(MIDDLE, 'data: {"error":{"message":"ADA-SAID-THIS"}}\n\n')],
    ['as a field', writes(MIDDLE, 'error: ADA-SAID-THIS\n\n')],
    ['in rubbish', writes('data: {"choices":"ADA-SAID-THIS"}\n\n')],
    ['in a page', refuses(200, '<p>ADA-SAID-THIS</p>')],
  ])("contains nothing of the server's text %s", async (_, behaviour) => {
    expect(inspect(await failureOf(behaviour), { depth: 10 })).not.toContain('ADA-SAID-THIS')
  })

  it('is reported for a server that cannot be reached', async () => {
    const model = await startModelServer()
    await model.close()
    const answer = createOpenAi({ base_url: model.url, model: 'tiny', api_key: KEY, pauses_ms: [] })(asking('Hi'))
    const cause = expect.stringContaining('ECONNREFUSED')
    await expect(collect(answer)).rejects.toMatchObject({ code: 'provider_error', cause })
  })

  it('is reported for a redirect, which is not followed', async () => {
    const elsewhere = await startModelServer()
    const redirect = refuses(307, '', { location: `${elsewhere.url}/chat/completions` })
    expect(await failureOf(redirect)).toMatchObject({ code: 'provider_error' })
    expect(elsewhere.calls).toEqual([])
  })

  it.each<[string, Behaviour]>([
    ['in its explanation', refuses(401, `${KEY} ${JSON.stringify(KEY)} ${SECRET_HEADER} swordfish`)],
    ['where the explanation is cut', refuses(401, `${'x'.repeat(195)}${KEY}`)],
    ['in a stream', writes(`error: ${KEY}\n`)],
    ['in an event', writes(`data: ${JSON.stringify({ error: { message: `${KEY} ${SECRET_HEADER}` } })}\n\n`)],
    ['in rubbish', writes(`${KEY} ${SECRET_HEADER}\n`)],
    ['in a redirect', refuses(302, '', { location: `http://127.0.0.1/${KEY}` })],
    ['in a torn answer', diesAfter(KEY)],
  ])('contains no secret that the server repeats %s', async (_, behaviour) => {
    const failure = inspect(await failureOf(behaviour), { depth: 10 })
    expect(failure).not.toMatch(/sk-hu|hunter2|swordfish/)
  })
})

async function failureOf(behaviour: Behaviour): Promise<unknown> {
  const answer = await answerOf(behaviour).catch((error: unknown) => error)
  expect(answer).toBeInstanceOf(Error)
  return answer
}

/** Writes without a newline until the client disconnects. */
function endless(response: ServerResponse): void {
  response.write('x'.repeat(2 ** 16), () => {
    if (!response.destroyed) endless(response)
  })
}
