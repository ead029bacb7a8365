import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createResponseBatches } from '../../../lib/http/node/response-batch.ts'

const newResponse = () => new ServerResponse(new IncomingMessage(new Socket()))

it('ends the responses of a turn when the turn is over', async () => {
  const turn = createResponseBatches()()
  const responses = [newResponse(), newResponse()]
  for (const response of responses) turn.end(response, 'text')
  expect(responses.map((response) => response.writableEnded)).toEqual([false, false])
  await nextTurn()
  expect(responses.map((response) => response.writableEnded)).toEqual([true, true])
})

it('ends a response at once when its turn is over', async () => {
  const turn = createResponseBatches()()
  await nextTurn()
  const response = newResponse()
  turn.end(response, null)
  expect(response.writableEnded).toBe(true)
})

it('calls at once what middleware has put in the place of end()', () => {
  const turn = createResponseBatches()()
  const response = newResponse()
  response.end = () => {
    throw new Error('of the middleware')
  }
  expect(() => turn.end(response, null)).toThrow('of the middleware')
})

it('has one turn for all requests until it is over, and then another one', async () => {
  const currentTurn = createResponseBatches()
  const first = currentTurn()
  expect(currentTurn()).toBe(first)
  await nextTurn()
  expect(currentTurn()).not.toBe(first)
})
