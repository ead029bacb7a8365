import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { createStreamWrites } from '../../../lib/http/node/stream-writes.ts'

const open: (() => unknown)[] = []
afterEach(() => {
  for (const close of open.splice(0).reverse()) close()
})

/** Connections to a server that reads them: the end of each to write to, and what was read. */
async function connections(count: number): Promise<{ to: Socket; read: () => string }[]> {
  const received: string[] = []
  const server = createServer((socket) => {
    let index: number | undefined
    socket.setEncoding('utf8').on('data', (text: string) => {
      index ??= Number(text.slice(0, text.indexOf(' ')))
      received[index] = (received[index] ?? '') + text
    })
  }).listen(0, '127.0.0.1')
  open.push(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'))
  open.push(() => {
    for (const socket of sockets) socket.destroy()
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  return sockets.map((to, index) => ({ to, read: () => received[index] ?? '' }))
}

/** The number of requests so far, where one arrives in each turn. */
function newArrivals(): () => number {
  let arrivals = 0
  return () => arrivals++
}

const written = (all: { to: Socket }[]) => all.filter(({ to }) => to.bytesWritten > 0).length

/** Occupies the process, as requests do. */
function block(milliseconds: number): void {
  for (const until = performance.now() + milliseconds; performance.now() < until; );
}

it('writes nothing in the turn of a delivery, to some streams in each later one, and all to each in order', async () => {
  const writes = createStreamWrites(newArrivals())
  const all = await connections(100)
  const outputs = all.map(({ to }) => writes.open(to))
  for (const [index, output] of outputs.entries())
    for (const text of [`${index} one`, ' two', ' three']) output.write(Buffer.from(text))
  expect(written(all)).toBe(0)
  expect(outputs[0]!.pending()).toBe('0 one two three'.length)
  const counts: number[] = []
  for (let turn = 0; turn < 3; turn++) {
    await nextTurn()
    counts.push(written(all))
  }
  expect(counts[0]).toBeGreaterThanOrEqual(16)
  expect(counts.every((count, turn) => turn === 0 || count > counts[turn - 1]!)).toBe(true)
  await expect.poll(() => all.map(({ read }) => read())).toEqual(all.map((_, index) => `${index} one two three`))
  expect(outputs.map((output) => output.pending())).toEqual(all.map(() => 0))
})

it('writes to more and more of them while no request arrives', async () => {
  const writes = createStreamWrites(() => 0)
  const all = await connections(100)
  for (const [index, { to }] of all.entries()) writes.open(to).write(Buffer.from(`${index} text`))
  await nextTurn()
  expect(written(all)).toBeGreaterThanOrEqual(32)
  await nextTurn()
  expect(written(all)).toBeGreaterThanOrEqual(96)
  await nextTurn()
  expect(written(all)).toBe(100)
})

it('writes to more of them when requests make the turns long', async () => {
  const writes = createStreamWrites(newArrivals())
  const all = await connections(100)
  for (const [index, { to }] of all.entries()) writes.open(to).write(Buffer.from(`${index} text`))
  block(200)
  await nextTurn()
  expect(written(all)).toBe(100)
})

it('passes on what waits when the stream ends, and drops it when the connection is closed', async () => {
  const writes = createStreamWrites(newArrivals())
  const [ending, closed] = await connections(2)
  const [one, two] = [writes.open(ending!.to), writes.open(closed!.to)]
  one.write(Buffer.from('0 the end'))
  one.flush()
  expect(ending!.to.bytesWritten).toBe('0 the end'.length)
  two.write(Buffer.from('1 too late'))
  two.close()
  await nextTurn()
  await nextTurn()
  expect([closed!.to.bytesWritten, two.pending()]).toEqual([0, 0])
})

it('keeps no more than 64 KiB of a stream: what its client has not received is then known', async () => {
  const writes = createStreamWrites(newArrivals())
  const [stream] = await connections(1)
  const output = writes.open(stream!.to)
  const text = Buffer.from(`0 ${'x'.repeat(40_000)}`)
  output.write(text)
  expect(stream!.to.bytesWritten).toBe(0)
  output.write(text)
  expect(stream!.to.bytesWritten).toBe(2 * text.length)
})
