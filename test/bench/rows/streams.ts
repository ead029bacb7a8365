import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatTarget } from '../load/deliver.ts'
import { createFailure } from '../load/failure.ts'
import { openReaders, type Reader } from '../load/reader.ts'
import { connectionsMissing, processFiguresMissing, residentBytes } from '../machine.ts'
import { interleave, type Row } from '../row.ts'
import { nodeWriterTarget, startNodeWriter } from '../servers/peers.ts'
import { serviceTarget, startService } from '../servers/service.ts'

const STREAMS = 5000

/** Opened before the first look, so that code and buffers any stream needs are not charged to the 5,000. */
const WARM_UP_STREAMS = 100

/** Garbage of the openings is collected, or not, but no longer made. */
const SETTLE_MS = 2000

/** A round opens 10,000 connections and depends little on time: more rounds would show nothing more. */
const MAX_ROUNDS = 3

export const streamMemory: Row = {
  name: 'stream-memory',
  title: `resident memory per idle stream, ${STREAMS} open`,
  unit: 'KiB',
  peer: 'node:http',
  better: 'lower',
  reach: 1.4,
  beyond: 1.15,
  unavailable: () => processFiguresMissing() ?? connectionsMissing(STREAMS),
  measure: ({ rounds, command }) =>
    interleave(
      Math.min(rounds, MAX_ROUNDS),
      async () => {
        const service = await startService(command)
        return perStream(service.pid, serviceTarget(service)).finally(service.stop)
      },
      async () => {
        const writer = await startNodeWriter()
        return perStream(writer.pid, nodeWriterTarget(writer)).finally(writer.stop)
      },
    ),
}

async function perStream(pid: number, { port, steps }: Pick<ChatTarget, 'port' | 'steps'>): Promise<number> {
  const failure = createFailure()
  const on = { marker: () => failure.fail(new Error('an unknown post')), lost: failure.fail }
  const readers: Reader[] = []
  const open = async (count: number) => {
    readers.push(...(await failure.or(openReaders(port, steps, count, on))))
    await failure.or(sleep(SETTLE_MS))
    return residentBytes(pid)
  }
  try {
    const before = await open(WARM_UP_STREAMS)
    const after = await open(STREAMS)
    return (after - before) / STREAMS / 1024
  } finally {
    for (const { socket } of readers) socket.destroy()
  }
}
