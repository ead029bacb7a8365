import { connect } from '@nats-io/transport-node'
import type { Bus } from 'chat-server'

/** A bus on a subject of NATS. It also starts while NATS is out of reach. */
export function createBus(servers: string, subject = 'chat-server'): Bus {
  const connecting = connect({ servers, noEcho: true, waitOnFirstConnect: true, maxReconnectAttempts: -1 })
  // Each call below reports the failure.
  connecting.catch(() => {})
  return {
    async publish(bytes) {
      const connection = await connecting
      connection.publish(subject, bytes)
      // While NATS is out of reach this waits, so that the service stops publishing.
      await connection.flush()
    },
    async subscribe(listener) {
      const connection = await connecting
      connection.subscribe(subject, { callback: (_, message) => listener(message.data) })
      await connection.flush()
    },
    close: async () => (await connecting).close(),
  }
}
