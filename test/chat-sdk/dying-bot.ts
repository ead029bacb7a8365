import { appendFileSync } from 'node:fs'
import type { ChatInstance, MemberJoinedChannelEvent } from 'chat'
import { createChatServerAdapter } from '../../lib/chat-sdk/index.ts'
import type { ChatClient } from '../../lib/client/index.ts'
import type { ReceiveStore } from '../../lib/receive/index.ts'
import { openStore } from '../receive/stores.ts'

/**
 * A bot that pulls three events, notes in a file what it is handed, and ends when there are no more. It is killed when the
 * event with this number was handed to it, or its id is stored.
 */
const [url, notes, moment, number] = process.argv.slice(2) as [string, string, string, string]

const EVENTS = ['1', '2', '3'].map((n) => {
  const data = { conversation_id: n, user_id: 'ada', action: 'added' }
  return { id: `evt_${n}`, type: 'membership.changed', timestamp: '', position: `1.${n}`, data }
})
const END = EVENTS.at(-1)!.position

function dieAt(when: 'handed' | 'stored', n: string): void {
  if (when === moment && n === number) process.kill(process.pid, 'SIGKILL')
}

const opened = await openStore(url)
const store: ReceiveStore<unknown> = {
  ...opened.store,
  async apply(unit) {
    const applied = await opened.store.apply(unit)
    for (const id of unit.ids) dieAt('stored', id.slice('evt_'.length))
    return applied
  },
}
const ending = new AbortController()
const client = {
  auth: { me: async () => ({ user: { id: 'me', username: 'helper' } }) },
  conversations: { get: async () => ({}) },
  feed: {
    async read({ after }: { after?: string }) {
      if (after === END) ending.abort()
      return { events: after === END ? [] : EVENTS, position: END }
    },
  },
} as unknown as ChatClient
const adapter = createChatServerAdapter({ client, store })
await adapter.initialize({
  getLogger: () => console,
  processMemberJoinedChannel({ channelId }: MemberJoinedChannelEvent) {
    const n = channelId.split(':')[1]!
    appendFileSync(notes, n)
    dieAt('handed', n)
  },
} as unknown as ChatInstance)
await adapter.pull({ signal: ending.signal })
await opened.close()
