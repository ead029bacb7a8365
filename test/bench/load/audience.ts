import { createFailure, type Failure } from './failure.ts'
import { openEach, type Reader, type Step } from './reader.ts'

/** Readers that stay open for one round, or for all rounds of a row. */
export interface Audience {
  /** The readers that get every post. */
  readers: Reader[]
  /** What to do with a post that one of them gets. */
  seen: (reader: Reader, seq: number) => void
  /** The first failure: a stream was lost, or a post arrived where it does not belong. */
  failure: Failure
  close(): void
}

/**
 * Opens a stream for each opening.
 *
 * @param others the openings of streams that must get no post at all
 */
export async function openAudience(port: number, openings: Step[][], others: Step[][] = []): Promise<Audience> {
  const failure = createFailure()
  const { fail, or } = failure
  const streams: Reader[] = []
  const audience: Audience = {
    readers: [],
    seen: (_, seq) => fail(new Error(`post ${seq} was never sent`)),
    failure,
    close() {
      for (const { socket } of streams) socket.destroy()
    },
  }
  const open = async (steps: Step[][], marker: Audience['seen']) => {
    const opened = await or(openEach(port, steps, { marker, lost: fail }))
    streams.push(...opened)
    return opened
  }
  try {
    audience.readers = await open(openings, (reader, seq) => audience.seen(reader, seq))
    await open(others, (_, seq) => fail(new Error(`post ${seq} reached a stream that it does not concern`)))
    return audience
  } catch (error) {
    audience.close()
    throw error
  }
}
