import { describe, expect, it, onTestFinished } from 'vitest'
import { createPublishing } from '../../../lib/chat/presence/publishing.ts'

type Status = 'online' | 'away' | 'offline'

/** Publishes the given status of users; returns what other processes are told of. */
function start() {
  const statuses = new Map<string, { status: Status; is_here: boolean }>()
  const announced: string[] = []
  let failures = 0
  const publishing = createPublishing({
    hub: { publishAbout() {} } as never,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    audience: { findAll: async () => new Map() } as never,
    async find(userIds) {
      if (failures-- > 0) throw new Error('The database does not respond')
      return new Map(
        userIds.map((id) => {
          const { status, is_here } = statuses.get(id)!
          return [id, { presence: { status }, is_here }]
        }),
      )
    },
    store: async () => [],
    announce: (userIds) => void announced.push(...userIds),
  })
  onTestFinished(() => publishing.close())
  const become = (userId: string, status: Status, is_here = false) => void statuses.set(userId, { status, is_here })
  return {
    become,
    async hear(userId: string, status: Status, is_here = false): Promise<string[]> {
      become(userId, status, is_here)
      publishing.add(userId)
      await publishing.flush()
      return announced.splice(0)
    },
    async sweep(): Promise<string[]> {
      publishing.expire()
      await publishing.flush()
      return announced.splice(0)
    },
    failOnce(): void {
      failures = 1
    },
  }
}

describe('a status that ends without an event', () => {
  it('is announced by the process that notices it first', async () => {
    const { hear, become, sweep } = start()
    expect(await hear('ada', 'away')).toEqual([])
    await hear('grace', 'online')
    await hear('eve', 'online', true)
    become('ada', 'offline')
    become('eve', 'offline')
    expect(await sweep()).toEqual(['ada'])
    expect(await sweep()).toEqual([])
  })

  it('is not announced again by a process that has heard of it', async () => {
    const { hear, sweep } = start()
    await hear('ada', 'away')
    expect(await hear('ada', 'offline')).toEqual([])
    expect(await sweep()).toEqual([])
  })

  it('is announced after a failure of the database', async () => {
    const { hear, become, sweep, failOnce } = start()
    await hear('ada', 'away')
    become('ada', 'offline')
    failOnce()
    expect(await sweep()).toEqual([])
    expect(await sweep()).toEqual(['ada'])
  })
})
