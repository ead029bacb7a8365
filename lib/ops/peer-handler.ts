import type { PeerHandler } from '../cluster/receiver.ts'
import type { Context } from '../context.ts'

/** What this process does with the news of others. */
export function createPeerHandler({ streams: { hub, poller, presence, users }, cluster }: Context): PeerHandler {
  return {
    countStreams: hub.size,
    unheardFor: () => Math.max(poller.age(), cluster.age()),
    async receive(events) {
      if (!hub.isListening()) return
      // The events of the log come first: an ephemeral event may refer to one of them. A poll in progress may be older.
      await poller.poll.current()
      await poller.poll()
      hub.receive(events)
      users.note(events)
    },
    reconsider: presence.reconsider,
    endStalled: ({ node_id, user_id }) => void (node_id === cluster.id && presence.endStalled(user_id)),
    meet: presence.renew,
    async renew() {
      await poller.lookAtAll()
      await presence.renew()
    },
  }
}
