import { expect, it } from 'vitest'
import type { Opening } from '../../lib/chat/events/service.ts'
import { type Incoming, perform } from '../../lib/http/call.ts'
import * as responses from '../../lib/openai-api/responses/routes.ts'
import { setUpService } from '../support/describe-service.ts'
import { startService } from '../support/service.ts'

const service = setUpService(() => startService('sqlite::memory:', { config: { features: { openai_api: true } } }))

/** A call by a user with an own key. */
async function callAs(name: string, body: object, turn: () => Promise<void>) {
  const person = await service.signIn(name)
  const { key } = await person.keys.create({ name: 'sdk' })
  const headers = new Headers({ authorization: `Bearer ${key}`, 'content-type': 'application/json' })
  const request = new Request('http://127.0.0.1/v1/responses', { method: 'POST', body: JSON.stringify(body) })
  const incoming: Incoming = {
    method: 'POST',
    headers,
    cookies: new Map(),
    params: {},
    search: '',
    url: { host: '127.0.0.1' },
    body: request.body as Incoming['body'],
    given: { request },
    gone: () => new AbortController().signal,
    turn,
  }
  return { person, performed: perform(service.chat, responses.create, incoming) }
}

it('a call that may return JSON waits for the turn of streams if it asks for one, before anything is stored', async () => {
  const turns: (() => void)[] = []
  const turn = () => new Promise<void>((resolve) => turns.push(resolve))
  const { person, performed } = await callAs('ada', { input: 'Why?', stream: true }, turn)
  await expect.poll(() => turns.length).toBe(1)
  expect((await person.conversations.list()).conversations).toEqual([])
  turns[0]!()
  const { outcome } = await performed
  const { result } = outcome as { result: Opening }
  result.cancel()
  expect((await person.conversations.list()).conversations).toHaveLength(1)
})

it('one without a stream does not wait', async () => {
  const { performed } = await callAs('grace', { input: 'Why?', background: true }, () => new Promise(() => {}))
  expect((await performed).outcome).toMatchObject({ result: { object: 'response' } })
})
