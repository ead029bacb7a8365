import type { Bus } from 'chat-server'
import { Redis } from 'iovalkey'

/** A bus on a channel of Valkey or Redis. It also starts while that is out of reach. */
export function createBus(url: string, channel = 'chat-server'): Bus {
  // A connection that subscribes cannot publish. Both connect again by themselves.
  const [publisher, subscriber] = [new Redis(url), new Redis(url)]
  // The service logs that a call failed; without a listener, the client prints each attempt.
  for (const client of [publisher, subscriber]) client.on('error', () => {})
  return {
    async publish(bytes) {
      await publisher.publish(channel, Buffer.from(bytes))
    },
    async subscribe(listener) {
      subscriber.removeAllListeners('messageBuffer').on('messageBuffer', (_, bytes: Buffer) => listener(bytes))
      await subscriber.subscribe(channel)
    },
    close() {
      publisher.disconnect()
      subscriber.disconnect()
    },
  }
}
