import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { startFollowers } from './followers.ts'
import { settle } from './people.ts'

const WRITERS = 6
const READERS = 4

/**
 * Runs `work` while clients post, read and follow at an address. Fails if a request failed, or a stream missed, repeated
 * or reordered an event.
 */
export async function underLoad(
  base_url: string,
  work: (progress: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const { conversation_id, signIn, cookie } = await settle(base_url)
  const ada = await signIn()
  const position = async () => (await ada.conversations.get(conversation_id)).stream_position!
  const from = await position()
  const reading = { target: () => base_url, conversation_id, cookie: await cookie(), from, readers: READERS }
  const followers = startFollowers(reading)
  const acknowledged = new Set<string>()
  const failures: unknown[] = []
  let isOver = false
  // One after another: one account may have few waiting hashes.
  const writers = []
  while (writers.length < WRITERS) writers.push(await signIn())
  const writing = writers.map(async (writer) => {
    while (!isOver) {
      try {
        acknowledged.add((await writer.messages.postRoot(conversation_id, { content: 'hello' })).message_id)
        await writer.conversations.get(conversation_id)
      } catch (error) {
        failures.push(error)
      }
      await sleep(10)
    }
  })
  const progress = async () => {
    const before = acknowledged.size
    while (acknowledged.size < before + 5 * WRITERS && failures.length === 0) await sleep(10)
  }
  await work(progress)
  await progress()
  isOver = true
  await Promise.all(writing)
  expect(failures).toEqual([])

  const figures = await followers.finish(await position())
  expect(figures.faults).toEqual([])
  expect(figures.reconnects).toBeGreaterThan(0)
  const posted = [...figures.log.values()].filter((what) => acknowledged.has(what))
  expect(posted).toHaveLength(acknowledged.size)
}
