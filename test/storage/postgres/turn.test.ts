import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { gatherTurn } from '../../../lib/storage/postgres/turn.ts'

/** A stream that notes the packets of a socket: each is what is written at once. */
function createSocket() {
  const packets: string[] = []
  const stream = new Writable({
    decodeStrings: false,
    write: (chunk, _encoding, done) => {
      packets.push(String(chunk))
      done()
    },
    writev: (chunks, done) => {
      packets.push(chunks.map(({ chunk }) => String(chunk)).join(' '))
      done()
    },
  })
  const send = (statement: string) => {
    gatherTurn({ connection: { stream } })
    // As pg does for each statement.
    stream.cork()
    stream.write(statement)
    stream.uncork()
  }
  return { packets, send }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

it('sends statements of one turn as one packet, also those that promises issue', async () => {
  const { packets, send } = createSocket()
  send('BEGIN')
  await Promise.resolve().then(() => send('SELECT 1'))
  for (let hop = 0; hop < 20; hop++) await undefined
  send('COMMIT')
  await turn()
  expect(packets).toEqual(['BEGIN SELECT 1 COMMIT'])
})

it('sends statements of later turns by themselves', async () => {
  const { packets, send } = createSocket()
  send('SELECT 1')
  await turn()
  expect(packets).toEqual(['SELECT 1'])
  send('SELECT 2')
  await turn()
  expect(packets).toEqual(['SELECT 1', 'SELECT 2'])
})
